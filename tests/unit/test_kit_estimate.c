/* Answers from rounds: the one rule of confidence, and what it is made of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "probes/kit/estimate.h"

static bj_error error;

static bj_estimate estimate(const double *values, size_t count, double tolerance) {
    bj_estimate found;
    assert_int_equal(bj_kit_estimate_values(values, count, 0.5, tolerance, 1, &found, &error), BJ_OK);
    return found;
}

static void rounds_that_agree_earn_high(void **state) {
    (void)state;
    const double values[] = {100, 100.1, 99.9, 100, 100.2, 99.8, 100};
    bj_estimate found = estimate(values, 7, 0.01);
    assert_true(found.value == 100 && found.interval[0] <= 100 && found.interval[1] >= 100);
    assert_true(found.support == 1);
    assert_int_equal(bj_kit_judge(&found, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_HIGH);
    /* What the probe knows besides can only lower that. */
    assert_int_equal(bj_kit_judge(&found, BJ_CONFIDENCE_MEDIUM), BJ_CONFIDENCE_MEDIUM);
    assert_true(found.single[BJ_SINGLE_LEAST] == 99.8 && found.single[BJ_SINGLE_GREATEST] == 100.2);
    assert_true(found.single[BJ_SINGLE_LOW] > 99.8 && found.single[BJ_SINGLE_HIGH] < 100.2);
}

static void few_rounds_are_low(void **state) {
    (void)state;
    const double values[] = {100, 100, 100, 100, 100};
    bj_estimate found = estimate(values, 5, 0.01);
    assert_true(found.support == 1);
    assert_int_equal(bj_kit_judge(&found, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_LOW);
    bj_estimate none = estimate(values, 0, 0.01);
    assert_true(isnan(none.value) && none.support == 0);
}

static void rounds_that_differ_are_low(void **state) {
    (void)state;
    const double values[] = {100, 130, 100, 130, 160, 100, 130, 160};
    bj_estimate found = estimate(values, 8, 0.01);
    assert_true(found.support < BJ_SUPPORT_MEDIUM);
    assert_int_equal(bj_kit_judge(&found, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_LOW);
    assert_true(found.interval[0] == 100 && found.interval[1] == 160);
}

static void no_high_beside_a_wide_interval(void **state) {
    (void)state;
    bj_estimate found = {.value = 100, .interval = {99, 101}, .support = 1, .tolerance = 0.02, .rounds = 10};
    assert_int_equal(bj_kit_judge(&found, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_HIGH);
    bj_kit_widen(&found, 0.03, 0.03);
    assert_true(found.interval[0] < 97 && found.interval[1] > 104);
    assert_int_equal(bj_kit_judge(&found, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_MEDIUM);
    /* Of a number that must be the same, any width is too wide. */
    bj_estimate whole = {.value = 8, .interval = {8, 8}, .support = 1, .rounds = 10};
    assert_int_equal(bj_kit_judge(&whole, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_HIGH);
    whole.interval[1] = 9;
    assert_int_equal(bj_kit_judge(&whole, BJ_CONFIDENCE_HIGH), BJ_CONFIDENCE_MEDIUM);
}

static void support_at_its_borders(void **state) {
    (void)state;
    assert_int_equal(bj_kit_judge_support(0.99), BJ_CONFIDENCE_HIGH);
    assert_int_equal(bj_kit_judge_support(0.989), BJ_CONFIDENCE_MEDIUM);
    assert_int_equal(bj_kit_judge_support(0.9), BJ_CONFIDENCE_MEDIUM);
    assert_int_equal(bj_kit_judge_support(0.899), BJ_CONFIDENCE_LOW);
}

static double take_mean(void *context, const size_t *index, size_t count) {
    const double *values = context;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[index[i]];
    return sum / (double)count;
}

static void whole_numbers_agree_when_rounded(void **state) {
    (void)state;
    double near[] = {8.1, 7.9, 8.2, 7.8, 8.1, 7.9, 8, 8}, between[] = {8.4, 8.6, 8.3, 8.7, 8.4, 8.6, 8.5, 8.5};
    bj_estimate found;
    bj_estimate_request request = {.rounds = 8, .seed = 1, .whole = true, .statistic = take_mean, .context = near};
    assert_int_equal(bj_kit_estimate(&request, &found, &error), BJ_OK);
    assert_true(found.support == 1);
    request.context = between;
    assert_int_equal(bj_kit_estimate(&request, &found, &error), BJ_OK);
    assert_true(found.support > 0.2 && found.support < 0.8);
}

static void large_tables_get_fewer_resamples(void **state) {
    (void)state;
    assert_int_equal(bj_kit_afford_resamples(0), BJ_KIT_RESAMPLES);
    assert_int_equal(bj_kit_afford_resamples(40000), BJ_KIT_RESAMPLES);
    assert_in_range(bj_kit_afford_resamples(100000), 190, 200);
    assert_int_equal(bj_kit_afford_resamples(SIZE_MAX / 2), 20);
}

/* NaN from a resample is no agreement. */
static double answer_seldom(void *context, const size_t *index, size_t count) {
    (void)context;
    return count == 8 && index[0] % 2 == 0 ? 5 : NAN;
}

static void resamples_without_an_answer_do_not_agree(void **state) {
    (void)state;
    bj_estimate found;
    bj_estimate_request request = {.rounds = 8, .seed = 1, .statistic = answer_seldom};
    assert_int_equal(bj_kit_estimate(&request, &found, &error), BJ_OK);
    assert_true(found.value == 5 && found.support > 0.4 && found.support < 0.6);
    assert_true(isnan(found.single[BJ_SINGLE_LEAST]));
}

static void points_without_samples(void **state) {
    (void)state;
    bj_curves curves = {0};
    bj_curve *curve;
    bj_estimate found;
    assert_int_equal(bj_data_add_curve(&curves, "c", "p", &curve, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 1, 2, 7, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 2, 1, 9, &error), BJ_OK);
    assert_int_equal(bj_kit_estimate_point(curve, 0, 0.5, 0, 1, &found, &error), BJ_OK);
    assert_true(found.value == 7 && found.rounds == 1);
    /* The rounds that have the point are its rounds. */
    assert_int_equal(bj_kit_estimate_point(curve, 1, 0.5, 0, 1, &found, &error), BJ_OK);
    assert_true(found.value == 9 && found.rounds == 1);
    curve->rounds[1][1] = NAN;
    assert_int_equal(bj_kit_estimate_point(curve, 1, 0.5, 0, 1, &found, &error), BJ_OK);
    assert_true(isnan(found.value));
    bj_data_free_curves(&curves);
}

/* Each round says one thing, a quantile of its points; a round without any says nothing. */
static void rounds_speak_for_themselves(void **state) {
    (void)state;
    static const double rounds[4][3] = {{5, 3, 4}, {NAN, 6, 8}, {NAN, NAN, NAN}, {9, 1, 2}};
    bj_curves curves = {0};
    bj_curve *curve;
    bj_estimate found;
    assert_int_equal(bj_data_add_curve(&curves, "c", "p", &curve, &error), BJ_OK);
    for (size_t r = 0; r < 4; r++)
        for (size_t i = 0; i < 3; i++)
            if (!isnan(rounds[r][i]))
                assert_int_equal(bj_data_record_sample(curve, (double)i, r, rounds[r][i], &error), BJ_OK);
    assert_int_equal(bj_kit_estimate_rounds(curve, 0, 0.5, 0, 1, &found, &error), BJ_OK);
    assert_true(found.value == 3 && found.rounds == 3);
    assert_true(found.single[BJ_SINGLE_LEAST] == 1 && found.single[BJ_SINGLE_GREATEST] == 6);
    assert_int_equal(bj_kit_estimate_rounds(curve, 1, 1, 0, 1, &found, &error), BJ_OK);
    assert_true(found.value == 9);
    bj_data_free_curves(&curves);
}

static void answers_are_filled_refused_and_called_unstable(void **state) {
    (void)state;
    bj_answers answers = {0};
    bj_answer *answer;
    const bj_estimate found = {.value = 4, .interval = {4, 4}, .support = 1, .rounds = 8};
    assert_int_equal(bj_kit_put_answer(&answers, "ways", &answer, &error, "cache.L%d.%s", 2, "associativity"), BJ_OK);
    bj_kit_fill_answer(answer, &found, BJ_CONFIDENCE_HIGH);
    assert_true(bj_kit_find_number(&answers, "cache.L%d.associativity", 2) == 4);
    assert_true(isnan(bj_kit_find_number(&answers, "cache.L%d.associativity", 3)));
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_HIGH);
    bj_kit_call_unstable(answer, "from %d to %d", 3, 5);
    assert_int_equal(answer->status, BJ_ANSWER_UNSTABLE);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_MEDIUM);
    assert_string_equal(answer->reason, "from 3 to 5");
    bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no step up to %s", "here");
    assert_int_equal(answer->status, BJ_ANSWER_UNDETERMINED);
    assert_string_equal(answer->reason, "no step up to here");
    /* A key that is too long is refused, not cut off. */
    assert_int_equal(bj_kit_put_answer(&answers, "ways", &answer, &error, "%080d", 1), BJ_ERR_FAILED);
    bj_data_free_answers(&answers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_that_agree_earn_high),
        cmocka_unit_test(few_rounds_are_low),
        cmocka_unit_test(rounds_that_differ_are_low),
        cmocka_unit_test(no_high_beside_a_wide_interval),
        cmocka_unit_test(support_at_its_borders),
        cmocka_unit_test(resamples_without_an_answer_do_not_agree),
        cmocka_unit_test(whole_numbers_agree_when_rounded),
        cmocka_unit_test(large_tables_get_fewer_resamples),
        cmocka_unit_test(points_without_samples),
        cmocka_unit_test(rounds_speak_for_themselves),
        cmocka_unit_test(answers_are_filled_refused_and_called_unstable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
