/* From the samples of a timing to its answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "timer/timing.h"

enum { COUNT = 9 };

static const double nothing[COUNT] = {50, 50, 50, 50, 50, 50, 50, 50, 50};

static bj_timing answer_to(const double *raw, const double *empty, size_t calls, bool cpu_time) {
    bj_timing_samples samples = {.raw_ns = raw,
                                 .empty_ns = empty,
                                 .count = COUNT,
                                 .calls = calls,
                                 .cpu_time = cpu_time,
                                 .step_ns = 25,
                                 .seed = 1};
    bj_timing timing = {.samples = 0};
    bj_error error = {""};
    if (bj_timer_answer_time(&samples, &timing, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return timing;
}

/* Wall time by its least, cpu time by its median; what the empty kernel takes is off. */
static void test_least_and_median(void **state) {
    (void)state;
    const double raw[COUNT] = {100050, 100250, 100150, 250050, 100850, 101050, 100450, 100650, 102050};
    bj_timing wall = answer_to(raw, nothing, 10, false), cpu = answer_to(raw, nothing, 10, true);
    assert_float_equal(wall.time_ns.value, 10000, 1e-6);
    assert_float_equal(cpu.time_ns.value, 10060, 1e-6);
    assert_string_equal(wall.time_ns.method, "least_wall/1");
    assert_string_equal(cpu.time_ns.method, "median_cpu/1");
    assert_int_equal(wall.time_ns.status, BJ_ANSWER_OK);
    assert_true(wall.time_ns.interval[0] <= 10000 && wall.time_ns.interval[1] >= 10000);
    assert_int_equal(wall.calls_per_timing, 10);
}

/* A kernel that does nothing takes 0 within the interval, however the two loops differ by less than the clock's step.
 */
static void test_empty_kernel_is_zero(void **state) {
    (void)state;
    const double raw[COUNT] = {1010, 1004, 996, 1001, 1000, 1012, 1003, 999, 1002};
    const double empty[COUNT] = {1000, 1001, 1003, 998, 1005, 1000, 1000, 1002, 1001};
    bj_timing timing = answer_to(raw, empty, 1000, false);
    assert_true(timing.time_ns.interval[0] <= 0 && timing.time_ns.interval[1] >= 0);
    assert_int_equal(timing.time_ns.status, BJ_ANSWER_OK);
}

static void test_samples_that_differ_are_unstable(void **state) {
    (void)state;
    const double raw[COUNT] = {100, 900, 1100, 1300, 1500, 1700, 1900, 2100, 2300};
    bj_timing timing = answer_to(raw, nothing, 1, true);
    assert_int_equal(timing.time_ns.status, BJ_ANSWER_UNSTABLE);
    assert_non_null(strstr(timing.time_ns.reason, "samples"));
}

/* The interval of a median of many samples is narrow, but the next timing would not lie in it. */
static void test_scattered_cpu_times_are_unstable(void **state) {
    (void)state;
    enum { MANY = 300 };
    double raw[MANY], empty[MANY];
    for (size_t i = 0; i < MANY; i++) {
        raw[i] = 1e6 * (0.9 + 0.2 * (double)i / MANY);
        empty[i] = 0;
    }
    bj_timing_samples samples = {.raw_ns = raw, .empty_ns = empty, .count = MANY, .calls = 1, .step_ns = 1, .seed = 1};
    bj_timing timing = {.samples = 0};
    samples.cpu_time = true;
    assert_int_equal(bj_timer_answer_time(&samples, &timing, NULL), BJ_OK);
    assert_true(bj_timer_is_narrow(&timing, &samples));
    assert_int_equal(timing.time_ns.status, BJ_ANSWER_UNSTABLE);
    assert_non_null(strstr(timing.time_ns.reason, "quartiles"));
    samples.cpu_time = false;
    assert_int_equal(bj_timer_answer_time(&samples, &timing, NULL), BJ_OK);
    assert_int_equal(timing.time_ns.status, BJ_ANSWER_OK);
}

static bj_answer ratio_of(double factor, uint64_t seed) {
    enum { PAIRS = 15 };
    double a[PAIRS], b[PAIRS], empty[PAIRS];
    bj_random random;
    bj_random_seed(&random, seed);
    for (size_t i = 0; i < PAIRS; i++) {
        /* Slow minutes hit both of a pair. */
        double minute = i % 3 == 0 ? 2 : 1;
        empty[i] = 0;
        a[i] = 1e6 * minute * (1 + 0.004 * bj_random_normal(&random));
        b[i] = 1e6 * minute * factor * (1 + 0.004 * bj_random_normal(&random));
    }
    bj_timing_samples first = {.raw_ns = a, .empty_ns = empty, .count = PAIRS, .calls = 1, .step_ns = 1, .seed = 1};
    bj_timing_samples second = first;
    second.raw_ns = b;
    bj_answer ratio;
    assert_int_equal(bj_timer_answer_ratio(&first, &second, &ratio, NULL), BJ_OK);
    return ratio;
}

static void test_pairs(void **state) {
    (void)state;
    size_t different = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        bj_answer same = ratio_of(1, seed), slower = ratio_of(1.03, seed);
        different += bj_timer_is_different(&same);
        assert_true(bj_timer_is_different(&slower));
        assert_true(slower.value > 1.02 && slower.value < 1.04);
    }
    /* 95% intervals: two of 40, with some luck. */
    assert_true(different <= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_and_median),
        cmocka_unit_test(test_empty_kernel_is_zero),
        cmocka_unit_test(test_samples_that_differ_are_unstable),
        cmocka_unit_test(test_scattered_cpu_times_are_unstable),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
