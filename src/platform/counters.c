#include "platform/counters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

enum { EVENTS = 4 };

struct bj_counters {
    int events[EVENTS]; /* in the order of bj_counter_values; -1: there is none */
};

double bj_platform_scale_count(const uint64_t values[3]) {
    if (values[2] == 0)
        return NAN;
    return (double)values[0] * ((double)values[1] / (double)values[2]);
}

const char *bj_platform_explain_no_counters(int error_number) {
    switch (error_number) {
    case EACCES:
    case EPERM:
        return "the system does not let us (kernel.perf_event_paranoid, or a container's rules)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "the processor shows none, as in most virtual machines";
    default:
        return "the system has no perf_event";
    }
}

#ifdef __linux__

/* One event; `pid` 0: of ourselves. */
static int open_event(size_t which, pid_t pid) {
    static const struct {
        uint32_t type;
        uint64_t config;
    } known[EVENTS] = {
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        {PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    };
    struct perf_event_attr event = {.size = sizeof event,
                                    .type = known[which].type,
                                    .config = known[which].config,
                                    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                    .disabled = 1,
                                    .inherit = 1,
                                    .enable_on_exec = 1,
                                    /* What an unprivileged process may ask for with the usual settings. */
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &event, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

#else

static int open_event(size_t which, pid_t pid) {
    (void)which;
    (void)pid;
    errno = ENOSYS;
    return -1;
}

#endif

bool bj_platform_has_counters(char *reason, size_t room) {
    int event = open_event(0, 0), number = errno;
    if (event >= 0) {
        close(event);
        return true;
    }
    snprintf(reason, room, "%s", bj_platform_explain_no_counters(number));
    return false;
}

bj_counters *bj_platform_open_counters(pid_t pid) {
    bj_counters *counters = malloc(sizeof *counters);
    size_t found = 0;
    for (size_t i = 0; counters != NULL && i < EVENTS; i++)
        found += (counters->events[i] = open_event(i, pid)) >= 0;
    if (found > 0)
        return counters;
    free(counters);
    return NULL;
}

static double read_event(int event) {
    uint64_t values[3];
    if (event < 0 || read(event, values, sizeof values) != (ssize_t)sizeof values)
        return NAN;
    return bj_platform_scale_count(values);
}

bj_counter_values bj_platform_read_counters(const bj_counters *counters) {
    return (bj_counter_values){.cycles = read_event(counters->events[0]),
                               .instructions = read_event(counters->events[1]),
                               .loads = read_event(counters->events[2]),
                               .misses = read_event(counters->events[3])};
}

void bj_platform_close_counters(bj_counters *counters) {
    for (size_t i = 0; counters != NULL && i < EVENTS; i++)
        if (counters->events[i] >= 0)
            close(counters->events[i]);
    free(counters);
}
