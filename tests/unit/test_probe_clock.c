/* The clock probe: its answers on made-up curves, and what it measures of a small simulated machine. */
#include "measure_fixture.h"

#include "base/random.h"

#define TWICE "clock.yardstick"
#define ONCE "clock.yardstick.once"
#define DIFFERENCES "clock.add"
#define LATENCY "op.int32.add.latency_ns"
#define CLOCK "cpu.clock_ghz"

enum { ROUNDS = 10, CALLS = 5 };

/* An addition takes 0.4 ns. The call and the clock add a thousandth to once the work. */
#define TRUTH_NS 0.4
#define TRUTH_GHZ 2.5

static void put_call(fixture *made, int call, size_t round, double twice, double once) {
    put_sample(made, TWICE, "clock", call, round, TRUTH_NS * 1.0005 * twice);
    put_sample(made, ONCE, "clock", call, round, TRUTH_NS * 1.001 * once);
}

static void put_rounds(fixture *made, size_t rounds, double (*factor)(size_t round)) {
    for (size_t round = 0; round < rounds; round++)
        for (int i = 1; i <= CALLS; i++)
            put_call(made, i, round, factor(round), factor(round));
}

static void test_rounds_that_agree(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, ROUNDS, agree);
    run_analysis(&made, "clock");
    expect_answer(&made, LATENCY, TRUTH_NS, 0.001, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, CLOCK, TRUTH_GHZ, 0.001, BJ_CONFIDENCE_HIGH);
    assert_string_equal(get_answer(&made, CLOCK)->evidence[0], TWICE);
    assert_string_equal(get_answer(&made, CLOCK)->evidence[1], ONCE);
    close_fixture(&made);
}

static void test_few_rounds_are_low(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, 4, agree);
    run_analysis(&made, "clock");
    expect_answer(&made, LATENCY, TRUTH_NS, 0.001, BJ_CONFIDENCE_LOW);
    expect_answer(&made, CLOCK, TRUTH_GHZ, 0.001, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* Each batch is disturbed with this probability, by up to three times its length. */
static double disturb(bj_random *random, double share) {
    bool is_met = bj_random_unit(random) < share;
    double factor = 1 + 3 * bj_random_unit(random);
    return is_met ? factor : 1;
}

static bool is_right(const bj_answer *answer) {
    return fabs(answer->value / TRUTH_GHZ - 1) <= 0.005;
}

/* A clock of differences, as it was, says up to 59 GHz of such batches; here it is right as long as each round has a
 * quiet batch of both lengths, and never sure of what is wrong. */
static void test_disturbed_batches(void **state) {
    (void)state;
    unsigned right = 0, high = 0;
    for (unsigned seed = 1; seed <= 60; seed++)
        for (double share = 0.3; share < 1; share += 0.3) {
            fixture made;
            bj_random random;
            open_fixture(&made);
            bj_random_seed(&random, seed);
            for (size_t round = 0; round < ROUNDS; round++)
                for (int i = 1; i <= CALLS; i++) {
                    double twice = disturb(&random, share);
                    put_call(&made, i, round, twice, disturb(&random, share));
                }
            run_analysis(&made, "clock");
            const bj_answer *clock = get_answer(&made, CLOCK);
            bool is_high = clock->confidence == BJ_CONFIDENCE_HIGH;
            if (share < 0.7)
                assert_true(is_right(clock));
            if (is_high)
                assert_true(is_right(clock) && clock->interval[1] <= 1.0202 * clock->interval[0]);
            right += is_right(clock);
            high += is_high;
            close_fixture(&made);
        }
    assert_in_range(right, 170, 180);
    assert_in_range(high, 60, 150);
}

static void test_a_clock_that_moves(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_rounds(&made, ROUNDS, differ);
    run_analysis(&made, "clock");
    double slowest_ns = TRUTH_NS * pow(1.3, 9);
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
    /* Twice the work in less time than once: two times that say nothing. */
    for (size_t round = 0; round < ROUNDS; round++)
        put_call(&made, 1, round, 1, 3);
    expect_no_value(&made, "clock", CLOCK);
    close_fixture(&made);
}

/* As profiles up to revision 2 have it: what a disturbance took from one difference and added to others goes. */
static void test_differences_of_old_profiles(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (size_t round = 0; round < ROUNDS; round++)
        for (int i = 1; i <= 7; i++)
            put_sample(&made, DIFFERENCES, "clock", i, round, i == 1 ? -0.1 : i == 2 ? 1.7 : TRUTH_NS * agree(round));
    run_analysis(&made, "clock");
    expect_answer(&made, LATENCY, TRUTH_NS, 0.002, BJ_CONFIDENCE_MEDIUM);
    expect_answer(&made, CLOCK, TRUTH_GHZ, 0.002, BJ_CONFIDENCE_MEDIUM);
    assert_string_equal(get_answer(&made, CLOCK)->evidence[0], DIFFERENCES);
    close_fixture(&made);
}

static void test_measures_a_chain(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, small_machine, TESTED_MIB);
    assert_int_equal(measure_probe(&m, "clock"), BJ_OK);
    const bj_curve *curve = get_curve(&m, TWICE);
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
    assert_true(get_curve(&m, TWICE)->round_count > rounds);
    close_measuring(&m);
}

/* Half of all batches take four times as long: nothing of it is left in the answer. */
static void test_measures_a_disturbed_machine(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m,
                   "{\"name\": \"busy\", \"cpus\": 2, \"clock_ghz\": 4.0, \"caches\": [{\"size\": 32768, \"ways\": 8, "
                   "\"latency\": 4}], \"memory\": {\"latency\": 200}, "
                   "\"noise\": {\"jitter\": 0.02, \"spike_rate\": 0.5, \"spike_factor\": 4}}",
                   TESTED_MIB);
    assert_int_equal(measure_probe(&m, "clock"), BJ_OK);
    run_analysis(&m.made, "clock");
    expect_answer(&m.made, CLOCK, 4, 0.005, BJ_CONFIDENCE_HIGH);
    close_measuring(&m);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("clock", small_machine, TESTED_MIB);
    expect_interruption("clock", small_machine, TESTED_MIB);
    expect_deadline("clock", TWICE, small_machine, TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_that_agree),
        cmocka_unit_test(test_few_rounds_are_low),
        cmocka_unit_test(test_disturbed_batches),
        cmocka_unit_test(test_differences_of_old_profiles),
        cmocka_unit_test(test_a_clock_that_moves),
        cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_measures_a_chain),
        cmocka_unit_test(test_measures_a_disturbed_machine),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
