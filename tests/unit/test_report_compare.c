/* Comparison of two profiles: what counts as different, what is only mentioned, and which level is which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/compare.h"
#include "report/compare_levels.h"

static bj_answer *put(bj_profile *profile, const char *key, double value, double half_width, bj_confidence confidence) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, "bytes", &answer, NULL), BJ_OK);
    answer->value = value;
    answer->has_interval = true;
    answer->interval[0] = value * (1 - half_width);
    answer->interval[1] = value * (1 + half_width);
    answer->confidence = confidence;
    return answer;
}

/* Levels of these capacities, all with high confidence. */
static void put_levels(bj_profile *profile, const double *capacities, unsigned count) {
    put(profile, "cache.levels", count, 0, BJ_CONFIDENCE_HIGH);
    for (unsigned i = 0; i < count; i++) {
        char key[64];
        snprintf(key, sizeof key, "cache.L%u.size_bytes", i + 1);
        put(profile, key, capacities[i] * 0.98, 0.02, BJ_CONFIDENCE_HIGH);
        snprintf(key, sizeof key, "cache.L%u.capacity_bytes", i + 1);
        put(profile, key, capacities[i], 0.02, BJ_CONFIDENCE_HIGH);
        snprintf(key, sizeof key, "cache.L%u.latency_ns", i + 1);
        put(profile, key, 1.0 + 4 * i, 0.01, BJ_CONFIDENCE_HIGH);
    }
}

static int setup(void **state) {
    bj_profile *pair = calloc(2, sizeof *pair);
    bj_profile_init(&pair[0]);
    bj_profile_init(&pair[1]);
    *state = pair;
    return 0;
}

static int teardown(void **state) {
    bj_profile *pair = *state;
    bj_profile_free(&pair[0]);
    bj_profile_free(&pair[1]);
    free(pair);
    return 0;
}

static bj_comparison compare(bj_profile *pair) {
    bj_comparison comparison;
    bj_error error;
    assert_int_equal(bj_report_compare(&pair[0], &pair[1], &comparison, &error), BJ_OK);
    return comparison;
}

/* One key on both sides, the second so many times the first. */
static void check_pair(double factor, double half_width, bj_confidence confidence, size_t certain, size_t all) {
    bj_profile *pair;
    setup((void **)&pair);
    put(&pair[0], "memory.latency_ns", 100, half_width, BJ_CONFIDENCE_HIGH);
    put(&pair[1], "memory.latency_ns", 100 * factor, half_width, confidence);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.compared, 1);
    assert_int_equal(comparison.certain_count, certain);
    assert_int_equal(comparison.count, all);
    if (all > 0) {
        assert_string_equal(comparison.items[0].key, "memory.latency_ns");
        assert_true(comparison.items[0].ratio > factor * 0.999 && comparison.items[0].ratio < factor * 1.001);
    }
    bj_report_free_comparison(&comparison);
    teardown((void **)&pair);
}

static void test_numbers(void **state) {
    (void)state;
    check_pair(1, 0, BJ_CONFIDENCE_HIGH, 0, 0);
    check_pair(1.04, 0.001, BJ_CONFIDENCE_HIGH, 0, 0); /* what two runs differ by */
    check_pair(1.08, 0.001, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair(0.92, 0.001, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair(1.08, 0.05, BJ_CONFIDENCE_HIGH, 0, 0); /* the intervals meet */
    check_pair(1.2, 0.001, BJ_CONFIDENCE_MEDIUM, 0, 0);
    check_pair(0.5, 0.001, BJ_CONFIDENCE_MEDIUM, 1, 1);
    check_pair(0.5, 0.001, BJ_CONFIDENCE_LOW, 0, 1);
    check_pair(0.5, 0.2, BJ_CONFIDENCE_MEDIUM, 1, 1);
    check_pair(0.5, 0.3, BJ_CONFIDENCE_MEDIUM, 0, 0);
}

/* A neighbour makes times longer, and caches no smaller. */
static void test_virtual_machine(void **state) {
    bj_profile *pair = *state;
    for (int i = 0; i < 2; i++) {
        strcpy(put(&pair[i], "memory.latency_ns", i == 0 ? 100 : 130, 0.01, BJ_CONFIDENCE_HIGH)->unit, "ns");
        strcpy(put(&pair[i], "memory.read_gbs", i == 0 ? 20 : 10, 0.01, BJ_CONFIDENCE_HIGH)->unit, "GB/s");
        put(&pair[i], "page.size_bytes", i == 0 ? 100 : 130, 0.01, BJ_CONFIDENCE_HIGH);
    }
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 3);
    bj_report_free_comparison(&comparison);
    pair[1].environment.virtualised = 1;
    comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 2);
    assert_string_equal(comparison.items[0].key, "memory.read_gbs");
    assert_string_equal(comparison.items[1].key, "page.size_bytes");
    bj_report_free_comparison(&comparison);
}

static void test_halved_level(void **state) {
    bj_profile *pair = *state;
    put_levels(&pair[0], (double[]){32768, 1048576, 33554432}, 3);
    put_levels(&pair[1], (double[]){32768, 524288, 33554432}, 3);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 2);
    assert_int_equal(comparison.count, 2);
    assert_string_equal(comparison.items[0].key, "cache.L2.capacity_bytes");
    assert_string_equal(comparison.items[1].key, "cache.L2.size_bytes");
    bj_report_free_comparison(&comparison);
}

/* The second level is gone: the third is still the third's partner, and its size no difference. */
static void test_vanished_level(void **state) {
    bj_profile *pair = *state;
    put_levels(&pair[0], (double[]){32768, 1048576, 33554432}, 3);
    put_levels(&pair[1], (double[]){32768, 33554432}, 2);
    put(&pair[1], "cache.L2.latency_ns", 9, 0.01, BJ_CONFIDENCE_HIGH);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 2);
    assert_string_equal(comparison.items[0].key, "cache.L2");
    assert_int_equal(comparison.items[0].kind, BJ_DIFFERENCE_LEVEL_GONE);
    assert_true(comparison.items[0].a->value < 1048577);
    assert_string_equal(comparison.items[1].key, "cache.levels");
    bj_report_free_comparison(&comparison);
    /* The other way round it is new. */
    bj_profile reversed[2] = {pair[1], pair[0]};
    comparison = compare(reversed);
    assert_int_equal(comparison.items[0].kind, BJ_DIFFERENCE_LEVEL_NEW);
    assert_string_equal(comparison.items[0].key, "cache.L2");
    bj_report_free_comparison(&comparison);
}

static void test_doubtful_level(void **state) {
    bj_profile *pair = *state;
    put_levels(&pair[0], (double[]){32768, 33554432}, 2);
    put_levels(&pair[1], (double[]){32768, 1048576, 33554432}, 3);
    put(&pair[1], "cache.L3.latency_ns", 5, 0.01, BJ_CONFIDENCE_HIGH);
    put(&pair[1], "cache.levels", 3, 0, BJ_CONFIDENCE_LOW);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 0);
    assert_int_equal(comparison.count, 2);
    bj_report_free_comparison(&comparison);
}

static void set_status(bj_answer *answer, bj_answer_status status) {
    answer->status = status;
    answer->has_interval = false;
    answer->confidence = BJ_CONFIDENCE_NONE;
}

static void test_status(void **state) {
    bj_profile *pair = *state;
    for (int i = 0; i < 2; i++) {
        put(&pair[i], "a.unsupported", 1, 0, BJ_CONFIDENCE_HIGH);
        put(&pair[i], "b.undetermined", 1, 0, BJ_CONFIDENCE_HIGH);
        put(&pair[i], "c.low", 1, 0, BJ_CONFIDENCE_LOW);
        put(&pair[i], "d.failed", 1, 0, BJ_CONFIDENCE_HIGH);
    }
    set_status(&pair[1].answers.items[0], BJ_ANSWER_UNSUPPORTED);
    set_status(&pair[1].answers.items[1], BJ_ANSWER_UNDETERMINED);
    set_status(&pair[0].answers.items[2], BJ_ANSWER_UNDETERMINED);
    set_status(&pair[0].answers.items[3], BJ_ANSWER_UNDETERMINED);
    set_status(&pair[1].answers.items[3], BJ_ANSWER_FAILED);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.compared, 0);
    assert_int_equal(comparison.certain_count, 1);
    assert_int_equal(comparison.count, 2);
    assert_string_equal(comparison.items[0].key, "a.unsupported");
    assert_string_equal(comparison.items[1].key, "b.undetermined");
    bj_report_free_comparison(&comparison);
}

/* A number that moved while it was measured is no proof, whatever its confidence. */
static void test_unstable(void **state) {
    bj_profile *pair = *state;
    put(&pair[0], "a.both", 100, 0, BJ_CONFIDENCE_HIGH)->status = BJ_ANSWER_UNSTABLE;
    put(&pair[1], "a.both", 10, 0, BJ_CONFIDENCE_HIGH)->status = BJ_ANSWER_UNSTABLE;
    put(&pair[0], "b.one", 100, 0, BJ_CONFIDENCE_MEDIUM);
    put(&pair[1], "b.one", 10, 0, BJ_CONFIDENCE_HIGH)->status = BJ_ANSWER_UNSTABLE;
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.compared, 2);
    assert_int_equal(comparison.certain_count, 0);
    assert_int_equal(comparison.count, 2);
    bj_report_free_comparison(&comparison);
}

static void test_structures(void **state) {
    bj_profile *pair = *state;
    static const char *const texts[2] = {"[[0, 1], [2, 3]]", "[[3, 2], [1, 0]]"};
    for (int i = 0; i < 2; i++) {
        bj_answer *answer = put(&pair[i], "cache.L2.sharing", 0, 0, BJ_CONFIDENCE_HIGH);
        answer->structured = strdup(texts[i]);
        answer = put(&pair[i], "memory.contention", 0, 0, BJ_CONFIDENCE_HIGH);
        answer->structured = strdup("{\"reference_gbs\": 1}");
    }
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.count, 0);
    assert_int_equal(comparison.notes.count, 1);
    bj_report_free_comparison(&comparison);
    bj_answer *changed = &pair[1].answers.items[0];
    free(changed->structured);
    changed->structured = strdup("[[0, 2], [1, 3]]");
    comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 1);
    bj_report_free_comparison(&comparison);
}

/* Where it was measured is a note, and so is what only one side was asked. */
static void test_notes(void **state) {
    bj_profile *pair = *state;
    strcpy(pair[0].environment.os, "Linux 6.1");
    strcpy(pair[1].environment.os, "Linux 6.2");
    put(&pair[0], "page.size_bytes", 4096, 0, BJ_CONFIDENCE_HIGH);
    put(&pair[0], "cpu.clock_ghz", 3, 0, BJ_CONFIDENCE_HIGH);
    put(&pair[1], "cpu.clock_ghz", 3, 0, BJ_CONFIDENCE_HIGH)->has_claimed = true;
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.count, 0);
    assert_int_equal(comparison.notes.count, 2);
    assert_non_null(strstr(comparison.notes.items[0], "Linux 6.1, then Linux 6.2"));
    assert_non_null(strstr(comparison.notes.items[1], "page.size_bytes"));
    bj_report_free_comparison(&comparison);
}

/* What matters most first: a level of a quarter before one of a half. */
static void test_order(void **state) {
    bj_profile *pair = *state;
    put(&pair[0], "a.half", 100, 0, BJ_CONFIDENCE_HIGH);
    put(&pair[1], "a.half", 50, 0, BJ_CONFIDENCE_HIGH);
    put(&pair[0], "b.quarter", 100, 0, BJ_CONFIDENCE_HIGH);
    put(&pair[1], "b.quarter", 25, 0, BJ_CONFIDENCE_HIGH);
    put(&pair[0], "c.doubtful", 100, 0, BJ_CONFIDENCE_LOW);
    put(&pair[1], "c.doubtful", 1, 0, BJ_CONFIDENCE_HIGH);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.count, 3);
    assert_string_equal(comparison.items[0].key, "b.quarter");
    assert_string_equal(comparison.items[1].key, "a.half");
    assert_string_equal(comparison.items[2].key, "c.doubtful");
    bj_report_free_comparison(&comparison);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test_setup_teardown(test_virtual_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(test_halved_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vanished_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_doubtful_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_status, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unstable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_structures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_notes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
