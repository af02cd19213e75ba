/* The clocks, and what reading them costs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Monotonic wall time and cpu time of the calling thread, in ns; the processor's counter, in ticks of its own. */
typedef enum { BJ_CLOCK_WALL, BJ_CLOCK_CPU, BJ_CLOCK_CYCLES } bj_clock;

uint64_t bj_platform_read_ns(void);
/* In the clock's own unit; 0 where there is none. */
uint64_t bj_platform_read_clock(bj_clock clock);
/* The counter: only where a compiler's builtin reads one. */
bool bj_platform_has_clock(bj_clock clock);
/* ns of one read: so many in a row, timed by the wall clock. */
double bj_platform_time_reads(bj_clock clock, size_t reads);
/* The least difference above zero between two reads in a row, in the clock's unit; 0: it does not move. */
uint64_t bj_platform_find_least_step(bj_clock clock);
/* Whether the wall clock is one to measure by: one that stands still or moves in large steps is told at once. */
bj_status bj_platform_check_clock(bj_error *error) BJ_WARN_UNUSED;
/* The clock's unit in ns; of the counter by the wall clock, over some milliseconds. */
double bj_platform_measure_tick_ns(bj_clock clock);
/* Smallest batch that the wall clock can time honestly: a thousand times the larger of the measured cost of reading it
 * and its least step. */
double bj_platform_measure_batch_ns(void);
/* UTC now, "2026-11-15T07:00:00Z"; text has room for 32. */
void bj_platform_format_utc(char *text);
