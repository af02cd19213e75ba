#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "stats/quantile.h"

static void assert_near(double value, double expected, double tolerance) {
    assert_true(fabs(value - expected) <= tolerance);
}

static void test_known_quantiles(void **state) {
    (void)state;
    double y[] = {4, 1, 3, 2};
    assert_near(bj_stats_quantile(y, 4, 0), 1, 0);
    assert_near(bj_stats_quantile(y, 4, 1), 4, 0);
    assert_near(bj_stats_quantile(y, 4, 0.5), 2.5, 1e-15);
    assert_near(bj_stats_quantile(y, 4, 0.25), 1.75, 1e-15);
    assert_near(bj_stats_quantile(y, 4, -3), 1, 0);
    assert_near(bj_stats_quantile(y, 4, 3), 4, 0);
    assert_near(bj_stats_median(y, 3), 2, 0);
    double low[] = {30, 10, 20, 50, 40, 60, 70, 80, 90, 100, 110};
    assert_near(bj_stats_low_quantile(low, 11), 20, 1e-12);
}

static void test_nan_is_no_sample(void **state) {
    (void)state;
    double y[] = {NAN, 5, -NAN, 1, 3};
    assert_int_equal(bj_stats_sort_samples(y, 5), 3);
    assert_true(y[0] == 1 && y[1] == 3 && y[2] == 5 && isnan(y[3]) && isnan(y[4]));
    assert_near(bj_stats_median(y, 5), 3, 0);
    double none[] = {NAN, NAN};
    assert_true(isnan(bj_stats_median(none, 2)));
    assert_true(isnan(bj_stats_median(NULL, 0)));
    assert_true(isnan(bj_stats_estimate_sigma(NULL, 0)));
}

static void test_infinite_samples(void **state) {
    (void)state;
    double y[] = {1, INFINITY, 2};
    assert_near(bj_stats_median(y, 3), 2, 0);
    double both[] = {INFINITY, INFINITY, 1};
    assert_true(isinf(bj_stats_median(both, 3)));
}

static void test_one_and_two_samples(void **state) {
    (void)state;
    double one[] = {7};
    assert_near(bj_stats_quantile(one, 1, 0.9), 7, 0);
    double two[] = {8, 6};
    assert_near(bj_stats_median(two, 2), 7, 0);
    assert_near(bj_stats_estimate_sigma(one, 1), 0, 0);
}

static void test_sigma_of_known_samples(void **state) {
    (void)state;
    double y[] = {1, 1, 2, 2, 4, 6, 9}; /* median 2, deviations 1 1 0 0 2 4 7: median 1 */
    assert_near(bj_stats_estimate_sigma(y, 7), 1.4826, 1e-4);
}

static void test_sigma_of_normal_noise_with_outliers(void **state) {
    (void)state;
    bj_random random;
    bj_random_seed(&random, 3);
    double y[2000];
    for (size_t i = 0; i < 2000; i++)
        y[i] = i % 20 == 0 ? 1e6 : 5 + 2 * bj_random_normal(&random);
    assert_near(bj_stats_estimate_sigma(y, 2000), 2, 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_quantiles),        cmocka_unit_test(test_nan_is_no_sample),
        cmocka_unit_test(test_infinite_samples),       cmocka_unit_test(test_one_and_two_samples),
        cmocka_unit_test(test_sigma_of_known_samples), cmocka_unit_test(test_sigma_of_normal_noise_with_outliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
