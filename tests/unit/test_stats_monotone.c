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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_the_least_of_what_follows),
        cmocka_unit_test(test_descending_becomes_flat),
        cmocka_unit_test(test_small_inputs),
        cmocka_unit_test(test_nan_stays_and_lowers_nobody),
        cmocka_unit_test(test_ascends_and_never_raises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
