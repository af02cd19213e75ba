/* The clock probe: its answers on made-up curves, and what it measures of a small simulated machine. */
#include "measure_fixture.h"

#define CURVE "clock.add"
#define LATENCY "op.int32.add.latency_ns"
#define CLOCK "cpu.clock_ghz"

enum { ROUNDS = 10, REPETITIONS = 7 };

/* 0.4 ns an addition, times a factor of the round. */
static void put_rounds(fixture *made, size_t rounds, double (*factor)(size_t round)) {
    for (size_t round = 0; round < rounds; round++)
        for (int i = 1; i <= REPETITIONS; i++)
            put_sample(made, CURVE, "clock", i, round, 0.4 * factor(round));
}

static void test_rounds_that_agree(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, ROUNDS, agree);
    run_analysis(&made, "clock");
    expect_answer(&made, LATENCY, 0.4, 0.001, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, CLOCK, 2.5, 0.001, BJ_CONFIDENCE_HIGH);
    assert_string_equal(get_answer(&made, CLOCK)->evidence[0], CURVE);
    close_fixture(&made);
}

static void test_few_rounds_are_low(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, 4, agree);
    run_analysis(&made, "clock");
    expect_answer(&made, LATENCY, 0.4, 0.001, BJ_CONFIDENCE_LOW);
    expect_answer(&made, CLOCK, 2.5, 0.001, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* Disturbance adds time to some repetitions of every round, and takes it from one whose first half it met. */
static void test_disturbed_repetitions(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, ROUNDS, agree);
    for (size_t round = 0; round < ROUNDS; round++) {
        put_sample(&made, CURVE, "clock", 1 + (double)(round % 7), round, 0.1);
        for (size_t i = 1; i <= 3; i++)
            put_sample(&made, CURVE, "clock", 1 + (double)((round + i) % 7), round, 0.4 * differ(round + i) + 1);
    }
    run_analysis(&made, "clock");
    expect_answer(&made, LATENCY, 0.4, 0.001, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_a_clock_that_moves(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, ROUNDS, differ);
    run_analysis(&made, "clock");
    double slowest_ns = 0.4 * pow(1.3, 9);
    const bj_answer *latency = get_answer(&made, LATENCY), *clock = get_answer(&made, CLOCK);
    expect_unstable(&made, LATENCY, latency->value, slowest_ns * 0.999);
    expect_unstable(&made, CLOCK, 1 / slowest_ns * 1.001, clock->value);
    assert_true(fabs(latency->value * clock->value - 1) < 1e-9);
    close_fixture(&made);
}

static void test_nothing_measured(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    expect_no_value(&made, "clock", CLOCK);
    expect_no_value(&made, "clock", LATENCY);
    /* Differences of two times that say nothing. */
    for (size_t round = 0; round < ROUNDS; round++)
        put_sample(&made, CURVE, "clock", 1, round, -0.1);
    expect_no_value(&made, "clock", CLOCK);
    close_fixture(&made);
}

static void test_measures_a_chain(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, TESTED_MIB);
    assert_int_equal(measure_probe(&m, "clock"), BJ_OK);
    const bj_curve *curve = get_curve(&m, CURVE);
    assert_string_equal(curve->probe, "clock");
    assert_string_equal(curve->y_unit, "ns");
    assert_true(curve->round_count >= 6 && curve->x_count >= 2);
    for (size_t round = 0; round < curve->round_count; round++)
        for (size_t i = 0; i < curve->x_count; i++)
            assert_true(curve->rounds[round][i] == 0.5);
    assert_int_equal(m.most_bytes, 0);
    run_analysis(&m.made, "clock");
    expect_answer(&m.made, CLOCK, 2, 1e-9, BJ_CONFIDENCE_HIGH);
    size_t rounds = curve->round_count;
    close_measuring(&m);
    /* More effort is more rounds. */
    open_measuring(&m, small_machine, TESTED_MIB);
    m.request.effort = BJ_EFFORT_THOROUGH;
    assert_int_equal(measure_probe(&m, "clock"), BJ_OK);
    assert_true(get_curve(&m, CURVE)->round_count > rounds);
    close_measuring(&m);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("clock", small_machine, TESTED_MIB);
    expect_interruption("clock", small_machine, TESTED_MIB);
    expect_deadline("clock", CURVE, small_machine, TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_that_agree),
        cmocka_unit_test(test_few_rounds_are_low),
        cmocka_unit_test(test_disturbed_repetitions),
        cmocka_unit_test(test_a_clock_that_moves),
        cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_measures_a_chain),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
