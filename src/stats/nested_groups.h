/* Items in groups, groups in larger groups, from distances between pairs of items: an ultrametric tree, or the verdict
 * that there is none.
 *
 * Average linkage joins items nearest first. Where all of a level is joined, its heights jump to the next level's: a
 * level of groups is such a jump that shuffled distances do not show, that leaves few items out, and whose groups are
 * cliques (near pairs lie within groups, far ones between them). Levels are found from the inside; the groups of one
 * are the items of the next. Then once more within the groups of each, where distances between larger groups no longer
 * drown a small rise. Structure that is no clique (a ring, one group that costs as much inside as outside) is
 * told apart from none at all.
 *
 * Distances are in log space, so that equal ratios are equal jumps. Assumes that noise is about alike for all pairs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats/linkage.h"

typedef struct {
    size_t *group_of; /* by item, numbered as they first come; one that stands alone has a group of its own */
    size_t group_count;
    double inside, across; /* mean distance within groups (but not within those of the level before), and between */
    double p;              /* share of shuffles that jump as far */
} bj_group_level;

/* Each level is searched for from within and from without, once in vain. */
enum { BJ_GROUP_LEVELS_MAX = 8, BJ_GROUP_SEARCHES_MAX = 2 * BJ_GROUP_LEVELS_MAX + 2 };

typedef struct {
    bj_group_level levels[BJ_GROUP_LEVELS_MAX]; /* from the innermost */
    size_t level_count;
    bool not_a_tree; /* what the outermost groups (or all items) are to each other has structure, but no cliques */
    /* Of each search for a level, in their order: what a jump must exceed not to be noise, as a level of groups and as
     * structure of any kind. */
    double limits[BJ_GROUP_SEARCHES_MAX], any_limits[BJ_GROUP_SEARCHES_MAX];
    size_t search_count;
} bj_nested_groups;

/* `distances` are natural logarithms. */
bj_status bj_stats_nest_groups(size_t item_count, const bj_distance *distances, size_t distance_count, uint64_t seed,
                               bj_nested_groups *nested, bj_error *error) BJ_WARN_UNUSED;
/* The same for other distances of the same pairs, as resamples have them: the limits are those of `like`, which cost
 * nearly all of the time to find. p is NaN. */
bj_status bj_stats_nest_groups_again(size_t item_count, const bj_distance *distances, size_t distance_count,
                                     const bj_nested_groups *like, bj_nested_groups *nested,
                                     bj_error *error) BJ_WARN_UNUSED;
void bj_stats_free_nested_groups(bj_nested_groups *nested);
