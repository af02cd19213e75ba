/* Change points: where the mean of a sequence changes, how often it does, and how sure that is.
 *
 * Binary segmentation: the split of a segment that explains most of its variance is tested against the same
 * values in shuffled order; if it stands out, both halves are searched in turn, and in the end every point is
 * put at its best place between its neighbours. The caller chooses the space of y (log latency makes steps of equal
 * ratio equal). Assumes that noise is about alike within a segment. A shuffled segment of n values with parts of n/2
 * has few orders: eight values can show p = 0.03 at best, so short segments need several samples a point. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    size_t min_segment;  /* least number of values on each side of a change, from 1 */
    double significance; /* a split is kept when p <= this */
    size_t permutations; /* p is at least 1 / (1 + permutations); 0: nothing can be found below p = 1 */
    uint64_t seed;
} bj_change_point_options;

typedef struct {
    size_t before, after;           /* indexes of the values on both sides; neighbours unless NaN lies between */
    double mean_before, mean_after; /* of the two segments that meet here */
    double p; /* (1 + shuffles that split as well) / (1 + permutations), of the test that found it; never 0 */
} bj_change_point;

/* *points ascends by index and is the caller's to free, NULL when there are none. Values that are not finite are
 * left out. */
bj_status bj_stats_find_change_points(const double *y, size_t count, const bj_change_point_options *options,
                                      bj_change_point **points, size_t *point_count, bj_error *error) BJ_WARN_UNUSED;
