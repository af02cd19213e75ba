#include "stats/qt_cluster.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double y;
    size_t index;
} point;

typedef struct {
    size_t first, last; /* inclusive, in the sorted remainder */
} span;

static int compare_points(const void *left, const void *right) {
    const point *a = left, *b = right;
    if (a->y != b->y)
        return a->y < b->y ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* On a line a cluster is a run of the sorted points, and the point that widens it least is one of its two
 * neighbours; no other needs a look. */
static span grow_candidate(const point *points, size_t count, size_t start, double diameter_ratio) {
    span grown = {start, start};
    double sum = points[start].y;
    while (grown.last - grown.first + 1 < count) {
        double members = (double)(grown.last - grown.first + 1);
        double below = INFINITY, above = INFINITY;
        if (grown.first > 0)
            below = points[grown.last].y - points[grown.first - 1].y;
        if (grown.last + 1 < count)
            above = points[grown.last + 1].y - points[grown.first].y;
        if (fmin(below, above) > diameter_ratio * sum / members)
            break;
        if (below <= above)
            sum += points[--grown.first].y;
        else
            sum += points[++grown.last].y;
    }
    return grown;
}

static span find_largest_candidate(const point *points, size_t count, double diameter_ratio) {
    span largest = grow_candidate(points, count, 0, diameter_ratio);
    for (size_t i = 1; i < count; i++) {
        span candidate = grow_candidate(points, count, i, diameter_ratio);
        if (candidate.last - candidate.first > largest.last - largest.first)
            largest = candidate;
    }
    return largest;
}

static void remove_span(point *points, size_t *count, span removed) {
    size_t kept = removed.first;
    for (size_t i = removed.last + 1; i < *count; i++)
        points[kept++] = points[i];
    *count = kept;
}

/* Clusters were found by cardinality; number them by their smallest y instead. smallest holds {y, found id}. */
static void renumber(point *smallest, size_t cluster_count, size_t *new_id, size_t *cluster_of, size_t count) {
    qsort(smallest, cluster_count, sizeof *smallest, compare_points);
    for (size_t i = 0; i < cluster_count; i++)
        new_id[smallest[i].index] = i;
    for (size_t i = 0; i < count; i++)
        if (cluster_of[i] != BJ_QT_NO_CLUSTER)
            cluster_of[i] = new_id[cluster_of[i]];
}

bj_status bj_stats_cluster_qt(const double *y, size_t count, double diameter_ratio, size_t *cluster_of,
                              size_t *cluster_count, bj_error *error) {
    *cluster_count = 0;
    if (count == 0)
        return BJ_OK;
    bj_status status = BJ_OK;
    point *points = malloc(count * sizeof *points);
    point *smallest = malloc(count * sizeof *smallest);
    size_t *new_id = malloc(count * sizeof *new_id);
    if (!points || !smallest || !new_id) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to cluster %zu points", count);
        goto cleanup;
    }
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        cluster_of[i] = BJ_QT_NO_CLUSTER;
        if (isfinite(y[i]) && y[i] > 0)
            points[left++] = (point){y[i], i};
    }
    qsort(points, left, sizeof *points, compare_points);
    size_t found = 0;
    while (left > 0) {
        span cluster = find_largest_candidate(points, left, diameter_ratio);
        for (size_t i = cluster.first; i <= cluster.last; i++)
            cluster_of[points[i].index] = found;
        smallest[found] = (point){points[cluster.first].y, found};
        found++;
        remove_span(points, &left, cluster);
    }
    renumber(smallest, found, new_id, cluster_of, count);
    *cluster_count = found;
cleanup:
    free(points);
    free(smallest);
    free(new_id);
    return status;
}

void bj_stats_describe_clusters(const double *x, const double *y, size_t count, const size_t *cluster_of,
                                size_t cluster_count, bj_qt_cluster *clusters) {
    for (size_t i = 0; i < cluster_count; i++)
        clusters[i] = (bj_qt_cluster){0, -INFINITY, INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (cluster_of[i] >= cluster_count)
            continue;
        bj_qt_cluster *cluster = &clusters[cluster_of[i]];
        cluster->count++;
        cluster->x_largest = fmax(cluster->x_largest, x[i]);
        cluster->y_smallest = fmin(cluster->y_smallest, y[i]);
    }
}
