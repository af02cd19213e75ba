/* Comparison of two profiles: what counts as different, what is only mentioned, and which level is which. */
#include <math.h>
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

/* Ways are right or wrong, contexts within a half, all else within a tenth. */
static bj_tolerance find_tolerance(const char *key) {
    if (strstr(key, "associativity") != NULL || strstr(key, "levels") != NULL)
        return (bj_tolerance){.share = 1e-9};
    if (strstr(key, "contexts") != NULL)
        return (bj_tolerance){.share = 0.03, .least = 0.5};
    if (strstr(key, ".full.") != NULL || strstr(key, "sharing") != NULL)
        return (bj_tolerance){.share = 0.1, .compares_cpus = true};
    return (bj_tolerance){.share = strstr(key, "clock") != NULL ? 0.01 : strstr(key, "unknown") != NULL ? 0 : 0.1};
}

static bj_comparison compare_sets(const bj_profile *a, size_t count_a, const bj_profile *b, size_t count_b) {
    bj_comparison comparison;
    bj_error error;
    assert_int_equal(bj_report_compare((bj_profile_set){a, count_a}, (bj_profile_set){b, count_b}, find_tolerance,
                                       &comparison, &error),
                     BJ_OK);
    return comparison;
}

static bj_comparison compare(bj_profile *pair) {
    return compare_sets(&pair[0], 1, &pair[1], 1);
}

/* One key on both sides, the second so many times the first. */
static void check_pair(const char *key, double factor, double half_width, bj_confidence confidence, size_t certain,
                       size_t all) {
    bj_profile *pair;
    setup((void **)&pair);
    put(&pair[0], key, 100, half_width, BJ_CONFIDENCE_HIGH);
    put(&pair[1], key, 100 * factor, half_width, confidence);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.compared, 1);
    assert_int_equal(comparison.certain_count, certain);
    assert_int_equal(comparison.count, all);
    if (all > 0) {
        assert_string_equal(comparison.items[0].key, key);
        assert_true(comparison.items[0].ratio > factor * 0.999 && comparison.items[0].ratio < factor * 1.001);
    }
    bj_report_free_comparison(&comparison);
    teardown((void **)&pair);
}

static void test_tolerance(void **state) {
    (void)state;
    check_pair("memory.latency_ns", 1, 0, BJ_CONFIDENCE_HIGH, 0, 0);
    check_pair("memory.latency_ns", 1.21, 0.001, BJ_CONFIDENCE_HIGH, 0, 0); /* 110 is right for 100 and for 121 */
    check_pair("memory.latency_ns", 1.24, 0.001, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair("memory.latency_ns", 0.8, 0.001, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair("memory.latency_ns", 0.83, 0.001, BJ_CONFIDENCE_HIGH, 0, 0);
    check_pair("memory.latency_ns", 0.8, 0.001, BJ_CONFIDENCE_MEDIUM, 1, 1);
    check_pair("memory.latency_ns", 0.5, 0.001, BJ_CONFIDENCE_LOW, 0, 1);
    check_pair("some.unknown_ns", 1.21, 0.001, BJ_CONFIDENCE_HIGH, 0, 0);
    check_pair("some.unknown_ns", 1.24, 0.001, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair("cpu.clock_ghz", 1.03, 0.001, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair("cache.L1.associativity", 1.01, 0, BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair("cache.L1.associativity", 2, 0, BJ_CONFIDENCE_MEDIUM, 0, 1); /* wrong one time in ten */
    check_pair("contexts.int", 1.05, 0, BJ_CONFIDENCE_HIGH, 0, 0);
    check_pair("contexts.int", 1.08, 0, BJ_CONFIDENCE_MEDIUM, 1, 1);
}

/* Student's t of ten degrees of freedom, since nobody tells how many rounds there were: 3.17 for one in a hundred. */
static void test_chance(void **state) {
    (void)state;
    double half = log(2) / 3.17 / sqrt(2) * 2.5706;
    check_pair("a", 2, 1 - exp(-half * 0.9), BJ_CONFIDENCE_HIGH, 1, 1);
    check_pair("a", 2, 1 - exp(-half * 1.2), BJ_CONFIDENCE_HIGH, 0, 0);
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
    /* Right or wrong: one time in ten `medium` is wrong. */
    changed->confidence = BJ_CONFIDENCE_MEDIUM;
    comparison = compare(pair);
    assert_true(comparison.certain_count == 0 && comparison.count == 1);
    bj_report_free_comparison(&comparison);
}

/* What is between the cpus of a virtual machine is not counted as long as the hypervisor may have moved them between
 * the two runs; what is said of one cpu is. */
static void test_virtual_cpus(void **state) {
    bj_profile *pair = *state;
    for (int i = 0; i < 2; i++) {
        put(&pair[i], "memory.read_gbs", i == 0 ? 40 : 20, 0.01, BJ_CONFIDENCE_HIGH);
        put(&pair[i], "memory.full.read_gbs", i == 0 ? 40 : 20, 0.01, BJ_CONFIDENCE_HIGH);
        bj_answer *answer = put(&pair[i], "cache.L3.sharing", 0, 0, BJ_CONFIDENCE_HIGH);
        answer->structured = strdup(i == 0 ? "[]" : "[[0, 1]]");
    }
    bj_comparison comparison = compare(pair);
    assert_true(comparison.certain_count == 3 && comparison.count == 3);
    bj_report_free_comparison(&comparison);
    pair[1].environment.virtualised = 1;
    comparison = compare(pair);
    assert_true(comparison.certain_count == 1 && comparison.count == 3);
    assert_string_equal(comparison.items[0].key, "memory.read_gbs");
    bj_report_free_comparison(&comparison);
    /* Six runs have seen them move, or they do not. */
    bj_profile many[12];
    for (size_t i = 0; i < 12; i++)
        many[i] = pair[i / 6];
    comparison = compare_sets(many, 6, many + 6, 6);
    assert_int_equal(comparison.certain_count, 3);
    bj_report_free_comparison(&comparison);
}

static size_t count_certain_clocks(bj_profile *pair, double first, double second) {
    for (int i = 0; i < 2; i++)
        strcpy(put(&pair[i], "cpu.clock_ghz", i == 0 ? first : second, 0.001, BJ_CONFIDENCE_HIGH)->unit, "GHz");
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.count, 1);
    size_t certain = comparison.certain_count;
    bj_report_free_comparison(&comparison);
    return certain;
}

/* The clock that a host boosts to is that of the core a virtual cpu is on, and of what runs beside it. */
static void test_virtual_clock(void **state) {
    bj_profile *pair = *state;
    assert_int_equal(count_certain_clocks(pair, 4.3, 4.5), 1);
    pair[0].environment.virtualised = 1;
    assert_int_equal(count_certain_clocks(pair, 4.3, 4.5), 0);
    assert_int_equal(count_certain_clocks(pair, 3, 4.5), 1);
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

/* The same difference beside a hundred that are none: what one in a hundred single numbers reaches no longer counts. */
static void test_many_numbers(void **state) {
    bj_profile *pair = *state;
    double half = log(2) / 4 / sqrt(2) * 2.5706; /* four standard errors: one in 400 */
    for (int i = 0; i < 2; i++)
        put(&pair[i], "a.changed", i == 0 ? 100 : 200, 1 - exp(-half), BJ_CONFIDENCE_HIGH);
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 1);
    bj_report_free_comparison(&comparison);
    for (int i = 0; i < 200; i++) {
        char key[64];
        snprintf(key, sizeof key, "b.same%d", i / 2);
        put(&pair[i % 2], key, 100, 0.01, BJ_CONFIDENCE_HIGH);
    }
    comparison = compare(pair);
    assert_int_equal(comparison.compared, 101);
    assert_int_equal(comparison.certain_count, 0);
    assert_int_equal(comparison.count, 1); /* but it is mentioned */
    assert_true(comparison.items[0].p > 0.001 && comparison.items[0].p < 0.005);
    bj_report_free_comparison(&comparison);
    /* What is low cannot count, and makes the others no less sure. */
    for (size_t i = 1; i < pair[0].answers.count; i++)
        pair[0].answers.items[i].confidence = BJ_CONFIDENCE_LOW;
    comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 1);
    bj_report_free_comparison(&comparison);
}

/* More rounds behind the same interval: less chance that it is so narrow by luck. 5.6 standard errors beside a hundred
 * numbers are not enough from six rounds each, and are from sixty. */
static void check_rounds(bj_profile *pair, size_t rounds, size_t certain) {
    for (int i = 0; i < 2; i++) {
        bj_curve *curve;
        bj_error error;
        bj_data_drop_curves(&pair[i].curves, "a");
        assert_int_equal(bj_data_add_curve(&pair[i].curves, "a.curve", "a", &curve, &error), BJ_OK);
        assert_int_equal(bj_data_make_grid(curve, 1, rounds, &error), BJ_OK);
    }
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, certain);
    assert_int_equal(comparison.count, 1);
    bj_report_free_comparison(&comparison);
}

static void test_rounds(void **state) {
    bj_profile *pair = *state;
    double half = log(2) / 5.6 / sqrt(2) * 2.5706;
    for (int i = 0; i < 2; i++)
        bj_data_cite_curve(put(&pair[i], "a.changed", i == 0 ? 100 : 200, 1 - exp(-half), BJ_CONFIDENCE_HIGH),
                           "a.curve");
    for (int i = 0; i < 200; i++) {
        char key[64];
        snprintf(key, sizeof key, "b.same%d", i / 2);
        put(&pair[i % 2], key, 100, 0.01, BJ_CONFIDENCE_HIGH);
    }
    check_rounds(pair, 6, 0);
    check_rounds(pair, 60, 1);
}

/* A clock of four fifths: times and rates that follow it are of one cause, others are not. */
static void test_clock(void **state) {
    bj_profile *pair = *state;
    for (int i = 0; i < 2; i++) {
        put(&pair[i], "cpu.clock_ghz", i == 0 ? 4 : 3, 0.001, BJ_CONFIDENCE_HIGH);
        strcpy(put(&pair[i], "cache.L1.latency_ns", i == 0 ? 1 : 1.333, 0.01, BJ_CONFIDENCE_HIGH)->unit, "ns");
        strcpy(put(&pair[i], "cache.L1.read_gbs", i == 0 ? 100 : 75, 0.01, BJ_CONFIDENCE_HIGH)->unit, "GB/s");
        strcpy(put(&pair[i], "memory.latency_ns", i == 0 ? 90 : 30, 0.01, BJ_CONFIDENCE_HIGH)->unit, "ns");
    }
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 4);
    for (size_t i = 0; i < comparison.count; i++)
        assert_int_equal(comparison.items[i].follows_clock, strstr(comparison.items[i].key, "L1") != NULL);
    assert_false(comparison.other_machine);
    bj_report_free_comparison(&comparison);
}

static void test_other_machine(void **state) {
    bj_profile *pair = *state;
    for (int i = 0; i < 24; i++) {
        char key[64];
        snprintf(key, sizeof key, "a.number%d", i / 2);
        put(&pair[i % 2], key, i % 2 == 1 && i < 14 ? 200 : 100, 0.01, BJ_CONFIDENCE_HIGH);
    }
    bj_comparison comparison = compare(pair);
    assert_int_equal(comparison.certain_count, 7);
    assert_true(comparison.other_machine);
    assert_string_equal(comparison.summary, "7 of 12 numbers differ");
    bj_report_free_comparison(&comparison);
    put(&pair[1], "a.number0", 100, 0.01, BJ_CONFIDENCE_HIGH);
    comparison = compare(pair);
    assert_false(comparison.other_machine);
    bj_report_free_comparison(&comparison);
}

/* Levels of the same number that have nothing to do with each other are not partners. */
static void test_other_levels(void **state) {
    bj_profile *pair = *state;
    put_levels(&pair[0], (double[]){32768, 1048576, 33554432}, 3);
    put_levels(&pair[1], (double[]){32768, 65536, 1048576}, 3);
    bj_level_match match;
    bj_report_match_levels(&bj_level_families[0], &pair[0].answers, &pair[1].answers, &match);
    assert_int_equal(match.partner_of_a[1], 1);
    assert_int_equal(match.partner_of_a[2], 3);
    assert_int_equal(match.partner_of_a[3], 0);
    assert_int_equal(match.partner_of_b[2], 0);
    bj_comparison comparison = compare(pair);
    assert_true(comparison.other_machine);
    bj_report_free_comparison(&comparison);
}

enum { SET = 5 };

/* Profiles of one machine whose values lie around `value` by a tenth to either side. */
static void put_set(bj_profile *set, double value, bj_confidence confidence) {
    static const double factors[SET] = {1, 0.9, 1.1, 0.95, 1.05};
    for (int i = 0; i < SET; i++) {
        bj_profile_init(&set[i]);
        put(&set[i], "memory.read_gbs", value * factors[i], 0.001, confidence);
    }
}

static void free_set(bj_profile *set) {
    for (int i = 0; i < SET; i++)
        bj_profile_free(&set[i]);
}

/* The spread between profiles is in the interval: two of them may differ, and the sets do not. */
static void test_sets(void **state) {
    (void)state;
    bj_profile a[SET], b[SET];
    put_set(a, 100, BJ_CONFIDENCE_HIGH);
    put_set(b, 112, BJ_CONFIDENCE_HIGH);
    bj_comparison comparison = compare_sets(&a[1], 1, &b[2], 1); /* 90 and 123 */
    assert_int_equal(comparison.certain_count, 1);
    bj_report_free_comparison(&comparison);
    comparison = compare_sets(a, SET, b, SET);
    assert_int_equal(comparison.compared, 1);
    assert_int_equal(comparison.count, 0);
    assert_int_equal(comparison.a.profile_count, SET);
    const bj_answer *answer = &comparison.a.answers.items[0];
    assert_true(answer->value == 100 && answer->confidence == BJ_CONFIDENCE_HIGH);
    /* Standard deviation 0.079, of the median of five 0.044, times 2.26. */
    assert_true(answer->interval[0] > 89 && answer->interval[0] < 91.5);
    assert_true(answer->interval[1] > 109.5 && answer->interval[1] < 112);
    bj_report_free_comparison(&comparison);
    free_set(b);
    put_set(b, 200, BJ_CONFIDENCE_HIGH);
    comparison = compare_sets(a, SET, b, SET);
    assert_int_equal(comparison.certain_count, 1);
    bj_report_free_comparison(&comparison);
    free_set(a);
    free_set(b);
}

/* One run of five that saw a level too many, or no answer, changes nothing; two answers of five are little. */
static void test_odd_ones_of_a_set(void **state) {
    (void)state;
    bj_profile set[SET];
    put_set(set, 100, BJ_CONFIDENCE_HIGH);
    for (int i = 0; i < SET; i++) {
        if (i == 0)
            put_levels(&set[i], (double[]){32768, 400000, 1048576}, 3);
        else
            put_levels(&set[i], (double[]){32768, 1048576}, 2);
        put(&set[i], "a.rare", 1, 0, BJ_CONFIDENCE_HIGH);
        put(&set[i], "b.moving", 1, 0, BJ_CONFIDENCE_MEDIUM)->status = i < 3 ? BJ_ANSWER_UNSTABLE : BJ_ANSWER_OK;
        if (i > 1)
            set_status(put(&set[i], "a.rare", 1, 0, BJ_CONFIDENCE_HIGH), BJ_ANSWER_UNDETERMINED);
    }
    bj_compared compared;
    bj_error error;
    assert_int_equal(bj_report_gather((bj_profile_set){set, SET}, &compared, &error), BJ_OK);
    double number;
    assert_true(bj_data_get_number(&compared.answers, "cache.levels", &number) && number == 2);
    assert_true(bj_data_get_number(&compared.answers, "cache.L2.capacity_bytes", &number) && number == 1048576);
    assert_null(bj_data_find_answer(&compared.answers, "cache.L3.capacity_bytes"));
    assert_int_equal(bj_data_find_answer(&compared.answers, "a.rare")->status, BJ_ANSWER_UNDETERMINED);
    assert_int_equal(bj_data_find_answer(&compared.answers, "b.moving")->status, BJ_ANSWER_UNSTABLE);
    bj_report_free_compared(&compared);
    free_set(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_chance),
        cmocka_unit_test_setup_teardown(test_many_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_levels, setup, teardown),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_odd_ones_of_a_set),
        cmocka_unit_test_setup_teardown(test_halved_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vanished_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_doubtful_level, setup, teardown),
        cmocka_unit_test_setup_teardown(test_status, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unstable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_structures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_virtual_cpus, setup, teardown),
        cmocka_unit_test_setup_teardown(test_virtual_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_notes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
