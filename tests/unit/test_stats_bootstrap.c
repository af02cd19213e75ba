#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"

typedef struct {
    const double *values;
    size_t calls, count;
} rounds;

static double mean_statistic(void *context, const size_t *round_index, size_t round_count) {
    rounds *of = context;
    of->calls++;
    double sum = 0;
    for (size_t i = 0; i < round_count; i++) {
        assert_true(round_index[i] < of->count);
        sum += of->values[round_index[i]];
    }
    return sum / (double)round_count;
}

static double nan_without_first_round(void *context, const size_t *round_index, size_t round_count) {
    (void)context;
    for (size_t i = 0; i < round_count; i++)
        if (round_index[i] == 0)
            return 1;
    return NAN;
}

static double always_nan(void *context, const size_t *round_index, size_t round_count) {
    (void)context, (void)round_index, (void)round_count;
    return NAN;
}

static void test_same_seed_same_replicates(void **state) {
    (void)state;
    const double values[] = {1, 2, 4, 8, 16, 32, 64};
    rounds of = {values, 0, 7};
    bj_bootstrap a, b, c;
    assert_int_equal(bj_stats_bootstrap_rounds(7, 500, 1, mean_statistic, &of, &a, NULL), BJ_OK);
    assert_int_equal(of.calls, 500);
    assert_int_equal(bj_stats_bootstrap_rounds(7, 500, 1, mean_statistic, &of, &b, NULL), BJ_OK);
    assert_int_equal(bj_stats_bootstrap_rounds(7, 500, 2, mean_statistic, &of, &c, NULL), BJ_OK);
    assert_int_equal(a.replicate_count, 500);
    assert_memory_equal(a.replicates, b.replicates, 500 * sizeof(double));
    assert_true(memcmp(a.replicates, c.replicates, 500 * sizeof(double)) != 0);
    for (size_t i = 1; i < 500; i++)
        assert_true(a.replicates[i - 1] <= a.replicates[i]);
    assert_true(a.low < 127.0 / 7 && a.high > 127.0 / 7);
    bj_stats_free_bootstrap(&a);
    bj_stats_free_bootstrap(&b);
    bj_stats_free_bootstrap(&c);
}

static void test_equal_rounds_have_no_width(void **state) {
    (void)state;
    const double values[] = {5, 5, 5, 5, 5, 5, 5, 5};
    rounds of = {values, 0, 8};
    bj_bootstrap result;
    assert_int_equal(bj_stats_bootstrap_rounds(8, 100, 1, mean_statistic, &of, &result, NULL), BJ_OK);
    assert_true(result.low == 5 && result.high == 5);
    bj_stats_free_bootstrap(&result);
}

static void test_resamples_without_an_answer(void **state) {
    (void)state;
    bj_bootstrap result;
    assert_int_equal(bj_stats_bootstrap_rounds(6, 4000, 1, nan_without_first_round, NULL, &result, NULL), BJ_OK);
    /* (5 / 6)^6 = 0.335 of the resamples miss round 0. */
    assert_true(fabs((double)result.replicate_count / 4000 - 0.665) < 0.03);
    assert_true(result.low == 1 && result.high == 1);
    bj_stats_free_bootstrap(&result);
    assert_int_equal(bj_stats_bootstrap_rounds(6, 10, 1, always_nan, NULL, &result, NULL), BJ_OK);
    assert_true(result.replicate_count == 0 && isnan(result.low) && isnan(result.high));
    bj_stats_free_bootstrap(&result);
}

static void test_few_rounds(void **state) {
    (void)state;
    const double values[] = {3, 9};
    rounds of = {values, 0, 2};
    bj_bootstrap result;
    assert_int_equal(bj_stats_bootstrap_rounds(0, 100, 1, mean_statistic, &of, &result, NULL), BJ_OK);
    assert_true(of.calls == 0 && isnan(result.low) && result.replicate_count == 0);
    assert_int_equal(bj_stats_bootstrap_rounds(2, 0, 1, mean_statistic, &of, &result, NULL), BJ_OK);
    assert_true(of.calls == 0 && isnan(result.low));
    of.count = 1;
    assert_int_equal(bj_stats_bootstrap_rounds(1, 100, 1, mean_statistic, &of, &result, NULL), BJ_OK);
    assert_true(isnan(result.low) && isnan(result.high) && result.replicates[0] == 3);
    bj_stats_free_bootstrap(&result);
    of.count = 2;
    assert_int_equal(bj_stats_bootstrap_rounds(2, 100, 1, mean_statistic, &of, &result, NULL), BJ_OK);
    assert_true(result.low == 3 && result.high == 9);
    bj_stats_free_bootstrap(&result);
}

static void test_percentile_is_moved_out(void **state) {
    (void)state;
    assert_true(bj_stats_expand_percentile(5) == 0);
    /* Phi(-sqrt(10 / 9) * 2.2622) and Phi(-sqrt(12 / 11) * 2.2010): to either side of the end of the table. */
    assert_true(fabs(bj_stats_expand_percentile(10) - 0.00855) < 1e-4);
    assert_true(fabs(bj_stats_expand_percentile(12) - 0.01076) < 1e-4);
    assert_true(fabs(bj_stats_expand_percentile(100000) - 0.025) < 1e-4);
}

/* The share of intervals that hold the true mean 0 of normal rounds; 500 trials have a standard error of 1%. */
static double measure_coverage(size_t round_count, uint64_t seed) {
    bj_random random;
    bj_random_seed(&random, seed);
    size_t covered = 0;
    for (size_t trial = 0; trial < 500; trial++) {
        double values[40];
        for (size_t i = 0; i < round_count; i++)
            values[i] = bj_random_normal(&random);
        rounds of = {values, 0, round_count};
        bj_bootstrap result;
        assert_int_equal(
            bj_stats_bootstrap_rounds(round_count, 400, bj_random_next(&random), mean_statistic, &of, &result, NULL),
            BJ_OK);
        covered += result.low <= 0 && result.high >= 0;
        bj_stats_free_bootstrap(&result);
    }
    return (double)covered / 500;
}

static void test_interval_covers_the_mean_as_often_as_promised(void **state) {
    (void)state;
    const size_t round_counts[] = {6, 8, 12, 30};
    for (size_t i = 0; i < 4; i++) {
        double coverage = measure_coverage(round_counts[i], i);
        assert_true(coverage >= 0.92 && coverage <= 0.985);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_seed_same_replicates),
        cmocka_unit_test(test_equal_rounds_have_no_width),
        cmocka_unit_test(test_resamples_without_an_answer),
        cmocka_unit_test(test_few_rounds),
        cmocka_unit_test(test_percentile_is_moved_out),
        cmocka_unit_test(test_interval_covers_the_mean_as_often_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
