/* The occupancy model: which capacity explains the ramp from one latency to the next.
 *
 * A walk over x bytes puts n lines into a set of K ways. With pages on random frames n - 1 is Poisson with mean
 * K x / C for the line that is looked at (Servet's binomial model, size-biased, with the page size taken to its limit,
 * so that it need not be known); with contiguous frames n is K x / C, rounded down in some sets and up in the others.
 * A set that holds no more than K lines always hits. One that holds more misses always under true LRU and a cyclic
 * walk, and at best 1 - K / n of the time; `retention` says where between the two the replacement lies. */
#ifndef BJ_STATS_OCCUPANCY_H
#define BJ_STATS_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct {
    unsigned ways;
    bool random_frames;
    double retention; /* 0: LRU, 1: the best that any replacement can do */
} bj_occupancy_shape;

typedef struct {
    double capacity;          /* mean over all shapes and capacities, weighted by how well they explain the ramp */
    double interval[2];       /* 95% of that weight */
    double low, high;         /* latencies of hit and miss, of the best fit */
    bj_occupancy_shape shape; /* of the best fit */
    double error;             /* of the best fit: root mean square, 1 is what counts as nothing */
} bj_occupancy;

/* Miss share of a walk over x = ratio × capacity. */
double bj_stats_predict_occupancy_misses(const bj_occupancy_shape *shape, double ratio);

/* x ascending, y positive; needs 3 points. noise is the relative standard error of a y, or 0. Looks for capacities in
 * [first, last]. False: too few points, or no rise. With `only` given, that shape alone is tried (resampling). */
bool bj_stats_fit_occupancy(const double *x, const double *y, size_t count, double noise, double first, double last,
                            const bj_occupancy_shape *only, bj_occupancy *fit);

#endif
