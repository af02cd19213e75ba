/* The kernel timer by the public header alone. No time is asserted but what must be so on any machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <blackjack/blackjack.h>

static const char profile_text[] =
    "{\"format\": \"blackjack-profile/1\", \"characteristics\": {"
    "\"cache.levels\": {\"value\": 2, \"unit\": \"count\", \"status\": \"ok\", \"confidence\": \"high\"},"
    "\"cache.L1.size_bytes\": {\"value\": 32768, \"unit\": \"bytes\", \"status\": \"ok\", \"confidence\": \"high\"},"
    "\"cache.L2.size_bytes\": {\"value\": 524288, \"unit\": \"bytes\", \"status\": \"ok\", \"confidence\": \"high\"},"
    "\"cache.L2.latency_ns\": {\"value\": 4, \"unit\": \"ns\", \"status\": \"ok\", \"confidence\": \"high\"}}}";

static size_t calls;
static uintptr_t seen_at[4];
static bool is_zero;

static double look(size_t n, void *const *operands) {
    const double *x = operands[0];
    double sum = 0;
    calls++;
    seen_at[0] = (uintptr_t)operands[0];
    seen_at[1] = (uintptr_t)operands[1];
    for (size_t i = 0; i < n; i++) {
        is_zero = is_zero || x[i] == 0 || !(fabs(x[i]) < 3);
        sum += x[i];
    }
    return sum;
}

static double work(size_t n, size_t times) {
    volatile double sum = 0;
    for (size_t i = 0; i < times * n; i++)
        sum = sum + 1;
    return sum;
}
static double once(size_t n, void *const *operands) {
    (void)operands;
    return work(n, 1);
}
static double twice(size_t n, void *const *operands) {
    (void)operands;
    return work(n, 2);
}
static double eightfold(size_t n, void *const *operands) {
    (void)operands;
    return work(n, 8);
}

static bj_lib_timer *open_timer(void) {
    bj_lib_profile *profile = NULL;
    bj_lib_timer *timer = NULL;
    bj_lib_error error = {""};
    assert_int_equal(bj_lib_parse_profile(profile_text, strlen(profile_text), &profile, &error), BJ_LIB_OK);
    bj_lib_timer_options options = {.struct_size = sizeof options, .profile = profile};
    if (bj_lib_open_timer(&options, &timer, &error) != BJ_LIB_OK)
        fail_msg("%s", error.text);
    bj_lib_close_profile(profile);
    assert_non_null(strstr(bj_lib_timer_clock(timer), "time"));
    return timer;
}

static void test_operands_are_as_asked_for(void **state) {
    (void)state;
    static const char *const contexts[] = {"cold", "warm", "L2"};
    bj_lib_timer *timer = open_timer();
    const bj_lib_operand operands[] = {{.name = "x", .bytes = 8000, .align = 16, .misalign = 32},
                                       {.name = "y", .bytes = 3000, .align = 4, .misalign = 16, .residency = "warm"}};
    for (size_t i = 0; i < 3; i++) {
        bj_lib_timing_options options = {.struct_size = sizeof options,
                                         .n = 1000,
                                         .operands = operands,
                                         .operand_count = 2,
                                         .samples = 3,
                                         .context = contexts[i]};
        bj_lib_timing timing = {.struct_size = sizeof timing};
        bj_lib_error error = {""};
        calls = 0;
        if (bj_lib_time_kernel(timer, look, &options, &timing, &error) != BJ_LIB_OK)
            fail_msg("%s", error.text);
        assert_true(calls > 3);
        assert_false(is_zero);
        assert_true(timing.time_ns > 0 && timing.low_ns <= timing.time_ns && timing.high_ns >= timing.time_ns);
        assert_int_equal(timing.samples, 3);
        assert_true(seen_at[0] % 16 == 0 && seen_at[0] % 32 != 0);
        assert_true(seen_at[1] % 4 == 0 && seen_at[1] % 16 != 0);
        assert_int_equal(!isnan(timing.seen_ns), i == 2);
        assert_true(i != 2 || timing.expected_ns == 4);
    }
    bj_lib_close_timer(timer);
}

static void test_pairs_and_tuning(void **state) {
    (void)state;
    bj_lib_timer *timer = open_timer();
    bj_lib_timing_options options = {.struct_size = sizeof options, .n = 1000};
    bj_lib_error error = {""};
    double ratio, low, high;
    if (bj_lib_time_pair(timer, once, twice, &options, &ratio, &low, &high, &error) != BJ_LIB_OK)
        fail_msg("%s", error.text);
    assert_true(ratio > 1.3 && ratio < 3 && low <= ratio && ratio <= high);
    bj_lib_kernel *const candidates[] = {eightfold, once, twice};
    bj_lib_candidate seen[3];
    size_t best = 9;
    if (bj_lib_tune_kernel(timer, candidates, 3, &options, 2, &best, seen, &error) != BJ_LIB_OK)
        fail_msg("%s", error.text);
    assert_int_equal(best, 1);
    /* The slowest was not worth a second look. */
    assert_true(isnan(seen[0].cold_ns) && !isnan(seen[1].cold_ns) && !isnan(seen[2].cold_ns));
    bj_lib_close_timer(timer);
}

static void test_what_is_refused(void **state) {
    (void)state;
    bj_lib_timer *timer = open_timer(), *none = NULL;
    bj_lib_error error = {""};
    bj_lib_timing timing = {.struct_size = sizeof timing};
    bj_lib_operand operand = {.name = "x", .bytes = 600000, .residency = "L2"};
    bj_lib_timing_options options = {.struct_size = sizeof options, .operands = &operand, .operand_count = 1};
    assert_int_equal(bj_lib_time_kernel(timer, once, &options, &timing, &error), BJ_LIB_ERR_USAGE);
    assert_non_null(strstr(error.text, "no nearer"));
    operand.residency = "hot";
    assert_int_equal(bj_lib_time_kernel(timer, once, &options, &timing, &error), BJ_LIB_ERR_USAGE);
    options.struct_size = 3;
    assert_int_equal(bj_lib_time_kernel(timer, once, &options, &timing, &error), BJ_LIB_ERR_USAGE);
    bj_lib_timer_options threads = {.struct_size = sizeof threads, .clock = "cpu", .threads = 2};
    bj_lib_profile *profile = NULL;
    assert_int_equal(bj_lib_parse_profile(profile_text, strlen(profile_text), &profile, NULL), BJ_LIB_OK);
    threads.profile = profile;
    assert_int_equal(bj_lib_open_timer(&threads, &none, &error), BJ_LIB_ERR_USAGE);
    assert_non_null(strstr(error.text, "wait for one another"));
    assert_null(none);
    bj_lib_close_profile(profile);
    bj_lib_close_timer(timer);
    bj_lib_close_timer(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands_are_as_asked_for),
        cmocka_unit_test(test_pairs_and_tuning),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
