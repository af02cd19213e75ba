#include "platform/clock.h"

#include <time.h>

/* CLOCK_MONOTONIC, not its RAW sibling: RAW is a system call on kernels before 5.3 and on some architectures, and
 * its rate is the oscillator's, uncorrected. The price is slewing of at most 500 ppm, far below what we can see. */
uint64_t bj_platform_read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Only builtins: there is no portable C for it, and assembler is not for us. On ARM it is the counter of the system's
 * timer, which user programs may read; the one of the processor itself they may not. */
#if defined(__x86_64__) || defined(__i386__)
#define READ_COUNTER() __builtin_ia32_rdtsc()
#elif defined(__powerpc__)
#define READ_COUNTER() __builtin_ppc_get_timebase()
#elif defined(__aarch64__) && defined(__has_builtin)
#if __has_builtin(__builtin_arm_rsr64)
#define READ_COUNTER() __builtin_arm_rsr64("cntvct_el0")
#endif
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Inlined with a constant into the loops that time it. */
ALWAYS_INLINE uint64_t read_clock(bj_clock clock) {
    struct timespec now = {0};
    switch (clock) {
    case BJ_CLOCK_WALL:
        return bj_platform_read_ns();
    case BJ_CLOCK_CPU:
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    case BJ_CLOCK_CYCLES:
#ifdef READ_COUNTER
        return (uint64_t)READ_COUNTER();
#else
        break;
#endif
    }
    return 0;
}

uint64_t bj_platform_read_clock(bj_clock clock) {
    return read_clock(clock);
}

bool bj_platform_has_clock(bj_clock clock) {
#ifndef READ_COUNTER
    if (clock == BJ_CLOCK_CYCLES)
        return false;
#endif
    struct timespec now;
    return clock != BJ_CLOCK_CPU || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0;
}

ALWAYS_INLINE double time_reads(bj_clock clock, size_t reads) {
    volatile uint64_t last;
    uint64_t begin = bj_platform_read_ns();
    for (size_t i = 0; i < reads; i++)
        last = read_clock(clock);
    (void)last;
    return (double)(bj_platform_read_ns() - begin) / (double)reads;
}

double bj_platform_time_reads(bj_clock clock, size_t reads) {
    switch (clock) {
    case BJ_CLOCK_WALL:
        return time_reads(BJ_CLOCK_WALL, reads);
    case BJ_CLOCK_CPU:
        return time_reads(BJ_CLOCK_CPU, reads);
    default:
        return time_reads(BJ_CLOCK_CYCLES, reads);
    }
}

/* Of a clock that does not move, so that no loop waits for it for ever: a second or so of reads. */
enum { MOST_READS = 20000000 };

static uint64_t find_step(bj_clock clock, int most_reads) {
    /* A clock of 4 ms ticks needs some hundred thousand reads a step. */
    enum { STEPS = 16 };
    uint64_t least = 0, last = read_clock(clock);
    for (int steps = 0, reads = 0; steps < STEPS && reads < most_reads; reads++) {
        uint64_t now = read_clock(clock);
        /* The first step may start in the middle of a tick's time, never of its size: all count. A counter that differs
         * between cpus may go back. */
        if (now > last) {
            least = least == 0 || now - last < least ? now - last : least;
            steps++;
        }
        last = now;
    }
    return least;
}

uint64_t bj_platform_find_least_step(bj_clock clock) {
    return find_step(clock, MOST_READS);
}

bj_status bj_platform_check_clock(bj_error *error) {
    /* Batches last a thousand steps: beyond this, one batch lasts a tenth of a second, and a run of thousands of them
     * hours. Clocks of computers step by a microsecond at most. */
    const uint64_t coarsest_ns = 100000;
    /* A million reads last ten milliseconds at least, a hundred of those steps. */
    enum { READS = 1000000 };
    uint64_t step = find_step(BJ_CLOCK_WALL, READS);
    if (step == 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "the clock does not move: nothing can be timed");
    if (step > coarsest_ns)
        return bj_base_set_error(error, BJ_ERR_RESOURCE,
                                 "the clock moves in steps of %.3g ms, which is too coarse to time anything by",
                                 (double)step * 1e-6);
    return BJ_OK;
}

double bj_platform_measure_tick_ns(bj_clock clock) {
    if (clock != BJ_CLOCK_CYCLES)
        return 1;
    const uint64_t length_ns = 5000000;
    uint64_t begin_ns = bj_platform_read_ns(), begin = read_clock(clock), now_ns = begin_ns;
    for (size_t reads = 0; now_ns - begin_ns < length_ns && reads < MOST_READS; reads++)
        now_ns = bj_platform_read_ns();
    uint64_t ticks = read_clock(clock) - begin;
    return ticks > 0 ? (double)(now_ns - begin_ns) / (double)ticks : 0;
}

/* Least over batches: a disturbance only adds. */
static double measure_read_cost_ns(void) {
    enum { BATCHES = 16, READS = 200 };
    double least = bj_platform_time_reads(BJ_CLOCK_WALL, READS);
    for (int batch = 1; batch < BATCHES; batch++) {
        double cost = bj_platform_time_reads(BJ_CLOCK_WALL, READS);
        least = cost < least ? cost : least;
    }
    return least;
}

double bj_platform_measure_batch_ns(void) {
    double cost = measure_read_cost_ns();
    double step = (double)bj_platform_find_least_step(BJ_CLOCK_WALL);
    double larger = cost > step ? cost : step;
    /* One nanosecond is the unit of the interface: nothing is finer. */
    return 1000.0 * (larger > 1.0 ? larger : 1.0);
}

void bj_platform_format_utc(char *text) {
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    /* Only numeric conversions: none depends on the locale. */
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
