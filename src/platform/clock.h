/* The monotonic clock, and what reading it costs. */
#ifndef BJ_PLATFORM_CLOCK_H
#define BJ_PLATFORM_CLOCK_H

#include <stdint.h>

uint64_t bj_platform_read_ns(void);
/* Smallest batch that the clock can time honestly: a thousand times the larger of the measured cost of
 * reading it and its visible granularity. */
double bj_platform_measure_batch_ns(void);
/* UTC now, "2026-11-15T07:00:00Z"; text has room for 32. */
void bj_platform_format_utc(char *text);

#endif
