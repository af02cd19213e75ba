/* The line probe: its answers on made-up curves, and what it measures of a small simulated machine. */
#include "measure_fixture.h"

#include <stdio.h>
#include <string.h>

#include "probes/line/line_answer.h"

enum { ROUNDS = 7 };

/* `low` up to the extent and `high` beyond it, with a little scatter. */
static void put_curve(fixture *made, const char *id, double extent, double low, double high) {
    bj_error error = {""};
    bj_curve *curve = NULL;
    assert_int_equal(bj_data_add_curve(&made->samples, id, "line", &curve, &error), BJ_OK);
    for (size_t round = 0; round < ROUNDS; round++)
        for (double x = 16; x <= 512; x *= 2) {
            double y = (x <= extent ? low : high) * (1 + 0.002 * (double)((round * 5 + (size_t)x / 16) % 7));
            assert_int_equal(bj_data_record_sample(curve, x, round, y, &error), BJ_OK);
        }
}

static const bj_answer *analyse(fixture *made, const char *key) {
    bj_analyse_request request = {.earlier = &made->earlier, .seed = 1};
    bj_error error = {""};
    assert_int_equal(bj_line_analyse(&made->samples, &request, &made->answers, &error), BJ_OK);
    const bj_answer *answer = bj_data_find_answer(&made->answers, key);
    assert_non_null(answer);
    return answer;
}

static void expect(fixture *made, const char *key, double bytes, bj_confidence confidence) {
    const bj_answer *answer = analyse(made, key);
    assert_int_equal(answer->status, BJ_ANSWER_OK);
    assert_true(answer->value == bytes);
    assert_int_equal(answer->confidence, confidence);
}

static void expect_nothing(fixture *made, const char *key) {
    const bj_answer *answer = analyse(made, key);
    assert_int_equal(answer->status, BJ_ANSWER_UNDETERMINED);
    assert_true(answer->reason[0] != '\0');
}

static void test_witnesses_agree(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 12);
    put_curve(&made, BJ_LINE_SHARING, 64, 90, 1.2);
    expect(&made, "cache.line_bytes", 64, BJ_CONFIDENCE_HIGH);
    expect(&made, "cache.L1.line_bytes", 64, BJ_CONFIDENCE_HIGH);
    assert_non_null(strstr(analyse(&made, "cache.line_bytes")->method, "sharing"));
    expect_nothing(&made, "cache.fetch_bytes");
    close_fixture(&made);
}

/* Coherence by an outer level's longer line is cited, and takes nothing from the answer. */
static void test_cpus_share_more(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 12);
    put_curve(&made, BJ_LINE_SHARING, 128, 90, 1.2);
    expect(&made, "cache.line_bytes", 64, BJ_CONFIDENCE_HIGH);
    const bj_answer *answer = analyse(&made, "cache.line_bytes");
    assert_string_equal(answer->method, "");
    assert_int_equal(answer->evidence_count, 2);
    assert_string_equal(answer->evidence[1], BJ_LINE_SHARING);
    close_fixture(&made);
}

static void test_cpus_share_less(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_curve(&made, "line.L1", 128, 10, 12);
    put_curve(&made, BJ_LINE_SHARING, 64, 90, 1.2);
    static const char *const keys[] = {"cache.line_bytes", "cache.L1.line_bytes"};
    for (size_t i = 0; i < 2; i++) {
        const bj_answer *answer = analyse(&made, keys[i]);
        assert_int_equal(answer->status, BJ_ANSWER_UNSTABLE);
        assert_true(answer->value == 64 && answer->interval[1] == 128);
        assert_non_null(strstr(answer->reason, "128"));
        assert_int_equal(answer->confidence, BJ_CONFIDENCE_LOW);
    }
    close_fixture(&made);
}

/* Half of the rounds saw no contention at 64 bytes: the cpus did not run at once, and are not believed. */
static void test_cpus_that_did_not_meet(void **state) {
    (void)state;
    fixture made;
    bj_error error = {""};
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 12);
    put_curve(&made, BJ_LINE_SHARING, 64, 90, 1.2);
    bj_curve *curve = (bj_curve *)bj_data_find_curve(&made.samples, BJ_LINE_SHARING);
    for (size_t round = 0; round < 4; round++)
        assert_int_equal(bj_data_record_sample(curve, 64, round, 1.2, &error), BJ_OK);
    expect(&made, "cache.line_bytes", 64, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

/* Cpus that share all caches, or are never there at the same time. */
static void test_no_second_witness(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_curve(&made, "line.L1", 32, 10, 12);
    put_curve(&made, BJ_LINE_SHARING, 64, 1.3, 1.2);
    expect(&made, "cache.line_bytes", 32, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_nothing_rises(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 10.05);
    expect_nothing(&made, "cache.line_bytes");
    close_fixture(&made);
}

static void test_outer_levels(void **state) {
    (void)state;
    fixture made;
    /* As the first one's. */
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 12);
    put_curve(&made, "line.L2", 64, 76, 100);
    expect(&made, "cache.L2.line_bytes", 64, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
    /* Longer lines or neighbours fetched along: only other cpus can tell. */
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 12);
    put_curve(&made, "line.L2", 128, 76, 100);
    expect_nothing(&made, "cache.L2.line_bytes");
    put_curve(&made, BJ_LINE_SHARING, 128, 90, 1.2);
    expect(&made, "cache.L2.line_bytes", 128, BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
    /* No walk of its own, but nothing comes along from memory. */
    open_fixture(&made);
    put_curve(&made, "line.L1", 64, 10, 12);
    put_curve(&made, BJ_LINE_MEMORY, 64, 52, 100);
    expect(&made, "cache.L2.line_bytes", 64, BJ_CONFIDENCE_MEDIUM);
    expect(&made, "cache.fetch_bytes", 64, BJ_CONFIDENCE_HIGH);
    /* Unless its own walk says otherwise. */
    put_curve(&made, "line.L2", 128, 76, 100);
    expect_nothing(&made, "cache.L2.line_bytes");
    close_fixture(&made);
}

/* Two cpus with caches of their own, lines of 32 bytes. */
static const char *const short_lines =
    "{\"name\": \"short lines\", \"cpus\": 2, \"clock_ghz\": 2.0, \"caches\": ["
    "{\"size\": 32768, \"line\": 32, \"ways\": 8, \"latency\": 8}, "
    "{\"size\": 262144, \"line\": 32, \"ways\": 8, \"latency\": 24}], \"memory\": {\"latency\": 200}}";

/* The second level's walk is too much for a quick run. */
static void open_normal(measuring *m) {
    open_measuring(m, short_lines, 128 * TESTED_MIB);
    m->request.effort = BJ_EFFORT_NORMAL;
}

static void expect_lines(measuring *m, double bytes, bj_confidence of_memory) {
    run_analysis(&m->made, "line");
    expect_answer(&m->made, "cache.line_bytes", bytes, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&m->made, "cache.L2.line_bytes", bytes, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&m->made, "cache.fetch_bytes", bytes, 0, of_memory);
}

static void test_measures_lines(void **state) {
    (void)state;
    measuring m;
    open_normal(&m);
    assert_int_equal(measure_probe(&m, "line"), BJ_OK);
    assert_int_equal(get_curve(&m, "line.L2")->round_count, 6);
    assert_true(get_curve(&m, "line.L2")->x[0] == 32);
    assert_true(get_curve(&m, BJ_LINE_MEMORY)->x[0] == 32);
    expect_lines(&m, 32, BJ_CONFIDENCE_LOW);
    close_measuring(&m);
}

/* With what exploring found the first time; a round of memory and six later ones are enough for more than low. */
static void test_late_rounds(void **state) {
    (void)state;
    measuring m;
    open_normal(&m);
    expect_late_rounds(&m, "line", 3);
    assert_int_equal(get_curve(&m, BJ_LINE_FIRST)->round_count, 9);
    assert_int_equal(get_curve(&m, BJ_LINE_SHARING)->round_count, 9);
    assert_int_equal(get_curve(&m, BJ_LINE_MEMORY)->round_count, 4);
    expect_lines(&m, 32, BJ_CONFIDENCE_LOW);
    m.request.seed++;
    assert_int_equal(measure_probe(&m, "line"), BJ_OK);
    assert_int_equal(get_curve(&m, BJ_LINE_MEMORY)->round_count, 7);
    expect_lines(&m, 32, BJ_CONFIDENCE_HIGH);
    close_measuring(&m);
}

static void test_late_pages(void **state) {
    (void)state;
    static const char *const huge_pages =
        "{\"name\": \"huge pages\", \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 8}, "
        "{\"size\": 262144, \"ways\": 8, \"latency\": 24}], \"page\": {\"huge\": 2097152}}";
    expect_same_pages("line", BJ_LINE_FIRST, huge_pages, 64 * TESTED_MIB);
    expect_same_pages("line", BJ_LINE_MEMORY, huge_pages, 64 * TESTED_MIB);
}

static void test_little_memory(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, short_lines, TESTED_MIB / 2);
    assert_int_equal(measure_probe(&m, "line"), BJ_OK);
    expect_no_sample(&m, BJ_LINE_FIRST);
    expect_no_value(&m.made, "line", "cache.line_bytes");
    close_measuring(&m);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("line", short_lines, 64 * TESTED_MIB);
    expect_interruption("line", short_lines, 64 * TESTED_MIB);
    expect_deadline("line", BJ_LINE_FIRST, short_lines, 64 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_witnesses_agree),
        cmocka_unit_test(test_cpus_share_more),
        cmocka_unit_test(test_cpus_share_less),
        cmocka_unit_test(test_no_second_witness),
        cmocka_unit_test(test_cpus_that_did_not_meet),
        cmocka_unit_test(test_nothing_rises),
        cmocka_unit_test(test_outer_levels),
        cmocka_unit_test(test_measures_lines),
        cmocka_unit_test(test_late_rounds),
        cmocka_unit_test(test_late_pages),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
