/* The bandwidth probe: its answers on made-up curves, and what it measures of a small simulated machine. */
#include "measure_fixture.h"

#include <stdio.h>

#define KIB 1024.0
#define MIB 1048576.0

enum { ROUNDS = 10, LEVELS = 3, ORDINARY = 3 };

static const char *const levels[LEVELS] = {"cache.L1", "cache.L2", "memory"};
static const double buffers[LEVELS] = {16 * KIB, 128 * KIB, 4 * MIB};

static const struct {
    const char *name, *curve;
    double gbs[LEVELS];
} kinds[] = {{"read", "bandwidth.read", {100, 50, 10}},
             {"write", "bandwidth.write", {60, 30, 8}},
             {"copy", "bandwidth.copy", {80, 40, 9}},
             {"read_best", "bandwidth.read_best", {110, 55, 11}},
             {"write_best", "bandwidth.write_best", {66, 33, 8.8}},
             {"copy_best", "bandwidth.copy_best", {88, 44, 9.9}},
             /* Of memory alone. */
             {"write_past", "bandwidth.write_past", {0, 0, 12}},
             {"copy_past", "bandwidth.copy_past", {0, 0, 13}},
             {"write_past_best", "bandwidth.write_past_best", {0, 0, 12.5}},
             {"copy_past_best", "bandwidth.copy_past_best", {0, 0, 13.5}}};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])
#define PAST_COUNT 4u

/* How many of the kinds a level has. */
static size_t kinds_of(size_t level) {
    return level + 1 < LEVELS ? KIND_COUNT - PAST_COUNT : KIND_COUNT;
}

/* A rate falls by the factor of its round. */
static void put_level(fixture *made, size_t level, double bytes, size_t rounds, double (*factor)(size_t round)) {
    for (size_t round = 0; round < rounds; round++)
        for (size_t k = 0; k < kinds_of(level); k++)
            put_sample(made, kinds[k].curve, "bandwidth", bytes, round, kinds[k].gbs[level] / factor(round));
}

static void open_rounds(fixture *made, size_t rounds, double (*factor)(size_t round)) {
    open_fixture(made);
    for (size_t level = 0; level < LEVELS; level++)
        put_level(made, level, buffers[level], rounds, factor);
    run_analysis(made, "bandwidth");
}

static const char *key_of(size_t level, size_t kind) {
    static char key[64];
    snprintf(key, sizeof key, "%s.%s_gbs", levels[level], kinds[kind].name);
    return key;
}

static void expect_all(const fixture *made, bj_confidence confidence) {
    for (size_t level = 0; level < LEVELS; level++)
        for (size_t k = 0; k < kinds_of(level); k++)
            expect_answer(made, key_of(level, k), kinds[k].gbs[level], 0.001, confidence);
}

static void test_rounds_that_agree(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, ROUNDS, agree);
    expect_all(&made, BJ_CONFIDENCE_HIGH);
    assert_int_equal(made.answers.count, LEVELS * KIND_COUNT - (LEVELS - 1) * PAST_COUNT);
    assert_string_equal(get_answer(&made, "cache.L2.copy_gbs")->evidence[0], "bandwidth.copy");
    assert_string_equal(get_answer(&made, "memory.copy_past_best_gbs")->evidence[0], "bandwidth.copy_past_best");
    close_fixture(&made);
}

static void test_few_rounds_are_low(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, 4, agree);
    expect_all(&made, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* The median of the rounds: one that was disturbed, or lucky, does not move it. */
static void test_a_round_apart(void **state) {
    (void)state;
    const double apart[] = {2, 25};
    for (size_t i = 0; i < 2; i++) {
        fixture made;
        open_rounds(&made, 2 * ROUNDS, agree);
        put_sample(&made, "bandwidth.read", "bandwidth", buffers[2], 3, apart[i]);
        run_analysis(&made, "bandwidth");
        expect_all(&made, BJ_CONFIDENCE_HIGH);
        close_fixture(&made);
    }
}

/* A third of the rounds a fifth faster: what is sustained is what most rounds say, the best what the fast ones do. */
static double faster_now_and_then(size_t round) {
    return round % 3 == 0 ? 1 / 1.2 : 1;
}

static void test_sustained_and_best(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, 2 * ROUNDS, faster_now_and_then);
    expect_answer(&made, "memory.read_gbs", 10, 0.001, get_answer(&made, "memory.read_gbs")->confidence);
    expect_answer(&made, "memory.read_best_gbs", 11 * 1.2, 0.001, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_rounds_that_differ(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_level(&made, 0, buffers[0], ROUNDS, agree);
    put_level(&made, 1, buffers[1], ROUNDS, agree);
    put_level(&made, 2, buffers[2], ROUNDS, differ);
    run_analysis(&made, "bandwidth");
    for (size_t k = 0; k < KIND_COUNT; k++) {
        const char *key = key_of(2, k);
        expect_unstable(&made, key, kinds[k].gbs[2] / pow(1.3, 9) * 1.001, get_answer(&made, key)->value);
        expect_unstable(&made, key, get_answer(&made, key)->value, kinds[k].gbs[2]);
    }
    for (size_t k = 0; k < kinds_of(1); k++)
        expect_answer(&made, key_of(1, k), kinds[k].gbs[1], 0.001, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

/* A level without a buffer of its own gets no other level's rate. */
static void test_levels_without_a_buffer(void **state) {
    (void)state;
    for (size_t missing = 0; missing < LEVELS; missing++) {
        fixture made;
        open_fixture(&made);
        for (size_t level = 0; level < LEVELS; level++)
            if (level != missing)
                put_level(&made, level, buffers[level], ROUNDS, agree);
        run_analysis(&made, "bandwidth");
        for (size_t level = 0; level < LEVELS; level++)
            for (size_t k = 0; k < kinds_of(level); k++)
                if (level == missing)
                    expect_undetermined(&made, key_of(level, k),
                                        k < KIND_COUNT - PAST_COUNT ? "no buffer" : "not measured");
                else
                    expect_answer(&made, key_of(level, k), kinds[k].gbs[level], 0.001, BJ_CONFIDENCE_HIGH);
        close_fixture(&made);
    }
}

static void test_no_answer(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    run_analysis(&made, "bandwidth");
    for (size_t level = 0; level < LEVELS; level++)
        expect_undetermined(&made, key_of(level, 0), "not measured");
    bj_data_free_answers(&made.earlier);
    run_analysis(&made, "bandwidth");
    for (size_t k = 0; k < KIND_COUNT; k++)
        expect_undetermined(&made, key_of(2, k), "caches are not known");
    /* Buffers alone do not tell whose rates these are. */
    put_level(&made, 0, buffers[0], ROUNDS, agree);
    run_analysis(&made, "bandwidth");
    expect_undetermined(&made, "memory.read_gbs", "caches are not known");
    close_fixture(&made);
}

/* Some of a buffer that is twice the nearer level may have come from there: the rest was slower. */
static void test_a_buffer_near_the_nearer_level(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_level(&made, 0, buffers[0], ROUNDS, agree);
    put_level(&made, 1, 64 * KIB, ROUNDS, agree);
    put_level(&made, 2, buffers[2], ROUNDS, agree);
    run_analysis(&made, "bandwidth");
    expect_answer(&made, "cache.L2.read_gbs", 50, 0.001, BJ_CONFIDENCE_MEDIUM);
    assert_true(get_answer(&made, "cache.L2.read_gbs")->interval[0] < 0.95 * 50);
    close_fixture(&made);
    /* Of memory, twice the last level is too little to be sure of anything. */
    open_fixture(&made);
    put_level(&made, 0, buffers[0], ROUNDS, agree);
    put_level(&made, 1, buffers[1], ROUNDS, agree);
    put_level(&made, 2, 512 * KIB, ROUNDS, agree);
    run_analysis(&made, "bandwidth");
    expect_answer(&made, "memory.read_gbs", 10, 0.001, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* One buffer inside each level and well outside the nearer one, one well beyond all, in every round. */
static void expect_buffers(const bj_curve *curve, uint64_t memory_bytes, double memory_gbs) {
    assert_string_equal(curve->probe, "bandwidth");
    assert_string_equal(curve->x_unit, "bytes");
    assert_string_equal(curve->y_unit, "GB/s");
    assert_int_equal(curve->x_count, LEVELS);
    assert_int_equal(curve->round_count, 6);
    assert_true(curve->x[0] <= 32 * KIB);
    assert_true(curve->x[1] >= 2 * 32 * KIB && curve->x[1] <= 256 * KIB);
    assert_true(curve->x[2] >= 4 * 256 * KIB && curve->x[2] <= (double)memory_bytes);
    /* What the machine's file says, whatever the kind; frames of base pages may overfill a set of the second level. */
    const double gbs[LEVELS] = {100, 50, memory_gbs};
    for (size_t round = 0; round < curve->round_count; round++)
        for (size_t i = 0; i < LEVELS; i++)
            assert_true(fabs(curve->rounds[round][i] / gbs[i] - 1) < (i == 1 ? 0.3 : 0.001));
}

static void test_measures_streams(void **state) {
    (void)state;
    const uint64_t memory[] = {8 * TESTED_MIB, 256 * TESTED_MIB};
    double largest[2];
    for (size_t i = 0; i < 2; i++) {
        measuring m;
        open_measuring(&m, small_machine, memory[i]);
        assert_int_equal(measure_probe(&m, "bandwidth"), BJ_OK);
        for (size_t k = 0; k < 2 * ORDINARY; k++)
            expect_buffers(get_curve(&m, kinds[k].curve), memory[i], 10);
        for (size_t k = KIND_COUNT - PAST_COUNT; k < KIND_COUNT; k++) {
            const bj_curve *curve = get_curve(&m, kinds[k].curve);
            assert_int_equal(curve->x_count, 1);
            assert_true(fabs(curve->rounds[5][0] / 10 - 1) < 0.001);
        }
        largest[i] = get_curve(&m, "bandwidth.read")->x[2];
        run_analysis(&m.made, "bandwidth");
        expect_answer(&m.made, "cache.L1.read_gbs", 100, 0.001, BJ_CONFIDENCE_HIGH);
        expect_answer(&m.made, "memory.copy_gbs", 10, 0.001, BJ_CONFIDENCE_HIGH);
        expect_answer(&m.made, "memory.copy_best_gbs", 10, 0.001, BJ_CONFIDENCE_HIGH);
        expect_answer(&m.made, "memory.copy_past_gbs", 10, 0.001, BJ_CONFIDENCE_HIGH);
        close_measuring(&m);
    }
    /* Last levels that the cache probe may have missed: more memory is used where it may be. */
    assert_true(largest[1] > largest[0]);
}

/* No buffer beyond the last level is allowed: memory's rate is not to be had. */
static void test_little_memory(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, TESTED_MIB / 4);
    assert_int_equal(measure_probe(&m, "bandwidth"), BJ_OK);
    const bj_curve *curve = get_curve(&m, "bandwidth.read");
    assert_true(curve->x_count > 0 && curve->x[curve->x_count - 1] <= 256 * KIB);
    run_analysis(&m.made, "bandwidth");
    expect_answer(&m.made, "cache.L1.read_gbs", 100, 0.001, BJ_CONFIDENCE_HIGH);
    expect_undetermined(&m.made, "memory.read_gbs", "no buffer");
    close_measuring(&m);
}

static void expect_unsupported(const fixture *made, const char *key, const char *reason) {
    const bj_answer *answer = get_answer(made, key);
    if (answer->status != BJ_ANSWER_UNSUPPORTED || strstr(answer->reason, reason) == NULL)
        fail_msg("%s: %s, \"%s\"", key, bj_data_name_status(answer->status), answer->reason);
}

/* A machine of which no stores past the caches are known: the rest is measured. */
static bj_status refuse_past(bj_machine *machine, const bj_stream *streams, size_t count,
                             const bj_stream_effort *effort, double *gbs, bj_error *error) {
    if (streams->past_caches)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "none here");
    return measured->verbs->run_streams(machine, streams, count, effort, gbs, error);
}

static void test_no_stores_past_the_caches(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, 8 * TESTED_MIB);
    m.counting.run_streams = refuse_past;
    expect_late_rounds(&m, "bandwidth", 2);
    run_analysis(&m.made, "bandwidth");
    for (size_t k = KIND_COUNT - PAST_COUNT; k < KIND_COUNT; k++)
        expect_unsupported(&m.made, key_of(2, k), "past the caches");
    expect_answer(&m.made, "memory.write_gbs", 10, 0.001, BJ_CONFIDENCE_HIGH);
    close_measuring(&m);
}

/* The same buffers and pages, though the caches look otherwise by now and less memory may be used. */
static void test_late_rounds(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, 8 * TESTED_MIB);
    expect_late_rounds(&m, "bandwidth", 3);
    const bj_curve *curve = get_curve(&m, "bandwidth.read");
    assert_int_equal(curve->round_count, 9);
    assert_true(bj_data_has_attribute_text(curve, "pages", "base"));
    put_number(&m.made.earlier, "cache.L2.capacity_bytes", 400000);
    m.request.memory_bytes -= 256 * 1024;
    assert_int_equal(measure_probe(&m, "bandwidth"), BJ_OK);
    curve = get_curve(&m, "bandwidth.read");
    assert_int_equal(curve->x_count, LEVELS);
    assert_int_equal(curve->round_count, 12);
    for (size_t i = 0; i < LEVELS; i++)
        assert_true(has_point(curve, curve->x[i], 11));
    /* Not more than may be used, and nothing that makes no sense. */
    m.request.memory_bytes = TESTED_MIB;
    m.most_bytes = 0;
    assert_int_equal(measure_probe(&m, "bandwidth"), BJ_OK);
    assert_int_equal(get_curve(&m, "bandwidth.read")->round_count, 12);
    close_measuring(&m);
    open_measuring(&m, small_machine, 8 * TESTED_MIB);
    m.request.more_rounds = 3;
    put_sample(&m.made, "bandwidth.read", "bandwidth", 1000, 0, 10);
    assert_int_equal(measure_probe(&m, "bandwidth"), BJ_OK);
    assert_int_equal(get_curve(&m, "bandwidth.read")->round_count, 1);
    close_measuring(&m);
}

static void test_measures_nothing(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, 8 * TESTED_MIB);
    bj_data_free_answers(&m.made.earlier);
    assert_int_equal(measure_probe(&m, "bandwidth"), BJ_OK);
    for (size_t k = 0; k < KIND_COUNT; k++)
        expect_no_sample(&m, kinds[k].curve);
    run_analysis(&m.made, "bandwidth");
    expect_undetermined(&m.made, "memory.read_gbs", "caches are not known");
    close_measuring(&m);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("bandwidth", small_machine, 4 * TESTED_MIB);
    expect_interruption("bandwidth", small_machine, 4 * TESTED_MIB);
    expect_deadline("bandwidth", "bandwidth.read", small_machine, 4 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_that_agree),
        cmocka_unit_test(test_few_rounds_are_low),
        cmocka_unit_test(test_a_round_apart),
        cmocka_unit_test(test_sustained_and_best),
        cmocka_unit_test(test_rounds_that_differ),
        cmocka_unit_test(test_levels_without_a_buffer),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_a_buffer_near_the_nearer_level),
        cmocka_unit_test(test_measures_streams),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_no_stores_past_the_caches),
        cmocka_unit_test(test_late_rounds),
        cmocka_unit_test(test_measures_nothing),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
