/* The associativity probe: its answers on made-up curves, and what it measures of small simulated machines. */
#include "measure_fixture.h"

#include "probes/associativity/associativity_answer.h"

enum { ROUNDS = 7 };

static void put_time(fixture *made, const bj_conflict_walk *walk, double lines, size_t round, double ns) {
    bj_error error = {""};
    bj_curve *curve;
    assert_int_equal(bj_associativity_open_curve(&made->samples, walk, &curve, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, lines, round, ns, &error), BJ_OK);
}

/* First level: up to `ways` lines hit, one more costs `beyond`, in all rounds. */
static void put_curve(fixture *made, size_t stride, size_t sets, double ways, double beyond) {
    const bj_conflict_walk walk = {1, stride, sets, 256};
    for (size_t round = 0; round < ROUNDS; round++) {
        put_time(made, &walk, ways, round, 4.05);
        put_time(made, &walk, ways + 1, round, beyond);
    }
}

static void put_four(fixture *made, size_t stride, double ways, double beyond) {
    for (unsigned i = 0; i < 4; i++)
        put_curve(made, stride << (i & 1), (size_t)1 << (i >> 1), ways, beyond);
}

static bj_answer answer_first(fixture *made) {
    bj_analyse_request request = {.earlier = &made->earlier, .seed = 1};
    bj_answers answers = {0};
    bj_error error = {""};
    assert_int_equal(bj_associativity_analyse(&made->samples, &request, &answers, &error), BJ_OK);
    const bj_answer *found = bj_data_find_answer(&answers, "cache.L1.associativity");
    assert_non_null(found);
    /* The second has no curves: undetermined, with the reason. */
    const bj_answer *second = bj_data_find_answer(&answers, "cache.L2.associativity");
    assert_non_null(second);
    assert_int_equal(second->status, BJ_ANSWER_UNDETERMINED);
    assert_true(second->reason[0] != '\0');
    bj_answer answer = *found;
    bj_data_free_answers(&answers);
    return answer;
}

static void expect_ways(fixture *made, double ways, bj_confidence confidence) {
    bj_answer answer = answer_first(made);
    assert_int_equal(answer.status, BJ_ANSWER_OK);
    assert_true(answer.value == ways);
    assert_int_equal(answer.confidence, confidence);
    close_fixture(made);
}

static void expect_nothing(fixture *made) {
    bj_answer answer = answer_first(made);
    assert_int_equal(answer.status, BJ_ANSWER_UNDETERMINED);
    assert_true(answer.reason[0] != '\0');
    close_fixture(made);
}

static void test_four_curves_that_agree(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_four(&made, 4096, 8, 12);
    expect_ways(&made, 8, BJ_CONFIDENCE_HIGH);
    /* One line too many under random replacement: a tenth of the misses. */
    open_fixture(&made);
    put_four(&made, 4096, 8, 4.8);
    expect_ways(&made, 8, BJ_CONFIDENCE_HIGH);
}

static void test_more_sets_must_show_the_same(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (unsigned i = 0; i < 2; i++) {
        put_curve(&made, 4096u << i, 1, 12, 12);
        put_curve(&made, 4096u << i, 2, 10, 12);
    }
    expect_nothing(&made);
}

static void test_an_odd_stride_that_shows_fewer(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_four(&made, 4096, 9, 12);
    const bj_conflict_walk walk = {1, 12288, 1, 256};
    for (size_t round = 0; round < ROUNDS; round++)
        put_time(&made, &walk, 9, round, 12);
    /* Contradicted, and nothing in its place. */
    expect_nothing(&made);
    open_fixture(&made);
    put_four(&made, 4096, 9, 12);
    put_four(&made, 12288, 3, 12);
    expect_ways(&made, 3, BJ_CONFIDENCE_HIGH);
}

static void test_rounds_that_disagree(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_four(&made, 4096, 8, 12);
    const bj_conflict_walk walk = {1, 4096, 2, 256};
    /* Other sets, other ways: as a hashed index has it. */
    for (size_t round = 0; round < 3; round++)
        put_time(&made, &walk, 8, round, 11);
    expect_nothing(&made);
    /* Something used the cache for a while: three resamples of a hundred lack rounds in which it did not. */
    open_fixture(&made);
    put_four(&made, 4096, 8, 12);
    for (size_t round = 0; round < 3; round++)
        put_time(&made, &walk, 8, round, 5.5);
    expect_ways(&made, 8, BJ_CONFIDENCE_MEDIUM);
    /* For most of the time: a third of them do. */
    open_fixture(&made);
    put_four(&made, 4096, 8, 12);
    for (size_t round = 0; round < 5; round++)
        put_time(&made, &walk, 8, round, 5.5);
    expect_ways(&made, 8, BJ_CONFIDENCE_LOW);
}

/* Few rounds are low, however well they agree. */
static void test_few_rounds(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (unsigned i = 0; i < 4; i++) {
        const bj_conflict_walk walk = {1, 4096u << (i & 1), (size_t)1 << (i >> 1), 256};
        for (size_t round = 0; round < 5; round++)
            for (unsigned beyond = 0; beyond < 2; beyond++)
                put_time(&made, &walk, 8 + beyond, round, beyond ? 12 : 4.05);
    }
    expect_ways(&made, 8, BJ_CONFIDENCE_LOW);
}

/* As only a file can have it: the second curve of a walk agrees with the others, the first has no such points. */
static void test_two_curves_of_a_walk(void **state) {
    (void)state;
    fixture made;
    bj_error error = {""};
    bj_curve *curve;
    const bj_conflict_walk walk = {1, 4096, 1, 256};
    open_fixture(&made);
    put_time(&made, &walk, 3, 0, 4.05);
    assert_int_equal(bj_data_add_curve(&made.samples, "again", "associativity", &curve, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(curve, "level", 1, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(curve, "stride_bytes", 4096, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(curve, "sets", 1, &error), BJ_OK);
    for (size_t round = 0; round < ROUNDS; round++) {
        assert_int_equal(bj_data_record_sample(curve, 8, round, 4.05, &error), BJ_OK);
        assert_int_equal(bj_data_record_sample(curve, 9, round, 12, &error), BJ_OK);
    }
    put_curve(&made, 8192, 1, 8, 12);
    put_curve(&made, 4096, 2, 8, 12);
    put_curve(&made, 8192, 2, 8, 12);
    expect_ways(&made, 8, BJ_CONFIDENCE_HIGH);
}

static void test_another_capacity(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_four(&made, 8192, 8, 12);
    expect_nothing(&made);
}

/* What the TLB costs is taken off. */
static void test_twins(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (unsigned i = 0; i < 4; i++) {
        size_t stride = 4096u << (i & 1), sets = (size_t)1 << (i >> 1);
        for (size_t round = 0; round < ROUNDS; round++) {
            const bj_conflict_walk lines = {1, stride, sets, 256}, twin = {0, stride, sets, 256};
            put_time(&made, &lines, 8, round, 11);
            put_time(&made, &lines, 9, round, 19);
            put_time(&made, &twin, 8, round, 11);
            put_time(&made, &twin, 9, round, 11);
        }
    }
    expect_ways(&made, 8, BJ_CONFIDENCE_HIGH);
}

static void test_tables(void **state) {
    (void)state;
    static const double times[] = {4, 4, 4.1, 4, 4.6, 6, 8, 9};
    fixture made = {0};
    bj_error error = {""};
    bj_curve *table;
    assert_int_equal(bj_data_add_curve(&made.samples, BJ_ASSOCIATIVITY_TABLE, "associativity", &table, &error), BJ_OK);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(bj_data_record_sample(table, (double)i + 1, 0, times[i], &error), BJ_OK);
    bj_analyse_request request = {.earlier = &made.earlier, .seed = 1, .level = 3, .from_table = true};
    bj_answers answers = {0};
    assert_int_equal(bj_associativity_analyse(&made.samples, &request, &answers, &error), BJ_OK);
    const bj_answer *answer = bj_data_find_answer(&answers, "cache.L3.associativity");
    assert_non_null(answer);
    assert_true(answer->value == 4);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_LOW);
    bj_data_free_answers(&answers);
    close_fixture(&made);
}

/* The caches that open_fixture() tells of, with huge pages for the second. */
static const char *const paged_machine =
    "{\"name\": \"paged\", \"cpus\": 1, \"clock_ghz\": 2.0, \"page\": {\"base\": 4096, \"huge\": 2097152}, "
    "\"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 8}, "
    "{\"size\": 262144, \"ways\": 8, \"latency\": 24}], \"memory\": {\"latency\": 200}}";

static void expect_both_levels(measuring *m) {
    run_analysis(&m->made, "associativity");
    expect_answer(&m->made, "cache.L1.associativity", 8, 0, BJ_CONFIDENCE_HIGH);
    /* The last level: others may share it. */
    expect_answer(&m->made, "cache.L2.associativity", 8, 0, BJ_CONFIDENCE_MEDIUM);
}

static void test_measures_ways(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, paged_machine, 64 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "associativity"), BJ_OK);
    expect_both_levels(&m);
    close_measuring(&m);
    /* Base pages: which lines of the second level meet is chance. */
    open_measuring(&m, small_machine, 64 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "associativity"), BJ_OK);
    run_analysis(&m.made, "associativity");
    expect_answer(&m.made, "cache.L1.associativity", 8, 0, BJ_CONFIDENCE_HIGH);
    expect_undetermined(&m.made, "cache.L2.associativity", "huge pages");
    close_measuring(&m);
}

static void test_late_rounds(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, paged_machine, 64 * TESTED_MIB);
    expect_late_rounds(&m, "associativity", 3);
    assert_int_equal(get_curve(&m, "associativity.L1.s4096.m1")->round_count, 9);
    assert_int_equal(get_curve(&m, "associativity.L2.s32768.m2")->round_count, 9);
    expect_both_levels(&m);
    close_measuring(&m);
}

static void test_late_pages(void **state) {
    (void)state;
    expect_same_pages("associativity", "associativity.L1.s4096.m1", paged_machine, 64 * TESTED_MIB);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("associativity", paged_machine, 64 * TESTED_MIB);
    expect_interruption("associativity", paged_machine, 64 * TESTED_MIB);
    /* One level: half of its time is too little for all rounds. */
    expect_deadline("associativity", "associativity.L1.s4096.m1", small_machine, 64 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_curves_that_agree),
        cmocka_unit_test(test_more_sets_must_show_the_same),
        cmocka_unit_test(test_an_odd_stride_that_shows_fewer),
        cmocka_unit_test(test_rounds_that_disagree),
        cmocka_unit_test(test_few_rounds),
        cmocka_unit_test(test_two_curves_of_a_walk),
        cmocka_unit_test(test_another_capacity),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_measures_ways),
        cmocka_unit_test(test_late_rounds),
        cmocka_unit_test(test_late_pages),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
