/* The yardstick in a probe's rounds: what is recorded, and what disturbed samples of it still tell. */
#include "measure_fixture.h"

#include "probes/kit/yardstick.h"

enum { ROUNDS = 12, CALLS = 5 };

/* 0.25 ns an addition; the call and the clock add a thousandth to the shorter batch. */
#define TRUTH_NS 0.25
#define ONCE_NS (TRUTH_NS * 1.001)
#define TWICE_NS (TRUTH_NS * 1.0005)

static void put_call(fixture *made, size_t round, size_t call, double twice, double once) {
    put_sample(made, "p.yardstick", "p", (double)call, round, twice);
    put_sample(made, "p.yardstick.once", "p", (double)call, round, once);
}

static bj_yardstick find(const fixture *made) {
    bj_yardstick yardstick;
    assert_true(bj_kit_find_yardstick(&made->samples, "p", &yardstick));
    return yardstick;
}

static bool is_near(double value, double truth) {
    return fabs(value / truth - 1) < 1e-6;
}

static void test_what_does_not_grow_cancels(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t call = 1; call <= CALLS; call++)
            put_call(&made, round, call, TWICE_NS, ONCE_NS);
    bj_yardstick yardstick = find(&made);
    assert_true(is_near(bj_kit_read_yardstick(&yardstick, NULL, ROUNDS), TRUTH_NS));
    close_fixture(&made);
}

/* Either length meets a disturbance in most calls, by up to four times; least of differences would be negative. */
static void test_disturbance_does_not_make_it_shorter(void **state) {
    (void)state;
    fixture made;
    bj_random random;
    double least_difference = INFINITY;
    open_fixture(&made);
    bj_random_seed(&random, 1);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t call = 1; call <= CALLS; call++) {
            double twice = TWICE_NS * (bj_random_unit(&random) < 0.7 ? 1 + 3 * bj_random_unit(&random) : 1);
            double once = ONCE_NS * (bj_random_unit(&random) < 0.7 ? 1 + 3 * bj_random_unit(&random) : 1);
            least_difference = fmin(least_difference, 2 * twice - once);
            put_call(&made, round, call, twice, once);
        }
    bj_yardstick yardstick = find(&made);
    assert_true(least_difference < 0);
    assert_true(is_near(bj_kit_read_yardstick(&yardstick, NULL, ROUNDS), TRUTH_NS));
    close_fixture(&made);
}

/* Of rounds at two clocks, the ones that are asked for count; those that lack it do not. */
static void test_rounds_are_chosen(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (size_t round = 0; round < ROUNDS; round++)
        put_call(&made, round, 1, (round % 2 + 1) * TWICE_NS, (round % 2 + 1) * ONCE_NS);
    bj_yardstick yardstick = find(&made);
    const size_t slow[] = {1, 3, 3, 5}, fast[] = {0, 1}, missing[] = {ROUNDS};
    assert_true(is_near(bj_kit_read_yardstick(&yardstick, slow, 4), 2 * TRUTH_NS));
    assert_true(is_near(bj_kit_read_yardstick(&yardstick, fast, 2), TRUTH_NS));
    assert_true(isnan(bj_kit_read_yardstick(&yardstick, missing, 1)));
    assert_true(isnan(bj_kit_read_yardstick(&yardstick, fast, 0)));
    close_fixture(&made);
}

/* Every batch of one length was disturbed. Twice the work cannot be dearer a step: the lesser is nearer the truth. A
 * shorter length that cost twice as much leaves nothing. */
static void test_one_length_disturbed_throughout(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_call(&made, 0, 1, 1.1 * TWICE_NS, ONCE_NS);
    bj_yardstick yardstick = find(&made);
    assert_true(is_near(bj_kit_read_yardstick(&yardstick, NULL, 1), ONCE_NS));
    put_call(&made, 1, 1, TWICE_NS, 2.1 * ONCE_NS);
    yardstick = find(&made);
    assert_true(isnan(bj_kit_read_yardstick(&yardstick, (const size_t[]){1}, 1)));
    close_fixture(&made);
}

static void test_calls_count_within_a_round(void **state) {
    (void)state;
    measuring m;
    bj_rounds rounds;
    bj_error error = {""};
    bj_yardstick yardstick;
    open_measuring(&m, small_machine, TESTED_MIB);
    bj_kit_open_rounds(&rounds, &m.request, "p", &m.made.samples, 1);
    assert_false(bj_kit_find_yardstick(&m.made.samples, "p", &yardstick));
    for (rounds.round = 0; rounds.round < 2; rounds.round++)
        for (size_t call = 0; call <= rounds.round; call++)
            assert_int_equal(bj_kit_time_yardstick(&rounds, &error), BJ_OK);
    yardstick = find(&m.made);
    const bj_curve *curves[] = {yardstick.twice, yardstick.once};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(curves[i]->round_count, 2);
        assert_int_equal(curves[i]->x_count, 2);
        assert_string_equal(curves[i]->probe, "p");
        assert_true(curves[i]->rounds[0][0] == 0.5 && isnan(curves[i]->rounds[0][1]));
        assert_true(curves[i]->rounds[1][0] == 0.5 && curves[i]->rounds[1][1] == 0.5);
    }
    assert_true(bj_kit_read_yardstick(&yardstick, NULL, 2) == 0.5);
    bj_kit_close_rounds(&rounds);
    close_measuring(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_does_not_grow_cancels), cmocka_unit_test(test_disturbance_does_not_make_it_shorter),
        cmocka_unit_test(test_rounds_are_chosen),          cmocka_unit_test(test_one_length_disturbed_throughout),
        cmocka_unit_test(test_calls_count_within_a_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
