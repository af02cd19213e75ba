#include "stats/linkage.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    size_t count;
    double *sum;     /* of the distances between two clusters, row by row */
    double *squares; /* of them */
    uint32_t *pairs; /* how many they are */
    bool *gone;      /* joined into another */
    size_t *nearest; /* of each cluster */
    double *height;  /* mean distance to that; INFINITY: nobody has one */
} table;

static double mean_between(const table *all, size_t a, size_t b) {
    uint32_t pairs = all->pairs[a * all->count + b];
    return pairs > 0 ? all->sum[a * all->count + b] / pairs : INFINITY;
}

static void find_nearest(table *all, size_t a) {
    all->height[a] = INFINITY;
    all->nearest[a] = a;
    for (size_t b = 0; b < all->count; b++) {
        if (b == a || all->gone[b])
            continue;
        double mean = mean_between(all, a, b);
        if (mean < all->height[a]) {
            all->height[a] = mean;
            all->nearest[a] = b;
        }
    }
}

/* b into a. Means between clusters never fall below the least of those they come from, so that only clusters whose
 * nearest was one of the two have to look again. */
static void join(table *all, size_t a, size_t b) {
    size_t n = all->count;
    all->gone[b] = true;
    for (size_t k = 0; k < n; k++) {
        if (k == a || all->gone[k] || all->pairs[b * n + k] == 0) /* of many items most have no distance */
            continue;
        all->sum[a * n + k] = all->sum[k * n + a] += all->sum[b * n + k];
        all->squares[a * n + k] = all->squares[k * n + a] += all->squares[b * n + k];
        all->pairs[a * n + k] = all->pairs[k * n + a] += all->pairs[b * n + k];
    }
    for (size_t k = 0; k < n; k++)
        if (!all->gone[k] && (k == a || all->nearest[k] == a || all->nearest[k] == b))
            find_nearest(all, k);
}

static void make_links(table *all, bj_link *links, size_t *link_count) {
    for (size_t i = 0; i < all->count; i++)
        find_nearest(all, i);
    *link_count = 0;
    for (;;) {
        size_t best = 0;
        for (size_t i = 0; i < all->count; i++)
            if (!all->gone[i] && (all->gone[best] || all->height[i] < all->height[best]))
                best = i;
        if (isinf(all->height[best]))
            return;
        size_t other = all->nearest[best];
        size_t cell = best * all->count + other;
        links[(*link_count)++] = (bj_link){best, other, all->height[best], all->squares[cell], all->pairs[cell]};
        join(all, best, other);
        if (*link_count + 1 == all->count)
            return;
    }
}

bj_status bj_stats_link_average(size_t item_count, const bj_distance *distances, size_t distance_count, bj_link *links,
                                size_t *link_count, bj_error *error) {
    *link_count = 0;
    if (item_count < 2)
        return BJ_OK;
    if (item_count > BJ_LINKAGE_ITEMS_MAX)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%zu items to group, at most %u can be", item_count,
                                 BJ_LINKAGE_ITEMS_MAX);
    size_t cells = item_count * item_count;
    table all = {.count = item_count,
                 .sum = calloc(cells, sizeof *all.sum),
                 .squares = calloc(cells, sizeof *all.squares),
                 .pairs = calloc(cells, sizeof *all.pairs),
                 .gone = calloc(item_count, sizeof *all.gone),
                 .nearest = calloc(item_count, sizeof *all.nearest),
                 .height = calloc(item_count, sizeof *all.height)};
    bj_status status = BJ_OK;
    if (!all.sum || !all.squares || !all.pairs || !all.gone || !all.nearest || !all.height) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to group %zu items", item_count);
    } else {
        for (size_t i = 0; i < distance_count; i++) {
            size_t a = distances[i].a, b = distances[i].b;
            double distance = distances[i].distance;
            if (a == b || !isfinite(distance))
                continue;
            all.sum[a * item_count + b] = all.sum[b * item_count + a] += distance;
            all.squares[a * item_count + b] = all.squares[b * item_count + a] += distance * distance;
            all.pairs[a * item_count + b] = all.pairs[b * item_count + a] += 1;
        }
        make_links(&all, links, link_count);
    }
    free(all.sum);
    free(all.squares);
    free(all.pairs);
    free(all.gone);
    free(all.nearest);
    free(all.height);
    return status;
}
