#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "stats/steps.h"

static void assert_near(double value, double expected) {
    assert_true(fabs(value - expected) <= 1e-12 * (1 + fabs(expected)));
}

static void test_computes_both_kinds(void **state) {
    (void)state;
    const double y[] = {2, 3, 3, 6};
    bj_step step;
    assert_true(bj_stats_find_biggest_step(y, 2, &step));
    assert_near(step.magnitude, 0.5);
    assert_false(bj_stats_find_biggest_step(y + 1, 2, &step));
    assert_true(bj_stats_find_biggest_step(y, 4, &step));
    assert_near(step.magnitude, 1);
    assert_true(bj_stats_find_scaled_step(y, 2, &step));
    assert_near(step.magnitude, 2);
    assert_true(bj_stats_find_scaled_step(y, 4, &step));
    assert_near(step.magnitude, 9);
}

static void test_steps_span_unusable_points(void **state) {
    (void)state;
    const double y[] = {NAN, 1, 0, -3, INFINITY, 3, NAN};
    bj_step step;
    assert_true(bj_stats_find_biggest_step(y, 7, &step));
    assert_int_equal(step.before, 1);
    assert_int_equal(step.after, 5);
    assert_near(step.magnitude, 2);
}

/* Contexts: flat, a jump after the fourth, then noise with bigger jumps than the first. */
static void test_first_step_is_not_the_biggest(void **state) {
    (void)state;
    const double y[] = {10, 10.1, 10, 10.2, 16, 15, 40, 39, 41};
    bj_step step;
    assert_true(bj_stats_find_first_step(y, 9, &step));
    assert_int_equal(step.before, 3);
    assert_int_equal(step.after, 4);
    assert_near(step.magnitude, 5.8 / 10.2);
    assert_true(bj_stats_find_biggest_step(y, 9, &step));
    assert_int_equal(step.before, 5);
}

/* Live ranges: slight growth, the first spill, then absolute steps as big, relative ones smaller. */
static void test_biggest_relative_step_is_the_first_of_equal_rises(void **state) {
    (void)state;
    const double y[] = {4, 4.2, 4.4, 8.4, 12.4, 16.4};
    bj_step step;
    assert_true(bj_stats_find_biggest_step(y, 6, &step));
    assert_int_equal(step.before, 2);
    assert_int_equal(step.after, 3);
}

/* Page: misses double with the stride up to the page, then the line is flat; the answer is the far side. */
static void test_scaled_step_is_the_last_of_doublings(void **state) {
    (void)state;
    const double stride[] = {512, 1024, 2048, 4096, 8192, 16384};
    const double y[] = {13, 26, 52, 104, 105, 105};
    bj_step step;
    assert_true(bj_stats_find_scaled_step(y, 6, &step));
    assert_true(stride[step.after] == 4096);
    assert_near(step.magnitude, 52.0 * 52.0);
}

static void assert_no_step(const double *y, size_t count) {
    bj_step step;
    assert_false(bj_stats_find_first_step(y, count, &step));
    assert_false(bj_stats_find_biggest_step(y, count, &step));
    assert_false(bj_stats_find_scaled_step(y, count, &step));
}

static void test_no_step(void **state) {
    (void)state;
    const double equal[] = {3, 3, 3, 3}, descending[] = {9, 7, 6.5, 1}, unusable[] = {NAN, -1, 0, INFINITY};
    assert_no_step(NULL, 0);
    assert_no_step(equal, 1);
    assert_no_step(equal, 2);
    assert_no_step(equal, 4);
    assert_no_step(descending, 4);
    assert_no_step(unusable, 4);
}

static void test_steady_growth_has_no_first_step(void **state) {
    (void)state;
    double y[30];
    for (size_t i = 0; i < 30; i++)
        y[i] = pow(1.1, (double)i);
    bj_step step;
    assert_false(bj_stats_find_first_step(y, 30, &step));
    const double two[] = {1, 2};
    assert_false(bj_stats_find_first_step(two, 2, &step));
    assert_true(bj_stats_find_biggest_step(two, 2, &step));
}

static void test_finds_a_planted_step_in_noise(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        size_t at = 5 + (size_t)bj_random_below(&random, 20);
        double y[30];
        for (size_t i = 0; i < 30; i++)
            y[i] = (i < at ? 10 : 20) * (1 + 0.001 * bj_random_normal(&random));
        bj_step first, biggest, scaled;
        assert_true(bj_stats_find_first_step(y, 30, &first));
        assert_true(bj_stats_find_biggest_step(y, 30, &biggest));
        assert_true(bj_stats_find_scaled_step(y, 30, &scaled));
        assert_int_equal(first.after, at);
        assert_int_equal(biggest.after, at);
        assert_int_equal(scaled.after, at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computes_both_kinds),
        cmocka_unit_test(test_steps_span_unusable_points),
        cmocka_unit_test(test_first_step_is_not_the_biggest),
        cmocka_unit_test(test_biggest_relative_step_is_the_first_of_equal_rises),
        cmocka_unit_test(test_scaled_step_is_the_last_of_doublings),
        cmocka_unit_test(test_no_step),
        cmocka_unit_test(test_steady_growth_has_no_first_step),
        cmocka_unit_test(test_finds_a_planted_step_in_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
