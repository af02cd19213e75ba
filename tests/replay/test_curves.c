/* Published curves through the analysis of the cache probe: every level that is there, and none that is not. */
#include "curve_fixture.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#include "probes/cache/cache_constants.h"

static json_t *cases;

static int read_cases(void **state) {
    (void)state;
    cases = read_expected("expected.json");
    return 0;
}

static int free_cases(void **state) {
    (void)state;
    json_decref(cases);
    return 0;
}

static bj_answers analyse(const double *x, const double *y, size_t count, const char *unit) {
    static const bj_answers nothing;
    return analyse_curve("cache", x, y, count, unit, &nothing);
}

static size_t list_sizes(const bj_answers *answers, double *sizes) {
    double levels = 0;
    char key[64];
    if (!bj_data_get_number(answers, "cache.levels", &levels))
        return 0;
    assert_true(levels >= 1 && levels <= BJ_LEVELS_MAX);
    for (size_t i = 0; i < (size_t)levels; i++) {
        snprintf(key, sizeof key, "cache.L%zu.size_bytes", i + 1);
        if (!bj_data_get_number(answers, key, &sizes[i]))
            fail_msg("no %s", key);
    }
    return (size_t)levels;
}

static double bound(json_t *interval, size_t end) {
    return json_number_value(json_array_get(interval, end));
}

/* Of a level that the curve cannot show nothing is known but its neighbours. */
static bool fits_unknown_level(json_t *accept, double size) {
    for (size_t i = 0; i < json_array_size(accept); i++) {
        if (!json_is_null(json_array_get(accept, i)))
            continue;
        bool above = true, below = true;
        for (size_t k = 0; k < json_array_size(accept); k++) {
            json_t *other = json_array_get(accept, k);
            if (!json_is_null(other) && k < i)
                above = above && size >= bound(other, 1);
            if (!json_is_null(other) && k > i)
                below = below && size <= bound(other, 0);
        }
        if (above && below)
            return true;
    }
    return false;
}

/* The number of levels missed or invented. */
static int count_wrong(json_t *accept, const double *sizes, size_t count) {
    bool used[BJ_LEVELS_MAX] = {false};
    int wrong = 0;
    for (size_t i = 0; i < json_array_size(accept); i++) {
        json_t *interval = json_array_get(accept, i);
        bool hit = json_is_null(interval);
        for (size_t k = 0; k < count && !hit; k++)
            if (!used[k] && sizes[k] >= bound(interval, 0) && sizes[k] <= bound(interval, 1))
                hit = used[k] = true;
        wrong += !hit;
    }
    for (size_t k = 0; k < count; k++)
        wrong += !used[k] && !fits_unknown_level(accept, sizes[k]);
    return wrong;
}

static void complain(json_t *entry, const double *sizes, size_t count) {
    char *accept = json_dumps(json_object_get(entry, "accept"), 0);
    print_error("%s (%s): accepted %s, found", json_string_value(json_object_get(entry, "machine")),
                json_string_value(json_object_get(entry, "why")), accept);
    for (size_t i = 0; i < count; i++)
        print_error(" %.0f", sizes[i]);
    print_error("\n");
    free(accept);
}

static void test_levels_of_published_curves(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *entry = json_array_get(cases, i);
        double x[POINTS_MAX], y[POINTS_MAX], sizes[BJ_LEVELS_MAX];
        size_t count = read_curve(json_string_value(json_object_get(entry, "file")), x, y);
        assert_in_range(count, 10, POINTS_MAX);
        bj_answers answers = analyse(x, y, count, json_string_value(json_object_get(entry, "unit")));
        size_t levels = list_sizes(&answers, sizes);
        int wrong_here = count_wrong(json_object_get(entry, "accept"), sizes, levels);
        if (wrong_here > 0)
            complain(entry, sizes, levels);
        wrong += wrong_here;
        for (size_t k = 0; k < levels; k++) {
            bool sampled = false;
            for (size_t p = 0; p < count; p++)
                sampled = sampled || x[p] == sizes[k];
            assert_true(sampled);
        }
        bj_data_free_answers(&answers);
    }
    assert_int_equal(wrong, 0);
}

/* Latencies come in the unit of the curve, and grow from level to level. */
static void test_latencies_of_published_curves(void **state) {
    (void)state;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *entry = json_array_get(cases, i);
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        double x[POINTS_MAX], y[POINTS_MAX], sizes[BJ_LEVELS_MAX], before = 0;
        size_t count = read_curve(json_string_value(json_object_get(entry, "file")), x, y);
        bj_answers answers = analyse(x, y, count, unit);
        size_t levels = list_sizes(&answers, sizes);
        for (size_t k = 0; k < levels; k++) {
            char key[64];
            double latency = 0;
            snprintf(key, sizeof key, "cache.L%zu.latency_%s", k + 1, unit);
            assert_true(bj_data_get_number(&answers, key, &latency));
            assert_true(latency > before);
            before = latency;
        }
        bj_data_free_answers(&answers);
    }
}

/* Cycles or nanoseconds: the same levels. Curves in whole cycles say so by their numbers, and are left out. */
static void test_unit_does_not_matter(void **state) {
    (void)state;
    size_t tried = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *entry = json_array_get(cases, i);
        if (strcmp(json_string_value(json_object_get(entry, "unit")), "ns") != 0)
            continue;
        double x[POINTS_MAX], y[POINTS_MAX], sizes[BJ_LEVELS_MAX], scaled[BJ_LEVELS_MAX];
        size_t count = read_curve(json_string_value(json_object_get(entry, "file")), x, y);
        bj_answers answers = analyse(x, y, count, "ns");
        for (size_t k = 0; k < count; k++)
            y[k] *= 2.17;
        bj_answers again = analyse(x, y, count, "cycles");
        size_t levels = list_sizes(&answers, sizes);
        assert_int_equal(list_sizes(&again, scaled), levels);
        for (size_t k = 0; k < levels; k++)
            assert_true(sizes[k] == scaled[k]);
        bj_data_free_answers(&again);
        bj_data_free_answers(&answers);
        tried++;
    }
    assert_true(tried >= 3);
}

static void test_every_curve_has_an_expectation(void **state) {
    (void)state;
    DIR *folder = opendir(FOLDER "curves");
    assert_non_null(folder);
    size_t curves = 0;
    for (struct dirent *item = readdir(folder); item != NULL; item = readdir(folder)) {
        const char *ending = strrchr(item->d_name, '.');
        curves += ending != NULL && strcmp(ending, ".csv") == 0;
    }
    closedir(folder);
    assert_int_equal(curves, json_array_size(cases));
    assert_true(curves >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_curve_has_an_expectation),
        cmocka_unit_test(test_levels_of_published_curves),
        cmocka_unit_test(test_latencies_of_published_curves),
        cmocka_unit_test(test_unit_does_not_matter),
    };
    return cmocka_run_group_tests(tests, read_cases, free_cases);
}
