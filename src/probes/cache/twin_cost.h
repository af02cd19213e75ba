/* What the TLB adds to a walk, by the twins: as many lines spread one a page and packed into fewer pages cost the
 * caches the same, so the difference is the TLB's. */
#pragma once

#include <stddef.h>

typedef struct {
    double *x;     /* extents of the spread twin, ascending */
    double *cost;  /* of missing the TLBs whose reach is below that extent; does not fall */
    size_t *begin; /* where the rise begins that the one up to an extent belongs to */
    size_t count;  /* 0: no twins, and no cost */
} bj_twin_cost;

/* From twin->x and `more`: what the spread twin takes more than the packed one at each of `count` extents. */
void bj_cache_sum_twin_cost(const double *more, size_t count, bj_twin_cost *twin);
/* What the TLB adds to a walk over every line of x bytes. */
double bj_cache_predict_tlb_cost(const bj_twin_cost *twin, double x);
/* How wrong that may be. */
double bj_cache_predict_tlb_error(const bj_twin_cost *twin, double x);
