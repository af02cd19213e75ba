/* The processor's own counters of another process, where the system has them and lets us (Linux: perf_event). Only what
 * all processors have by a common name: there is none for floating-point operations or DRAM rows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* NaN: not counted. */
typedef struct {
    double cycles, instructions;
    double loads;  /* that the first level of the cache was asked for */
    double misses; /* of the last level */
} bj_counter_values;

typedef struct bj_counters bj_counters;

/* Whether programs that we start can be counted; where not, `reason` (one line) says why. */
bool bj_platform_has_counters(char *reason, size_t room);
/* Of a child that is yet to become another program: from then on, with all that it starts, in user mode. NULL: nothing
 * can be counted. */
bj_counters *bj_platform_open_counters(pid_t pid);
/* What was counted so far; after the child's end, all of it. */
bj_counter_values bj_platform_read_counters(const bj_counters *counters);
void bj_platform_close_counters(bj_counters *counters);

/* A count that was taken in turns with others, for all the time: what the kernel hands out is the count, the time that
 * it was wanted and the time that it had a register. NaN: never. */
double bj_platform_scale_count(const uint64_t values[3]);
/* Why the system refuses, by the number of the error. */
const char *bj_platform_explain_no_counters(int error_number);
