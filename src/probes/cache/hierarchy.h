/* A memory hierarchy from rounds of a curve: levels with size, capacity and latency, and how sure each is.
 *
 * The rounds are summed up by a low quantile, the levels found in that curve; then whole rounds are drawn again and
 * again, and what the levels do under that gives intervals and support. A curve of a single round (somebody's
 * table) has no rounds to draw: there every point is left out once instead.
 *
 * The TLB is measured by twins and its cost taken off before levels are looked for: as many lines spread one a page
 * and packed into fewer pages cost the caches the same, so the difference is the TLB's. Sizes are read off the curve
 * as it was, since a program pays for both; capacities are the cache's own. */
#ifndef BJ_PROBES_CACHE_HIERARCHY_H
#define BJ_PROBES_CACHE_HIERARCHY_H

#include <stdint.h>

#include "probes/cache/levels.h"
#include "probes/cache/occupancy.h"

typedef struct {
    double value;
    double interval[2]; /* 95%; what single rounds gave, when they differ too much */
} bj_estimate;

typedef struct {
    bj_estimate size, size_sample, capacity, latency;
    bool ramp_explained;             /* by one cache, from its plateau on */
    bool revisited;                  /* the capacity is told by walks with several visits a line */
    bool disputed;                   /* the ramp says another capacity, and explains itself as well */
    bj_replacement ramp_replacement; /* that explains the ramp best */
    bool has_capacity;               /* false: no ramp that the model could follow */
    double capacity_error;           /* relative misfit of the model */
    double support;                  /* share of the resamples that have this level at about this size */
    double p;                        /* permutation test of the step at its end */
    double spread;                   /* 90% over 10% of the sizes that single rounds gave; 1 from a single round */
    double single_low, single_high;  /* least and greatest of them; 0: too few rounds */
    double single_sigma;             /* standard deviation of their logarithms */
    double next_gained;              /* by hits of this level, where the next one's latency is read: a share of that */
    double next_factor;              /* of that latency to the one read, by the revisits; 1: they do not tell */
    double size_open[2];             /* sizes that the error of the latency leaves open */
    bj_level level;                  /* as found in the summed-up curve */
} bj_hierarchy_level;

/* Neighbouring extents of the twins between which a good part of the TLB's cost sets in: finer twins in between would
 * tell its reach. A TLB spans one such step or up to four, the fewer ways the more, and there are two, rarely three. */
#define BJ_TLB_STEPS_MAX 8u

typedef struct {
    double first_x, last_x;
} bj_tlb_step;

typedef struct {
    bj_hierarchy_level level[BJ_LEVELS_MAX];
    size_t count;
    bj_tlb_step tlb_step[BJ_TLB_STEPS_MAX];
    size_t tlb_step_count;
    double count_support;     /* share of the resamples with as many levels */
    size_t least, most;       /* number of levels in 95% of the resamples */
    bj_estimate last_latency; /* memory */
    double far_latency;       /* of the access far beyond, without the TLB's cost; 0: not measured */
    bool memory_hides_edge;   /* see levels.h */
    double noise;             /* relative standard error of a point of the summed-up curve */
} bj_hierarchy;

/* Finds levels in one summed-up curve: bj_cache_find_levels or a paper's way. */
typedef bj_status (*bj_level_finder)(const double *x, const double *y, size_t count, const bj_level_hints *hints,
                                     void *context, bj_level_set *found, bj_error *error);

/* With many visits where that is cheap, with few where it is not. */
#define BJ_REVISIT_CURVES 3u

/* Rounds of walks with several visits a line. */
typedef struct {
    const double *x;
    size_t count;
    const double *const *rounds;
    size_t round_count;
    double visits;
} bj_revisit_rounds;

typedef struct {
    const double *x;
    size_t count;
    const double *const *rounds; /* round_count rows of count; NaN: not measured */
    size_t round_count;
    /* The twins, or none: time against the extent of the spread one. What only one of them has says nothing. */
    const double *twin_x, *packed_x;
    size_t twin_count, packed_count;
    const double *const *spread_rounds, *const *packed_rounds;
    size_t twin_round_count;
    double packing;                                /* how many times fewer pages the packed one has */
    bj_revisit_rounds revisits[BJ_REVISIT_CURVES]; /* count 0: none */
    double far_x, far_time;                        /* one walk far beyond the others; 0: none */
    /* The pages of a mapping lie where chance put them (base pages): ramps of the physically indexed levels differ
     * between rounds by luck, which goes both ways, and are summed up by the mean instead. */
    bool lucky_frames;
    /* A first level fits into one page: its lines meet in sets in order. */
    bool huge_pages;
    uint64_t seed;
    bool levels_only;       /* no resampling, no capacities: where the edges are, while still measuring */
    bj_level_finder finder; /* NULL: bj_cache_find_levels */
    void *finder_context;
} bj_hierarchy_request;

bj_status bj_cache_fit_hierarchy(const bj_hierarchy_request *request, bj_hierarchy *found,
                                 bj_error *error) BJ_WARN_UNUSED;

#endif
