/* Quality-threshold clustering of a curve's y values (blackjackbench-2012, figure 10).
 *
 * Each point starts a candidate cluster and takes in the point that widens it least, while the diameter stays
 * within a share of the candidate's average; the largest candidate is a cluster, and the rest is clustered
 * again. The paper prints that recursion inside the loop over points; it belongs after it.
 * A point is usable when y is finite and > 0. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* The paper's threshold: 25% of the average before the point is added. */
#define BJ_QT_DIAMETER_RATIO 0.25
/* The cluster of an unusable point. */
#define BJ_QT_NO_CLUSTER ((size_t)-1)

typedef struct {
    size_t count;
    double x_largest;  /* the level's size */
    double y_smallest; /* the level's latency */
} bj_qt_cluster;

/* cluster_of has room for count. Clusters are numbered from 0 by their smallest y. Of candidates of equal size the
 * one with the smaller y values wins, so the order of the points does not matter. */
bj_status bj_stats_cluster_qt(const double *y, size_t count, double diameter_ratio, size_t *cluster_of,
                              size_t *cluster_count, bj_error *error) BJ_WARN_UNUSED;
/* clusters has room for cluster_count. */
void bj_stats_describe_clusters(const double *x, const double *y, size_t count, const size_t *cluster_of,
                                size_t cluster_count, bj_qt_cluster *clusters);
