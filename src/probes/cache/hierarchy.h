/* A memory hierarchy from rounds of a curve: levels with size, capacity and latency, and how sure each is.
 *
 * The rounds are summed up by a low quantile, the levels found in that curve; then whole rounds are drawn again and
 * again, and what the levels do under that gives intervals and support. A curve of a single round (somebody's
 * table) has no rounds to draw: there every point is left out once instead. */
#pragma once

#include "probes/cache/level_capacity.h"
#include "probes/kit/estimate.h"
#include "probes/kit/yardstick.h"

/* The support of all four is the share of the resamples that have this level at about this size. */
typedef struct {
    bj_estimate size; /* `single`: what single rounds give, NaN: too few of them agree on the levels */
    bj_estimate size_sample, capacity, latency;
    bj_estimate cycles;   /* the latency by the yardstick of the same rounds; NaN: they have none */
    double p;             /* permutation test of the step at its end */
    double single_sigma;  /* standard deviation of the logarithms of what single rounds give */
    double size_range[2]; /* sizes that are possible, as well as the latencies are known */
    bj_level level;       /* as found in the summed-up curve */
} bj_hierarchy_level;

/* Neighbouring extents of the twins between which a good part of the TLB's cost sets in: finer twins in between would
 * tell its reach. A TLB spans one such step or up to four, the fewer ways the more, and there are two, rarely three. */
#define BJ_TWIN_STEPS_MAX 8u

typedef struct {
    double first_x, last_x;
    double rise; /* of the cost */
} bj_twin_step;

typedef struct {
    bj_hierarchy_level level[BJ_LEVELS_MAX];
    bj_edge_fit edge[BJ_LEVELS_MAX]; /* of each level; not while levels_only */
    size_t count;
    bj_estimate levels; /* the count as an estimate */
    bj_estimate memory_latency;
    bj_twin_step twin_step[BJ_TWIN_STEPS_MAX];
    size_t twin_step_count;
} bj_hierarchy;

typedef struct {
    bj_summary_request curves;
    const bj_yardstick *yardstick; /* of the rounds of the walk; NULL: none */
    uint64_t seed;
} bj_hierarchy_request;

/* With curves.levels_only there is no resampling, and no capacities. */
bj_status bj_cache_fit_hierarchy(const bj_hierarchy_request *request, bj_hierarchy *found,
                                 bj_error *error) BJ_WARN_UNUSED;
