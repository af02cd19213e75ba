/* The reference: a read of lines that were dropped from all caches. It tells from timing to timing whether memory is as
 * fast as it was: where tenants share it, a timing of some milliseconds may meet them from end to end, and its samples
 * agree with each other all the same. (Beside a neighbour that copied by fits and starts such a read took up to 1.4
 * times its least when a cold dot product took 1.4 to 1.5 times, and its least again when that did. Latency did not
 * follow: prefetchers that adapt changed it by a third on a quiet machine.) */
#pragma once

#include "platform/pages.h"

typedef struct {
    bj_mapping area; /* bytes 0: there is none, as where lines cannot be dropped */
    size_t line_bytes;
    double least_ns; /* of all reads */
} bj_timer_reference;

/* Without room for it, or without an instruction that drops lines, there is no reference. */
void bj_timer_open_reference(size_t line_bytes, bj_timer_reference *reference);
void bj_timer_close_reference(bj_timer_reference *reference);
/* ns of the fastest of a few reads; NaN: there is no reference. Takes a millisecond or two, and leaves its lines in the
 * caches. */
double bj_timer_read_reference(bj_timer_reference *reference);
