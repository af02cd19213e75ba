#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats/rise.h"

static void test_finds_the_first_point_above(void **state) {
    (void)state;
    const double y[] = {4, 4.1, 3.9, 4.2, 8, 12};
    assert_int_equal(bj_stats_find_rise(y, 6, 0.5), 4);
    /* From the lowest so far, not from the first. */
    assert_int_equal(bj_stats_find_rise(y, 6, 0.25), 3);
    assert_int_equal(bj_stats_find_rise(y, 6, 6), 5);
}

static void test_none_where_nothing_rises(void **state) {
    (void)state;
    const double falling[] = {5, 4, 3, 2}, flat[] = {2, 2, 2};
    assert_int_equal(bj_stats_find_rise(falling, 4, 0), 4);
    assert_int_equal(bj_stats_find_rise(flat, 3, 0), 3);
    assert_int_equal(bj_stats_find_rise(flat, 0, 0), 0);
}

static void test_passes_over_missing_points(void **state) {
    (void)state;
    const double y[] = {NAN, 4, NAN, 4, 9};
    assert_int_equal(bj_stats_find_rise(y, 5, 1), 4);
    const double none[] = {NAN, NAN};
    assert_int_equal(bj_stats_find_rise(none, 2, 0), 2);
}

/* Sizes of steps count, not of values. */
static void test_moves_with_the_curve(void **state) {
    (void)state;
    double y[] = {1, 1, 1.2, 1.6};
    for (double shift = 0; shift < 100; shift += 12.5) {
        double moved[4];
        for (size_t i = 0; i < 4; i++)
            moved[i] = y[i] + shift;
        assert_int_equal(bj_stats_find_rise(moved, 4, 0.3), 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_first_point_above),
        cmocka_unit_test(test_none_where_nothing_rises),
        cmocka_unit_test(test_passes_over_missing_points),
        cmocka_unit_test(test_moves_with_the_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
