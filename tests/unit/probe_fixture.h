/* A made-up run for the analysis of a probe: curves, what the cache probe found, and what is answered. */
#ifndef BJ_TESTS_UNIT_PROBE_FIXTURE_H
#define BJ_TESTS_UNIT_PROBE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probes/probe.h"

typedef struct {
    bj_curves samples;
    bj_answers earlier, answers;
} fixture;

static inline void put_number(bj_answers *answers, const char *key, double value) {
    bj_answer *answer = NULL;
    bj_error error = {""};
    assert_int_equal(bj_data_put_answer(answers, key, "", &answer, &error), BJ_OK);
    answer->value = value;
}

/* Two levels: 4 and 12 ns, 32 and 256 KiB, and memory at 100 ns. */
static inline void open_fixture(fixture *made) {
    *made = (fixture){0};
    put_number(&made->earlier, "cache.levels", 2);
    put_number(&made->earlier, "cache.L1.latency_ns", 4);
    put_number(&made->earlier, "cache.L2.latency_ns", 12);
    put_number(&made->earlier, "memory.latency_ns", 100);
    put_number(&made->earlier, "cache.L1.capacity_bytes", 32768);
    put_number(&made->earlier, "cache.L2.capacity_bytes", 262144);
}

static inline void close_fixture(fixture *made) {
    bj_data_free_curves(&made->samples);
    bj_data_free_answers(&made->earlier);
    bj_data_free_answers(&made->answers);
}

static inline void put_sample(fixture *made, const char *id, const char *probe, double x, size_t round, double y) {
    bj_error error = {""};
    bj_curve *curve = (bj_curve *)bj_data_find_curve(&made->samples, id);
    if (curve == NULL)
        assert_int_equal(bj_data_add_curve(&made->samples, id, probe, &curve, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, x, round, y, &error), BJ_OK);
}

/* Factors of a round's times: within a thousandth of each other, or so far apart that no two rounds agree. */
static inline double agree(size_t round) {
    return 1 + 0.0001 * (double)(round * 7 % 10);
}

static inline double differ(size_t round) {
    return pow(1.3, (double)(round * 7 % 10));
}

static inline bj_status try_analysis(fixture *made, const char *probe, bj_error *error) {
    bj_analyse_request request = {.earlier = &made->earlier, .seed = 1};
    bj_data_free_answers(&made->answers);
    return bj_probe_find(probe)->analyse(&made->samples, &request, &made->answers, error);
}

static inline void run_analysis(fixture *made, const char *probe) {
    bj_error error = {""};
    if (try_analysis(made, probe, &error) != BJ_OK)
        fail_msg("%s", error.text);
}

static inline const bj_answer *get_answer(const fixture *made, const char *key) {
    const bj_answer *answer = bj_data_find_answer(&made->answers, key);
    if (answer == NULL)
        fail_msg("no answer %s", key);
    return answer;
}

/* Right within this share of the truth, with an interval that holds it. */
static inline void expect_answer(const fixture *made, const char *key, double truth, double share,
                                 bj_confidence confidence) {
    const bj_answer *answer = get_answer(made, key);
    if (answer->status != BJ_ANSWER_OK || !(fabs(answer->value / truth - 1) <= share))
        fail_msg("%s: %s, %g where %g was expected", key, bj_data_name_status(answer->status), answer->value, truth);
    if (!answer->has_interval || answer->interval[0] > truth || answer->interval[1] < truth)
        fail_msg("%s: %g to %g do not hold %g", key, answer->interval[0], answer->interval[1], truth);
    if (answer->confidence != confidence)
        fail_msg("%s: confidence %s", key, bj_data_name_confidence(answer->confidence));
}

/* A value all the same, with the reason and an interval that holds these two. */
static inline void expect_unstable(const fixture *made, const char *key, double from, double to) {
    const bj_answer *answer = get_answer(made, key);
    assert_int_equal(answer->status, BJ_ANSWER_UNSTABLE);
    assert_true(answer->reason[0] != '\0');
    assert_true(answer->value >= from && answer->value <= to);
    assert_true(answer->has_interval && answer->interval[0] <= from && answer->interval[1] >= to);
    assert_true(answer->confidence < BJ_CONFIDENCE_HIGH);
}

static inline void expect_undetermined(const fixture *made, const char *key, const char *reason) {
    const bj_answer *answer = get_answer(made, key);
    assert_int_equal(answer->status, BJ_ANSWER_UNDETERMINED);
    assert_false(bj_data_has_value(answer));
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_NONE);
    if (strstr(answer->reason, reason) == NULL)
        fail_msg("%s: the reason is \"%s\", not \"%s\"", key, answer->reason, reason);
}

/* No value, but why: as the reason of an answer or as an error. */
static inline void expect_no_value(fixture *made, const char *probe, const char *key) {
    bj_error error = {""};
    double value;
    if (try_analysis(made, probe, &error) == BJ_OK)
        expect_undetermined(made, key, "");
    const bj_answer *answer = bj_data_find_answer(&made->answers, key);
    assert_true(error.text[0] != '\0' || (answer != NULL && answer->reason[0] != '\0'));
    assert_false(bj_data_get_number(&made->answers, key, &value));
}

#endif
