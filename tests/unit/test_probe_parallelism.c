/* The parallelism probe: its answers on made-up curves, and what it measures of a small simulated machine. */
#include "measure_fixture.h"

#define CURVE "parallelism.walk"
#define KEY "memory.parallelism"

enum { ROUNDS = 10 };

static const unsigned chains[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
#define CHAINS_COUNT (sizeof chains / sizeof chains[0])

/* 100 ns a miss, of which so many are in flight. */
static void put_round(fixture *made, size_t round, double in_flight) {
    for (size_t i = 0; i < CHAINS_COUNT; i++)
        put_sample(made, CURVE, "parallelism", chains[i], round, 100 / fmin(chains[i], in_flight) * agree(round));
}

static void open_rounds(fixture *made, size_t rounds, double in_flight) {
    open_fixture(made);
    for (size_t round = 0; round < rounds; round++)
        put_round(made, round, in_flight);
    run_analysis(made, "parallelism");
}

static void test_rounds_that_agree(void **state) {
    (void)state;
    /* One: nothing overlaps at all. */
    const double in_flight[] = {1, 5.5, 10, 48};
    for (size_t i = 0; i < sizeof in_flight / sizeof in_flight[0]; i++) {
        fixture made;
        open_rounds(&made, ROUNDS, in_flight[i]);
        expect_answer(&made, KEY, in_flight[i], 0.002, BJ_CONFIDENCE_HIGH);
        assert_string_equal(get_answer(&made, KEY)->evidence[0], CURVE);
        close_fixture(&made);
    }
}

static void test_few_rounds_are_low(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, 4, 10);
    expect_answer(&made, KEY, 10, 0.002, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* As it is measured: all numbers in the first round, few in those that follow. */
static void test_rounds_of_few_numbers(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_round(&made, 0, 10);
    for (size_t round = 1; round < ROUNDS; round++) {
        put_sample(&made, CURVE, "parallelism", 1, round, 100 * agree(round));
        put_sample(&made, CURVE, "parallelism", 16, round, 10 * agree(round));
    }
    run_analysis(&made, "parallelism");
    expect_answer(&made, KEY, 10, 0.002, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

/* Two chains that take 50 ns an access tell that one takes no more than 100. */
static void test_one_chain_disturbed(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, ROUNDS, 10);
    for (size_t round = 0; round < ROUNDS; round++)
        put_sample(&made, CURVE, "parallelism", 1, round, 150 * differ(round));
    run_analysis(&made, "parallelism");
    expect_answer(&made, KEY, 10, 0.002, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_rounds_that_differ(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (size_t round = 0; round < ROUNDS; round++)
        put_round(&made, round, 3 * differ(round));
    run_analysis(&made, "parallelism");
    const bj_answer *answer = get_answer(&made, KEY);
    assert_true(bj_data_has_value(answer));
    assert_true(answer->confidence < BJ_CONFIDENCE_HIGH);
    assert_true(answer->interval[1] > 1.2 * answer->interval[0]);
    close_fixture(&made);
}

static void test_no_answer(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, ROUNDS, 64);
    expect_undetermined(&made, KEY, "still falls at 64 chains");
    close_fixture(&made);
    /* Nothing to compare with. */
    open_fixture(&made);
    for (size_t round = 0; round < ROUNDS; round++)
        for (unsigned several = 2; several <= 16; several *= 2)
            put_sample(&made, CURVE, "parallelism", several, round, 100.0 / several);
    run_analysis(&made, "parallelism");
    expect_undetermined(&made, KEY, "one chain");
    close_fixture(&made);
    /* Not measured: no memory, or no caches to be beyond of. */
    open_fixture(&made);
    run_analysis(&made, "parallelism");
    expect_undetermined(&made, KEY, "beyond the last cache");
    bj_data_free_answers(&made.earlier);
    run_analysis(&made, "parallelism");
    expect_undetermined(&made, KEY, "caches are not known");
    close_fixture(&made);
}

/* One chain in every round, and the fastest number again after the first. */
static void test_measures_chains(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, 8 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "parallelism"), BJ_OK);
    const bj_curve *curve = get_curve(&m, CURVE);
    assert_string_equal(curve->probe, "parallelism");
    assert_string_equal(curve->x_name, "chains");
    assert_string_equal(curve->y_unit, "ns");
    assert_int_equal(curve->round_count, 6);
    for (size_t i = 0; i < CHAINS_COUNT; i++)
        assert_true(has_point(curve, chains[i], 0));
    for (size_t round = 0; round < curve->round_count; round++) {
        double least = INFINITY;
        for (size_t i = 0; i < curve->x_count; i++)
            least = fmin(least, curve->rounds[round][i]);
        assert_true(has_point(curve, 1, round));
        /* 100 ns, ten of them at a time. */
        assert_true(least > 9.9 && least < 10.1);
        assert_true(curve->rounds[round][0] > 99 && curve->rounds[round][0] < 101);
    }
    /* Well beyond the last cache. */
    assert_true(m.most_bytes >= 2 * 262144);
    run_analysis(&m.made, "parallelism");
    expect_answer(&m.made, KEY, 10, 0.01, BJ_CONFIDENCE_HIGH);
    close_measuring(&m);
}

static void test_measures_nothing(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, TESTED_MIB / 4);
    assert_int_equal(measure_probe(&m, "parallelism"), BJ_OK);
    expect_no_sample(&m, CURVE);
    run_analysis(&m.made, "parallelism");
    expect_undetermined(&m.made, KEY, "beyond the last cache");
    close_measuring(&m);
    open_measuring(&m, small_machine, 8 * TESTED_MIB);
    bj_data_free_answers(&m.made.earlier);
    assert_int_equal(measure_probe(&m, "parallelism"), BJ_OK);
    expect_no_sample(&m, CURVE);
    run_analysis(&m.made, "parallelism");
    expect_undetermined(&m.made, KEY, "caches are not known");
    close_measuring(&m);
}

static void test_late_pages(void **state) {
    (void)state;
    expect_same_pages("parallelism", CURVE,
                      "{\"name\": \"huge pages\", \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 8}, "
                      "{\"size\": 262144, \"ways\": 8, \"latency\": 24}], \"page\": {\"huge\": 2097152}}",
                      8 * TESTED_MIB);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("parallelism", small_machine, 2 * TESTED_MIB);
    expect_interruption("parallelism", small_machine, 2 * TESTED_MIB);
    expect_deadline("parallelism", CURVE, small_machine, 2 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_that_agree),
        cmocka_unit_test(test_few_rounds_are_low),
        cmocka_unit_test(test_rounds_of_few_numbers),
        cmocka_unit_test(test_one_chain_disturbed),
        cmocka_unit_test(test_rounds_that_differ),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_measures_chains),
        cmocka_unit_test(test_measures_nothing),
        cmocka_unit_test(test_late_pages),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
