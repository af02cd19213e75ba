/* What timing a region costs, in ticks of the counter and in ns: begin and end, apart and together, beside one read of
 * the counter, clock_gettime, and a read of a hardware counter through perf where the system allows one. Each figure is
 * the least of many batches: on a busy machine disturbance only adds. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <blackjack/regions.h>

enum { BATCHES = 400, CALLS = 250 };

static volatile uint64_t sink;
static int perf = -1;
static bj_lib_region region;

static void read_counter(void) {
    for (int i = 0; i < CALLS; i++)
        sink = BJ_LIB_READ_COUNTER();
}

static void begin_alone(void) {
    for (int i = 0; i < CALLS; i++) {
        bj_lib_region_slots[region]->began = 0; /* as the end would: without it begin takes the slow path */
        bj_lib_begin_region(region);
    }
}

static void end_alone(void) {
    bj_lib_region_slot *slot = bj_lib_region_slots[region];
    for (int i = 0; i < CALLS; i++) {
        __atomic_store_n(&slot->began, sink, __ATOMIC_RELAXED);
        bj_lib_end_region(region);
    }
}

static void begin_and_end(void) {
    for (int i = 0; i < CALLS; i++) {
        bj_lib_begin_region(region);
        bj_lib_end_region(region);
    }
}

static void read_clock(void) {
    struct timespec now;
    for (int i = 0; i < CALLS; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        sink = (uint64_t)now.tv_nsec;
    }
}

static void read_perf(void) {
    uint64_t value;
    for (int i = 0; i < CALLS; i++)
        if (read(perf, &value, sizeof value) == sizeof value)
            sink = value;
}

static double time_calls(void (*calls)(void)) {
    uint64_t least = UINT64_MAX;
    for (int batch = 0; batch < BATCHES; batch++) {
        bj_lib_region_slots[region]->began = 0;
        sink = BJ_LIB_READ_COUNTER();
        uint64_t start = BJ_LIB_READ_COUNTER();
        calls();
        uint64_t took = BJ_LIB_READ_COUNTER() - start;
        least = took < least ? took : least;
    }
    bj_lib_region_slots[region]->began = 0;
    return (double)least / CALLS;
}

static int open_perf(unsigned type, unsigned long long config) {
    struct perf_event_attr wanted = {.type = type, .size = sizeof wanted, .config = config, .exclude_kernel = 1};
    return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
}

int main(void) {
    region = bj_lib_name_region("bench");
    bj_lib_begin_region(region);
    bj_lib_end_region(region);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    uint64_t ticks = BJ_LIB_READ_COUNTER();
    double read = time_calls(read_counter);
    struct {
        const char *name;
        double ticks;
    } rows[] = {{"one read of the counter", read},
                {"begin", time_calls(begin_alone)},
                {"end", time_calls(end_alone)},
                {"begin and end", time_calls(begin_and_end)},
                {"clock_gettime", time_calls(read_clock)}};
    const char *what = "cycles";
    perf = open_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    if (perf < 0) {
        what = "task clock: no hardware counters here";
        perf = open_perf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    }
    double of_perf = perf >= 0 ? time_calls(read_perf) : 0;
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    double tick_ns = ns / (double)(BJ_LIB_READ_COUNTER() - ticks);
    printf("%s, %.4f ns a tick\n%-28s %8s %8s %12s\n", BJ_LIB_COUNTER, tick_ns, "", "ticks", "ns", "above a read");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%-28s %8.1f %8.1f %12.1f\n", rows[i].name, rows[i].ticks, rows[i].ticks * tick_ns,
               rows[i].ticks - (i == 3 ? 2 : 1) * read);
    if (perf >= 0)
        printf("%-28s %8.1f %8.1f %12.1f  (%s)\n", "read of a perf event", of_perf, of_perf * tick_ns, of_perf - read,
               what);
    else
        printf("read of a perf event: the system allows none\n");
    return 0;
}
