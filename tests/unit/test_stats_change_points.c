#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/change_points.h"

static const bj_change_point_options usual = {.min_segment = 2, .significance = 0.05, .permutations = 199, .seed = 1};

static size_t find(const double *y, size_t count, const bj_change_point_options *options, bj_change_point **points) {
    size_t found = 99;
    assert_int_equal(bj_stats_find_change_points(y, count, options, points, &found, NULL), BJ_OK);
    return found;
}

static size_t count_only(const double *y, size_t count, const bj_change_point_options *options) {
    bj_change_point *points;
    size_t found = find(y, count, options, &points);
    assert_true(found > 0 || points == NULL);
    free(points);
    return found;
}

static void test_one_step(void **state) {
    (void)state;
    const double y[] = {1, 1.1, 0.9, 1, 1.05, 0.95, 3, 3.1, 2.9, 3, 3.05, 2.95};
    bj_change_point *points;
    assert_int_equal(find(y, 12, &usual, &points), 1);
    assert_int_equal(points[0].before, 5);
    assert_int_equal(points[0].after, 6);
    assert_true(fabs(points[0].mean_before - 1) < 1e-12);
    assert_true(fabs(points[0].mean_after - 3) < 1e-12);
    /* 2 of 924 orders split as well: about one in 199 shuffles at most. */
    assert_true(points[0].p >= 1.0 / 200 && points[0].p <= 3.0 / 200);
    free(points);
}

static void test_p_is_never_zero_and_counts_permutations(void **state) {
    (void)state;
    double y[40];
    for (size_t i = 0; i < 40; i++)
        y[i] = i < 20 ? 0 : 1;
    bj_change_point_options options = usual;
    options.permutations = 99;
    bj_change_point *points;
    assert_int_equal(find(y, 40, &options, &points), 1);
    assert_true(points[0].p == 0.01);
    free(points);
    options.significance = 0.009;
    assert_int_equal(count_only(y, 40, &options), 0);
    options.significance = 0.05;
    options.permutations = 0;
    assert_int_equal(count_only(y, 40, &options), 0);
}

static void test_staircase(void **state) {
    (void)state;
    const size_t starts[] = {12, 25, 33};
    for (uint64_t seed = 0; seed < 20; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        double y[48];
        for (size_t i = 0; i < 48; i++)
            y[i] = (double)((i >= 12) + (i >= 25) + 2 * (i >= 33)) + 0.05 * bj_random_normal(&random);
        bj_change_point_options strict = usual;
        strict.significance = 0.005; /* the least p of 199; noise inside the stairs then rarely adds one */
        bj_change_point *points;
        size_t found = find(y, 48, &strict, &points), matched = 0;
        assert_true(found >= 3 && found <= 4);
        for (size_t i = 0; i < found; i++)
            for (size_t j = 0; j < 3; j++)
                matched += points[i].after == starts[j] && points[i].before + 1 == starts[j];
        assert_int_equal(matched, 3);
        free(points);
    }
}

/* The greedy split of the whole lies between the two true changes' pulls; settling must still put each in place. */
static void test_up_and_down(void **state) {
    (void)state;
    double y[60];
    bj_random random;
    bj_random_seed(&random, 5);
    for (size_t i = 0; i < 60; i++)
        y[i] = (i >= 20 && i < 40 ? 1 : 0) + 0.1 * bj_random_normal(&random);
    bj_change_point *points;
    bj_change_point_options strict = usual;
    strict.significance = 0.01;
    assert_int_equal(find(y, 60, &strict, &points), 2);
    assert_int_equal(points[0].after, 20);
    assert_int_equal(points[1].after, 40);
    assert_true(points[0].mean_after == points[1].mean_before && points[0].mean_before < 0.1);
    free(points);
}

static double squares_about_mean(const double *y, size_t first, size_t end) {
    double mean = 0, squares = 0;
    for (size_t i = first; i < end; i++)
        mean += y[i] / (double)(end - first);
    for (size_t i = first; i < end; i++)
        squares += (y[i] - mean) * (y[i] - mean);
    return squares;
}

/* Greedy splits are placed while further changes lie on either side; in the end no point may do better elsewhere
 * between its neighbours. */
static void test_every_point_is_at_its_best_place(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        double y[60];
        for (size_t i = 0; i < 60; i++)
            y[i] = (double)(i / 12) + 0.6 * bj_random_normal(&random);
        bj_change_point *points;
        size_t found = find(y, 60, &usual, &points);
        for (size_t i = 0; i < found; i++) {
            size_t first = i > 0 ? points[i - 1].after : 0, end = i + 1 < found ? points[i + 1].after : 60;
            size_t at = points[i].after;
            double placed = squares_about_mean(y, first, at) + squares_about_mean(y, at, end);
            for (size_t other = first + usual.min_segment; other + usual.min_segment <= end; other++)
                assert_true(squares_about_mean(y, first, other) + squares_about_mean(y, other, end) > placed - 1e-9);
        }
        free(points);
    }
}

static void test_step_of_rounding_size_is_none(void **state) {
    (void)state;
    double y[30];
    for (size_t i = 0; i < 30; i++)
        y[i] = i < 15 ? 1 : 1 + 1e-12;
    assert_int_equal(count_only(y, 30, &usual), 0);
}

static void test_descending_steps_count_too(void **state) {
    (void)state;
    double y[20];
    for (size_t i = 0; i < 20; i++)
        y[i] = i < 7 ? 9 : 4;
    bj_change_point *points;
    assert_int_equal(find(y, 20, &usual, &points), 1);
    assert_int_equal(points[0].before, 6);
    assert_true(points[0].mean_before == 9 && points[0].mean_after == 4);
    free(points);
}

static void test_no_change(void **state) {
    (void)state;
    double equal[30];
    for (size_t i = 0; i < 30; i++)
        equal[i] = 0.1;
    assert_int_equal(count_only(NULL, 0, &usual), 0);
    for (size_t count = 1; count <= 30; count++)
        assert_int_equal(count_only(equal, count, &usual), 0);
    const double two[] = {1, 100};
    assert_int_equal(count_only(two, 2, &usual), 0);
    const double unusable[] = {NAN, INFINITY, -INFINITY, NAN, 1, NAN};
    assert_int_equal(count_only(unusable, 6, &usual), 0);
}

static void test_values_that_are_not_finite_are_left_out(void **state) {
    (void)state;
    double y[26];
    for (size_t i = 0; i < 26; i++)
        y[i] = i < 13 ? 1 : 2;
    y[0] = y[12] = NAN;
    y[13] = INFINITY;
    bj_change_point *points;
    assert_int_equal(find(y, 26, &usual, &points), 1);
    assert_int_equal(points[0].before, 11);
    assert_int_equal(points[0].after, 14);
    free(points);
}

static void test_min_segment_holds(void **state) {
    (void)state;
    double y[30];
    for (size_t i = 0; i < 30; i++)
        y[i] = i < 28 ? 1 : 50;
    bj_change_point_options options = usual;
    options.min_segment = 3;
    bj_change_point *points;
    size_t found = find(y, 30, &options, &points);
    for (size_t i = 0; i < found; i++)
        assert_true(points[i].after >= 3 && points[i].after <= 27);
    free(points);
    options.min_segment = 16;
    assert_int_equal(count_only(y, 30, &options), 0);
    options.min_segment = 0;
    bj_error error = {""};
    assert_int_equal(bj_stats_find_change_points(y, 30, &options, &points, &found, &error), BJ_ERR_USAGE);
    assert_true(strlen(error.text) > 0);
}

static void test_same_seed_same_answer(void **state) {
    (void)state;
    bj_random random;
    bj_random_seed(&random, 11);
    double y[50];
    for (size_t i = 0; i < 50; i++)
        y[i] = 0.6 * (double)(i / 10) + bj_random_normal(&random);
    bj_change_point *a, *b;
    size_t found = find(y, 50, &usual, &a);
    assert_true(found > 0);
    assert_int_equal(find(y, 50, &usual, &b), found);
    for (size_t i = 0; i < found; i++)
        assert_true(a[i].p == b[i].p && a[i].after == b[i].after);
    free(a);
    free(b);
}

/* Of 400 sequences of pure noise alpha = 5% may show a change: 20 expected, standard deviation 4.4. */
static void test_pure_noise_is_rarely_split(void **state) {
    (void)state;
    size_t false_alarms[2] = {0, 0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        double normal[30], skewed[30];
        for (size_t i = 0; i < 30; i++) {
            normal[i] = bj_random_normal(&random);
            skewed[i] = exp(2 * bj_random_normal(&random));
        }
        bj_change_point_options options = usual;
        options.permutations = 99;
        options.seed = seed;
        false_alarms[0] += count_only(normal, 30, &options) > 0;
        false_alarms[1] += count_only(skewed, 30, &options) > 0;
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(false_alarms[i] <= 40);
        assert_true(false_alarms[i] >= 5); /* a test that never fires has no power either */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_p_is_never_zero_and_counts_permutations),
        cmocka_unit_test(test_staircase),
        cmocka_unit_test(test_up_and_down),
        cmocka_unit_test(test_every_point_is_at_its_best_place),
        cmocka_unit_test(test_step_of_rounding_size_is_none),
        cmocka_unit_test(test_descending_steps_count_too),
        cmocka_unit_test(test_no_change),
        cmocka_unit_test(test_values_that_are_not_finite_are_left_out),
        cmocka_unit_test(test_min_segment_holds),
        cmocka_unit_test(test_same_seed_same_answer),
        cmocka_unit_test(test_pure_noise_is_rarely_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
