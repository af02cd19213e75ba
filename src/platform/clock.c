#include "platform/clock.h"

#include <time.h>

/* CLOCK_MONOTONIC, not its RAW sibling: RAW is a system call on kernels before 5.3 and on some architectures, and
 * its rate is the oscillator's, uncorrected. The price is slewing of at most 500 ppm, far below what we can see. */
uint64_t bj_platform_read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Least over batches: a disturbance only adds. */
static double measure_read_cost_ns(void) {
    enum { BATCHES = 16, READS = 200 };
    double least = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begin = bj_platform_read_ns(), end = begin;
        for (int i = 0; i < READS; i++)
            end = bj_platform_read_ns();
        double cost = (double)(end - begin) / READS;
        if (batch == 0 || cost < least)
            least = cost;
    }
    return least;
}

/* Smallest step that the clock is seen to take. A clock of 4 ms ticks needs some hundred thousand reads a step. */
static double measure_granularity_ns(void) {
    enum { STEPS = 16, MAX_READS = 20000000 };
    uint64_t least = UINT64_MAX;
    uint64_t last = bj_platform_read_ns();
    for (int steps = 0, reads = 0; steps < STEPS && reads < MAX_READS; reads++) {
        uint64_t now = bj_platform_read_ns();
        if (now == last)
            continue;
        /* The first step may start in the middle of a tick's time, never of its size: all count. */
        if (now - last < least)
            least = now - last;
        last = now;
        steps++;
    }
    return least == UINT64_MAX ? 0 : (double)least;
}

double bj_platform_measure_batch_ns(void) {
    double cost = measure_read_cost_ns();
    double granularity = measure_granularity_ns();
    double larger = cost > granularity ? cost : granularity;
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
