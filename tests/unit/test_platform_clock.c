#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "platform/clock.h"

static void never_goes_back(void **state) {
    (void)state;
    uint64_t last = bj_platform_read_ns();
    for (int i = 0; i < 100000; i++) {
        uint64_t now = bj_platform_read_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void counts_nanoseconds(void **state) {
    (void)state;
    uint64_t begin = bj_platform_read_ns();
    struct timespec nap = {.tv_nsec = 20000000};
    while (nanosleep(&nap, &nap) != 0)
        continue;
    /* A sleep may last longer on a busy machine, never shorter (but for the clock's slewing). */
    assert_true(bj_platform_read_ns() - begin >= 19900000);
}

static void finds_an_honest_batch(void **state) {
    (void)state;
    double batch = bj_platform_measure_batch_ns();
    assert_true(batch >= 1000);
    /* Even with a clock of 10 ms ticks. */
    assert_true(batch <= 2e10);
}

static void clocks_cost_and_move(void **state) {
    (void)state;
    assert_true(bj_platform_has_clock(BJ_CLOCK_WALL));
    for (int i = BJ_CLOCK_WALL; i <= BJ_CLOCK_CYCLES; i++) {
        bj_clock clock = (bj_clock)i;
        if (!bj_platform_has_clock(clock))
            continue;
        assert_true(bj_platform_time_reads(clock, 1000) > 0);
        assert_true(bj_platform_find_least_step(clock) > 0);
        double tick_ns = bj_platform_measure_tick_ns(clock);
        /* Counters tick at 10 GHz at most, and at 1 MHz at least. */
        assert_true(clock == BJ_CLOCK_CYCLES ? tick_ns >= 0.1 && tick_ns <= 1000 : tick_ns == 1);
    }
}

static void writes_utc(void **state) {
    (void)state;
    char text[32];
    int year, month, day, hour, minute, second, length = 0;
    bj_platform_format_utc(text);
    assert_int_equal(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second, &length),
                     6);
    assert_int_equal(length, 20);
    assert_int_equal(strlen(text), 20);
    assert_in_range(month, 1, 12);
    assert_in_range(hour, 0, 23);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_goes_back),
        cmocka_unit_test(counts_nanoseconds),
        cmocka_unit_test(finds_an_honest_batch),
        cmocka_unit_test(clocks_cost_and_move),
        cmocka_unit_test(writes_utc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
