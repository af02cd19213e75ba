/* The bench: what lasts from timing to timing. Areas that grow and stay mapped, the clock and how long a timing must be
 * for it, the flush area that was found to be large enough. */
#pragma once

#include "platform/clock.h"
#include "platform/pages.h"
#include "timer/plan.h"
#include "timer/reference.h"

typedef enum { BJ_TIME_CHOOSE, BJ_TIME_WALL, BJ_TIME_CPU } bj_timer_clock;

typedef struct {
    bj_timer_caches caches;
    bj_timer_clock clock;
    unsigned threads;    /* of the kernel; 0: one */
    size_t memory_bytes; /* that areas may take; 0: a share of what the process may use */
    uint64_t seed;
} bj_timer_bench_options;

typedef struct {
    bj_mapping mapping;
    bool huge;
} bj_timer_kept_area;

typedef struct {
    bj_timer_caches caches;
    bj_clock clock;
    char clock_reason[120]; /* why this one */
    double step_ns;         /* of the clock: the larger of its least difference and of what a read costs */
    double timing_ns;       /* least length of a timing */
    unsigned threads;
    int *cpus;
    size_t cpu_count;
    size_t memory_bytes;
    size_t flush_bytes; /* that are read before a call */
    size_t sets_bytes;  /* that many calls pass through before they come back */
    size_t flush_most;  /* neither grows beyond this */
    bool flush_capped;  /* for lack of memory */
    uint64_t seed;
    bj_timer_reference reference; /* none with threads, which run anywhere */
    bj_timer_kept_area areas[BJ_TIMER_OPERANDS_MAX + 2];
    char *pattern; /* what operands are initialised with, and its negation behind it */
} bj_timer_bench;

/* Of the pattern; any part of it that begins at a multiple of 8 will do. */
#define BJ_PATTERN_BYTES ((size_t)16384)

/* Warms the processor up, chooses the clock and lets the flush area grow until a cold walk gets no slower.
 * BJ_ERR_USAGE: cpu time of several threads.
 */
bj_status bj_timer_open_bench(const bj_timer_bench_options *options, bj_timer_bench **bench,
                              bj_error *error) BJ_WARN_UNUSED;
void bj_timer_close_bench(bj_timer_bench *bench);
/* The calling thread stays on one cpu until it is let go, unless the kernel has threads, which would inherit that. */
bj_status bj_timer_pin(const bj_timer_bench *bench, bj_error *error) BJ_WARN_UNUSED;
void bj_timer_let_go(const bj_timer_bench *bench);
/* Sees to it that each area of the plan is mapped; memory[] receives where. Huge pages are taken where they are asked
 * for and granted. */
bj_status bj_timer_map_areas(bj_timer_bench *bench, const bj_timer_plan *plan, bool huge, char **memory,
                             bj_error *error) BJ_WARN_UNUSED;
/* Mixed signs and never zero, whether it is read as floats or as doubles. */
void bj_timer_fill(const bj_timer_bench *bench, char *memory, size_t bytes, bool negated);
/* Reads an area from the cpus that the kernel may run on. */
void bj_timer_read_area(const bj_timer_bench *bench, const char *memory, size_t bytes);
/* Writes a chain of pointers through so many places, in random order, one in each group of `group` lines; returns its
 * start. `order` is scratch, one a place. */
void **bj_timer_write_chain(char *memory, size_t places, size_t group, size_t line_bytes, uint64_t seed,
                            uint32_t *order);
