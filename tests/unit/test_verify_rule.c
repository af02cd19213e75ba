/* The rule of `verify`: what the baseline's rounds tell, when a judgement decides, and how often it decides wrongly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "verify/verify_rule.h"

enum { ROUNDS = 15 };

static const unsigned one_spell[64] = {0};

/* Rounds of a thousandth's scatter around zero. */
static bj_verify_norm make_norm(void) {
    double values[ROUNDS];
    bj_verify_norm norm;
    for (int i = 0; i < ROUNDS; i++)
        values[i] = 0.001 * (i - ROUNDS / 2) / 4.0;
    assert_true(bj_verify_describe(values, one_spell, ROUNDS, 0.1, &norm));
    return norm;
}

static void test_describe(void **state) {
    (void)state;
    bj_verify_norm norm = make_norm();
    assert_true(fabs(norm.centre) < 1e-12);
    assert_true(norm.spread > 0.0005 && norm.spread < 0.002);
    assert_true(norm.allowance == 0.1);
    double few[5] = {0};
    assert_false(bj_verify_describe(few, one_spell, 5, 0.1, &norm)); /* no interval from so few */
}

/* One round in fifteen that was disturbed says little of the others. */
static void test_outlier(void **state) {
    (void)state;
    double values[ROUNDS];
    bj_verify_norm norm;
    for (int i = 0; i < ROUNDS; i++)
        values[i] = i == 7 ? 0.7 : 0.001 * (i - ROUNDS / 2) / 4.0;
    assert_true(bj_verify_describe(values, one_spell, ROUNDS, 0.1, &norm));
    assert_true(norm.spread < 0.003);
}

/* What the machine did for a whole spell of the baseline it may do again; what it did for one round it may not. */
static void test_spell(void **state) {
    (void)state;
    double values[9] = {0, 0, 0, 0, 0, 0, 0.06, 0.06, 0.06}, same[9];
    unsigned spells[9] = {0, 0, 0, 0, 0, 0, 1, 1, 1};
    bj_verify_norm norm;
    memcpy(same, values, sizeof same);
    assert_true(bj_verify_describe(same, spells, 9, 0.1, &norm));
    assert_true(fabs(norm.allowance - 0.16) < 1e-12);
    memcpy(same, values, sizeof same);
    spells[6] = spells[7] = 0; /* a spell of one round */
    assert_true(bj_verify_describe(same, spells, 9, 0.1, &norm));
    assert_true(norm.allowance == 0.1);
}

/* Every third round is disturbed: of three in a row none decides, and the baseline's triples tell so. */
static void test_triples(void **state) {
    (void)state;
    double values[30];
    bj_verify_norm norm;
    for (int i = 0; i < 30; i++)
        values[i] = (i % 3 == 1 ? 0.4 : 0) + 0.0005 * (i % 4);
    assert_true(bj_verify_describe(values, one_spell, 30, 0.1, &norm));
    assert_int_equal(norm.members, 10);
    assert_true(norm.spread < 0.001);
}

static void test_judgements(void **state) {
    (void)state;
    bj_verify_norm norm = make_norm();
    const double worse[] = {0.3, 0.3, 0.3, 0.3}, lone[] = {0.3, 0.3, 0.0}, between[] = {0.103, 0.103, 0.103};
    assert_int_equal(bj_verify_judge(&norm, worse, 2, 10), BJ_VERIFY_UNMEASURED);
    assert_int_equal(bj_verify_judge(&norm, worse, 3, 10), BJ_VERIFY_BEYOND);
    assert_int_equal(bj_verify_judge(&norm, lone, 3, 10), BJ_VERIFY_SAME);
    assert_int_equal(bj_verify_judge(&norm, between, 3, 10), BJ_VERIFY_UNSURE);
    double better[] = {-1, -1, -1};
    assert_int_equal(bj_verify_judge(&norm, better, 3, 10), BJ_VERIFY_SAME);
    /* Each judgement and each number more wants more. */
    for (size_t rounds = 4; rounds <= BJ_VERIFY_ROUNDS_MOST; rounds++)
        assert_true(bj_verify_find_limit(&norm, rounds, 10) > bj_verify_find_limit(&norm, rounds - 1, 10));
    assert_true(bj_verify_find_limit(&norm, 3, 20) > bj_verify_find_limit(&norm, 3, 10));
}

/* Beyond its limit is worse only by rounds that came after. */
static void test_confirmation(void **state) {
    (void)state;
    const double stays[] = {0.3, 0.3, 0.3, 0.3, 0.3}, passes[] = {0.3, 0.3, 0.3, 0.0, 0.3};
    assert_int_equal(bj_verify_confirm(stays, 3, 3, 0.2, false), BJ_VERIFY_BEYOND);
    assert_int_equal(bj_verify_confirm(stays, 3, 3, 0.2, true), BJ_VERIFY_UNSURE);
    assert_int_equal(bj_verify_confirm(stays, 4, 3, 0.2, false), BJ_VERIFY_BEYOND);
    assert_int_equal(bj_verify_confirm(stays, 4, 3, 0.2, true), BJ_VERIFY_WORSE);
    assert_int_equal(bj_verify_confirm(passes, 4, 3, 0.2, false), BJ_VERIFY_UNSURE);
    assert_int_equal(bj_verify_confirm(passes, 5, 3, 0.2, true), BJ_VERIFY_UNSURE);
}

static void test_quartile(void **state) {
    (void)state;
    const double values[] = {5, 1, 4, 2, 3, 9, 8, 7, 6};
    assert_true(bj_verify_find_quartile(values, 3) == 1);
    assert_true(bj_verify_find_quartile(values, 5) == 2);
    assert_true(bj_verify_find_quartile(values, 9) == 3);
}

static void draw(bj_random *random, double *values, size_t count, double shared) {
    for (size_t i = 0; i < count; i++)
        values[i] = shared + bj_random_normal(random);
}

static double find_tail(double distance) {
    return 0.5 * erfc(distance * M_SQRT1_2);
}

/* Chance that the first judgement alarms, with no allowance at all, in the mean over baselines of normal rounds. Held
 * against rounds, the new run is one that moved as a whole by as much as a single round does; held against triples, it
 * is the least of three. This is where the design must hold. */
static double find_chance(bj_random *random, size_t baseline_rounds, size_t numbers) {
    enum { DRAWS = 20000 };
    double values[64], spreads[64] = {0}, sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        bj_verify_norm norm;
        draw(random, values, baseline_rounds, 0);
        assert_true(bj_verify_describe(values, one_spell, baseline_rounds, 0, &norm));
        /* Of these members: how many spreads the limit is from the centre. */
        bj_verify_norm unit = {.spread = 1, .members = norm.members, .choices = norm.choices};
        if (spreads[unit.members] == 0)
            spreads[unit.members] = bj_verify_find_limit(&unit, BJ_VERIFY_ROUNDS_LEAST, numbers);
        double tail = find_tail(norm.centre + spreads[unit.members] * norm.spread);
        sum += norm.members == baseline_rounds ? tail : tail * tail * tail;
    }
    return sum / DRAWS;
}

/* The first judgement has half of a number's share of the chance. */
static void test_false_alarms(void **state) {
    static const size_t rounds[] = {6, 9, 12, 15, 23, 30}, numbers[] = {1, 10};
    bj_random random;
    (void)state;
    bj_random_seed(&random, 7);
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            double designed = BJ_VERIFY_FALSE_ALARM / (double)numbers[n] / 2;
            double chance = find_chance(&random, rounds[i], numbers[n]);
            if (chance > 1.5 * designed || chance < 0.2 * designed)
                fail_msg("%zu rounds, %zu numbers: %.3g, designed %.3g", rounds[i], numbers[n], chance, designed);
        }
}

/* Whole runs, judgement after judgement until the last round, of rounds that scatter each by itself and heavily: one in
 * twenty is disturbed. */
static void test_whole_runs(void **state) {
    enum { RUNS = 4000 };
    bj_random random;
    size_t alarms = 0;
    (void)state;
    bj_random_seed(&random, 11);
    for (int run = 0; run < RUNS; run++) {
        double values[BJ_VERIFY_ROUNDS_MOST];
        bj_verify_norm norm;
        draw(&random, values, ROUNDS, 0);
        assert_true(bj_verify_describe(values, one_spell, ROUNDS, 0, &norm));
        draw(&random, values, BJ_VERIFY_ROUNDS_MOST, 0);
        for (size_t i = 0; i < BJ_VERIFY_ROUNDS_MOST; i++)
            values[i] += bj_random_unit(&random) < 0.05 ? 10 : 0;
        for (size_t count = BJ_VERIFY_ROUNDS_LEAST; count <= BJ_VERIFY_ROUNDS_MOST; count++)
            if (bj_verify_judge(&norm, values, count, 1) == BJ_VERIFY_BEYOND) {
                alarms++;
                break;
            }
    }
    if ((double)alarms > BJ_VERIFY_FALSE_ALARM * RUNS)
        fail_msg("%zu alarms in %d runs", alarms, RUNS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),     cmocka_unit_test(test_outlier),    cmocka_unit_test(test_spell),
        cmocka_unit_test(test_judgements),   cmocka_unit_test(test_triples),    cmocka_unit_test(test_quartile),
        cmocka_unit_test(test_false_alarms), cmocka_unit_test(test_whole_runs), cmocka_unit_test(test_confirmation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
