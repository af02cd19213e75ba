/* The capacity that explains a level's edge best: by the ramp of the walk, by walks with several visits a line, or by
 * both. */
#ifndef BJ_PROBES_CACHE_LEVEL_CAPACITY_H
#define BJ_PROBES_CACHE_LEVEL_CAPACITY_H

#include "probes/cache/round_summary.h"

/* By the ramp alone. With a first fit: its shape, near its capacity, for resamples. `scratch` has room for three times
 * the points. */
bool bj_cache_fit_capacity(const bj_round_summary *s, const bj_level *level, size_t index, size_t level_count,
                           bj_replacement expected, const bj_occupancy *first_fit, double *scratch, bj_occupancy *fit);

/* Files the capacity of a level in `found`, which has those of the nearer ones and a next_factor of 1. */
void bj_cache_find_capacity(bj_round_summary *s, const bj_level_set *set, size_t index, double *scratch,
                            bj_occupancy *fit, bj_hierarchy *found);

#endif
