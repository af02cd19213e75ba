/* Average linkage (UPGMA): items joined into ever larger clusters, nearest first, by the mean distance between their
 * members. Not every pair needs a distance: the mean is over those that have one, and clusters without any between
 * them are not joined. */
#pragma once

#include <stddef.h>

#include "base/status.h"

typedef struct {
    size_t a, b; /* items, below the count */
    double distance;
} bj_distance;

/* The clusters that these items are in become one. */
typedef struct {
    size_t a, b;
    double height;  /* mean distance between the two; does not fall from link to link but for pairs without distances */
    double squares; /* sum of the squared distances between the two */
    size_t pairs;   /* that have a distance */
} bj_link;

/* Items that linkage takes: it keeps a square of them. */
#define BJ_LINKAGE_ITEMS_MAX 4096u

/* links has room for item_count - 1, sorted as they were made; fewer when what has distances is not connected. Pairs of
 * an item with itself are ignored, repeated ones count each time. */
bj_status bj_stats_link_average(size_t item_count, const bj_distance *distances, size_t distance_count, bj_link *links,
                                size_t *link_count, bj_error *error) BJ_WARN_UNUSED;
