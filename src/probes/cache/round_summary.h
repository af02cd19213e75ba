/* The rounds of a curve in one curve, and the levels in it: what is found once from all rounds, and again from every
 * resample of them. */
#ifndef BJ_PROBES_CACHE_ROUND_SUMMARY_H
#define BJ_PROBES_CACHE_ROUND_SUMMARY_H

#include <stddef.h>

#include "probes/cache/hierarchy.h"

/* Rounds are summed up low, since disturbance only adds time; not at the bottom, since the frames of a mapping can be
 * lucky, too, and a capacity taken from the luckiest round is too large. */
#define BJ_LOW_OF_ROUNDS 0.25
/* Misses set in at the capacity or, on random frames, below it: by no more than this. */
#define BJ_CAPACITY_BELOW_RAMP 1.5

/* How well a latency is known: plateaus begin before nothing hits the level before any more. */
#define BJ_PLATEAU_ERROR 0.04

/* A step of the twins of less than this share of all that they rise is noise, or moves no answer. */
#define BJ_TLB_STEP_OF_ALL 0.1

typedef struct {
    const bj_hierarchy_request *request;
    double *x, *y;           /* the summed-up curve, of the points that have samples; y does not fall */
    double *own, *removed;   /* y without the TLB's cost, and that */
    double *removed_error;   /* by how much that may be wrong */
    double *lowest, *middle; /* y by a lower quantile and by the mean; do not fall */
    double *error;           /* standard error of each point of the request, over all rounds */
    double *twin_x, *tlb;    /* cost of missing the TLBs whose reach is below that extent */
    size_t *tlb_begin;       /* where the rise begins that the one up to an extent belongs to */
    double *packed_x, *packed_y;
    double *column;                       /* scratch of one point */
    double *ramp_x, *ramp_y, *ramp_error; /* and of one ramp */
    size_t count, twin_count;
    bj_level_hints hints;
} bj_round_summary;

bj_status bj_cache_make_summary(const bj_hierarchy_request *request, bj_round_summary *s,
                                bj_error *error) BJ_WARN_UNUSED;
void bj_cache_free_summary(bj_round_summary *s);

/* Standard errors of all points, left in the summary; returns the relative one of a typical point. `scratch` has room
 * for all points. */
double bj_cache_estimate_noise(bj_round_summary *s, double *scratch);

/* Sums up the chosen rounds and finds the levels; `skip` leaves one point out (the request's count: none). */
bj_status bj_cache_find_in_rounds(bj_round_summary *s, const size_t *index, size_t index_count, size_t skip,
                                  bj_level_set *found, bj_error *error) BJ_WARN_UNUSED;

/* The curve that sizes and ramps of a level are read off. */
const double *bj_cache_ramp_of(const bj_round_summary *s, size_t index, size_t level_count);

/* The size of a level with these latencies, which may be others than those of level `index` of the set. */
void bj_cache_measure_size(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_level *level);

/* The points of a curve from first to last, without the TLB's cost and with their errors. */
size_t bj_cache_cut_without_tlb(const bj_round_summary *s, const double *curve, double first, double last, double *x,
                                double *y, double *error);

/* Where the points that tell about the edge of a level begin, on its plateau. */
double bj_cache_ramp_begin(const bj_level *level);

/* Is the ramp of one cache enough to explain what follows the plateau of a level? */
bool bj_cache_explains_ramp(const bj_occupancy *fit, const bj_level *level);

/* What the TLB adds to a walk over every line of x bytes. */
double bj_cache_tlb_cost_at(const bj_round_summary *s, double x);

/* The mean of sorted samples without what lies far above the rest. */
double bj_cache_fenced_mean(const double *sorted, size_t count);

#endif
