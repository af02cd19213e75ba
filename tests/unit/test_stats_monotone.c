#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "stats/monotone.h"

static void test_takes_the_least_of_what_follows(void **state) {
    (void)state;
    double y[] = {3, 1, 4, 2, 5, 9, 6, 7};
    const double expected[] = {1, 1, 2, 2, 5, 6, 6, 7};
    bj_stats_enforce_monotone(y, 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(y[i] == expected[i]);
}

static void test_descending_becomes_flat(void **state) {
    (void)state;
    double y[] = {5, 4, 3};
    bj_stats_enforce_monotone(y, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(y[i] == 3);
}

static void test_small_inputs(void **state) {
    (void)state;
    bj_stats_enforce_monotone(NULL, 0);
    double one[] = {7};
    bj_stats_enforce_monotone(one, 1);
    assert_true(one[0] == 7);
}

static void test_nan_stays_and_lowers_nobody(void **state) {
    (void)state;
    double y[] = {2, NAN, 1, 3, NAN};
    bj_stats_enforce_monotone(y, 5);
    assert_true(y[0] == 1 && isnan(y[1]) && y[2] == 1 && y[3] == 3 && isnan(y[4]));
}

static void test_ascends_and_never_raises(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        double before[40], y[40];
        for (size_t i = 0; i < 40; i++)
            before[i] = y[i] = bj_random_normal(&random);
        bj_stats_enforce_monotone(y, 40);
        assert_true(y[39] == before[39]);
        for (size_t i = 0; i < 40; i++) {
            assert_true(y[i] <= before[i]);
            assert_true(i == 0 || y[i - 1] <= y[i]);
        }
    }
}

static void test_pools_what_falls(void **state) {
    (void)state;
    double y[] = {1, 3, 2, 4, 3, 2, 9};
    const double expected[] = {1, 2.5, 2.5, 3, 3, 3, 9};
    bj_stats_fit_monotone(y, 7);
    for (size_t i = 0; i < 7; i++)
        assert_true(fabs(y[i] - expected[i]) < 1e-12);
    double falling[] = {6, 4, 2};
    bj_stats_fit_monotone(falling, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(falling[i] - 4) < 1e-12);
    bj_stats_fit_monotone(NULL, 0);
}

/* Noise around a slope leaves its mean where it was, which the least of what follows does not. */
static void test_fit_is_not_biased(void **state) {
    (void)state;
    double fitted = 0, enforced = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        double y[40], least[40];
        for (size_t i = 0; i < 40; i++)
            y[i] = least[i] = 0.1 * (double)i + bj_random_normal(&random);
        bj_stats_fit_monotone(y, 40);
        bj_stats_enforce_monotone(least, 40);
        for (size_t i = 1; i < 40; i++)
            assert_true(y[i - 1] <= y[i]);
        fitted += (y[20] - 2) / 200;
        enforced += (least[20] - 2) / 200;
    }
    assert_true(fabs(fitted) < 0.15);
    assert_true(enforced < -0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_the_least_of_what_follows),
        cmocka_unit_test(test_descending_becomes_flat),
        cmocka_unit_test(test_small_inputs),
        cmocka_unit_test(test_nan_stays_and_lowers_nobody),
        cmocka_unit_test(test_ascends_and_never_raises),
        cmocka_unit_test(test_pools_what_falls),
        cmocka_unit_test(test_fit_is_not_biased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
