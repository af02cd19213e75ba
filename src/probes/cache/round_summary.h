/* The rounds of a walk in one curve, and the levels in it: what is found once from all rounds, and again from every
 * resample of them.
 *
 * The TLB's cost, told by the twins, is taken off before levels are looked for. Sizes are read off the curve as it was,
 * since a program pays for both. */
#pragma once

#include "data/curve.h"
#include "probes/cache/levels.h"
#include "probes/cache/occupancy.h"
#include "probes/cache/twin_cost.h"

typedef struct {
    const bj_curve *curve; /* NULL: none */
    double visits;         /* to a line in a lap */
} bj_revisits;

typedef struct {
    const bj_curve *walk;
    const bj_curve *spread, *packed; /* the twins, by the extent of the spread one; NULL: none */
    bj_revisits revisits[BJ_REVISIT_CURVES];
    /* The pages of a mapping lie where chance put them (base pages): ramps of the physically indexed levels differ
     * between rounds by luck, which goes both ways, and are summed up by the mean instead. */
    bool lucky_frames;
    bool huge_pages;        /* a first level fits into one page: its lines meet in sets in order */
    bool levels_only;       /* where the edges are, while still measuring: stairs are left alone */
    bj_level_finder finder; /* NULL: bj_cache_find_levels */
    const bj_finder_context *finder_context;
    bool finder_takes_mean; /* of the rounds, else a low quantile */
} bj_summary_request;

typedef struct {
    const bj_summary_request *request;
    double *x, *y;           /* the summed-up curve, of the points that have samples; y does not fall */
    double *own, *removed;   /* y without the TLB's cost, and that cost */
    double *removed_error;   /* by how much it may be wrong */
    double *lowest, *middle; /* y by a lower quantile and by the mean; do not fall */
    double *error;           /* standard error of each point of the walk, over all rounds */
    size_t count;
    bj_twin_cost twin;
    double *packed_x, *packed_y;
    double *column;                       /* scratch of one point */
    double *ramp_x, *ramp_y, *ramp_error; /* scratch of one ramp */
    bj_level_hints hints;
    double *block; /* that all of these lie in */
} bj_round_summary;

bj_status bj_cache_make_summary(const bj_summary_request *request, bj_round_summary *s, bj_error *error) BJ_WARN_UNUSED;
void bj_cache_free_summary(bj_round_summary *s);

/* Estimates the standard errors of all points, and that of a typical one for the hints. `scratch` has room for all
 * points. */
void bj_cache_estimate_noise(bj_round_summary *s, double *scratch);

/* Sums up the chosen rounds (NULL: the first ones) and finds the levels; `skip` leaves one point of the walk out (its
 * x_count: none). */
bj_status bj_cache_find_in_rounds(bj_round_summary *s, const size_t *index, size_t index_count, size_t skip,
                                  bj_level_set *found, bj_error *error) BJ_WARN_UNUSED;

/* The curve that sizes and ramps of a level are read off. */
const double *bj_cache_choose_ramp(const bj_round_summary *s, size_t index, size_t level_count);
/* The size of a level with these latencies, which may be others than those of level `index` of the set. */
void bj_cache_measure_size(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_level *level);
/* The points of a curve from first to last, without the TLB's cost and with their errors; how many. */
size_t bj_cache_cut_ramp(const bj_round_summary *s, const double *curve, double first, double last, double *x,
                         double *y, double *error);
/* Where the points that tell about the edge of a level begin, on its plateau. */
double bj_cache_find_ramp_begin(const bj_level *level);
/* Is one cache enough to explain what follows the plateau of a level? */
bool bj_cache_explains_ramp(const bj_occupancy *fit, const bj_level *level);
/* The mean of sorted samples without what lies far above the rest. */
double bj_cache_average_fenced(const double *sorted, size_t count);
