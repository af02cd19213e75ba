/* What the cache probe found, for probes that choose their buffers by it. */
#pragma once

#include "data/answer.h"

#define BJ_KNOWN_CACHES_MAX 8u

typedef struct {
    size_t count; /* 0: nothing is known */
    /* Of level n at n - 1: what surely fits (the lower of effective size and capacity) and what may still hit (the
     * higher); 0 where the probe could not tell. */
    double fits_bytes[BJ_KNOWN_CACHES_MAX], holds_bytes[BJ_KNOWN_CACHES_MAX];
} bj_known_caches;

void bj_known_caches_read(const bj_answers *earlier, bj_known_caches *caches);
/* The most that a level nearer than this one (from 0) may hold. */
double bj_known_caches_find_nearer(const bj_known_caches *caches, size_t level);
/* The most that any level may hold. */
double bj_known_caches_largest(const bj_known_caches *caches);
/* Latency of a level (from 1) in ns; that of memory (within the TLB's reach if that is known) where there is none of
 * the level. NaN: neither is known. */
double bj_known_caches_find_latency(const bj_answers *earlier, size_t level);
