/* The analysis of the associativity probe on made-up curves. */
#include "probe_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    const bj_conflict_walk walk = {1, stride, sets};
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
    const bj_conflict_walk walk = {1, 12288, 1};
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
    const bj_conflict_walk walk = {1, 4096, 2};
    /* Other sets, other ways: as a hashed index has it. */
    for (size_t round = 0; round < 3; round++)
        put_time(&made, &walk, 8, round, 11);
    expect_nothing(&made);
    /* Something used the cache for a while: three of 28 rounds by themselves would say otherwise. */
    open_fixture(&made);
    put_four(&made, 4096, 8, 12);
    for (size_t round = 0; round < 3; round++)
        put_time(&made, &walk, 8, round, 5.5);
    expect_ways(&made, 8, BJ_CONFIDENCE_MEDIUM);
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
            const bj_conflict_walk lines = {1, stride, sets}, twin = {0, stride, sets};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_curves_that_agree),
        cmocka_unit_test(test_more_sets_must_show_the_same),
        cmocka_unit_test(test_an_odd_stride_that_shows_fewer),
        cmocka_unit_test(test_rounds_that_disagree),
        cmocka_unit_test(test_another_capacity),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
