#include "probes/cache/cache_methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/cache/servet.h"
#include "stats/change_points.h"
#include "stats/monotone.h"
#include "stats/qt_cluster.h"

static void add_level(bj_level_set *found, double size, double latency, double next_latency) {
    if (found->count == BJ_LEVELS_MAX)
        return;
    double first = found->count > 0 ? found->level[found->count - 1].size_x : size / 4;
    found->level[found->count++] = (bj_level){.latency = latency,
                                              .end_latency = latency,
                                              .next_latency = next_latency,
                                              .plateau_first_x = first,
                                              .plateau_last_x = size,
                                              .next_first_x = size * 2,
                                              .ramp_first_x = size,
                                              .ramp_last_x = size * 2,
                                              .size_x = size,
                                              .size_sample_x = size,
                                              .steepest_octave = next_latency / latency};
}

static double *copy_of(const double *y, size_t count) {
    double *copy = malloc((count + 1) * sizeof *copy);
    if (copy != NULL)
        memcpy(copy, y, count * sizeof *copy);
    return copy;
}

/* Drops what is no plateau. The paper's pseudocode prints every cluster; the algorithm that it cites stops at clusters
 * smaller than a given number, without which each point of a ramp is a level. */
static size_t keep_plateaus(bj_qt_cluster *clusters, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (clusters[i].count >= BJ_QT_POINTS_LEAST)
            clusters[kept++] = clusters[i];
    return kept;
}

/* 2012 paper, 4.2.3: clusters of the monotone curve; the largest x of each but the last is a size. */
static bj_status find_by_qt_cluster(const double *x, const double *y, size_t count, const bj_finder_context *context,
                                    bj_level_set *found, bj_error *error) {
    memset(found, 0, sizeof *found);
    double *monotone = copy_of(y, count);
    size_t *cluster_of = malloc((count + 1) * sizeof *cluster_of);
    bj_qt_cluster *clusters = malloc((count + 1) * sizeof *clusters);
    size_t cluster_count = 0;
    bj_status status = BJ_OK;
    if (monotone == NULL || cluster_of == NULL || clusters == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to cluster %zu points", count);
        goto done;
    }
    bj_stats_enforce_monotone(monotone, count);
    status = bj_stats_cluster_qt(monotone, count, BJ_QT_DIAMETER_RATIO, cluster_of, &cluster_count, error);
    if (status != BJ_OK || cluster_count == 0)
        goto done;
    bj_stats_describe_clusters(x, monotone, count, cluster_of, cluster_count, clusters);
    if (context->as_printed)
        cluster_count = keep_plateaus(clusters, cluster_count);
    for (size_t i = 0; i + 1 < cluster_count; i++)
        add_level(found, clusters[i].x_largest, clusters[i].y_smallest, clusters[i + 1].y_smallest);
    found->last_latency = clusters[cluster_count - 1].y_smallest;
done:
    free(clusters);
    free(cluster_of);
    free(monotone);
    return status;
}

typedef struct {
    bj_binomial_model model;
    bj_binomial_scale scale;
    bool peaks_only;
} servet_variant;

static const servet_variant gradient_peaks = {BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED, true},
                            binomial_size = {BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED, false},
                            binomial_literal = {BJ_BINOMIAL_LITERAL, BJ_BINOMIAL_SCALE_WINDOW, false};

/* Servet, figure 4. With peaks_only the position of every peak is the size, without the model. */
static bj_status find_by_servet(const double *x, const double *y, size_t count, const bj_finder_context *context,
                                bj_level_set *found, bj_error *error) {
    const servet_variant *variant = context->variant;
    memset(found, 0, sizeof *found);
    bj_servet_options options = {.page_bytes = context->page_bytes,
                                 .model = variant->model,
                                 .scale = context->as_printed ? BJ_BINOMIAL_SCALE_WINDOW : variant->scale,
                                 .as_printed = context->as_printed};
    bj_servet_level *levels = NULL;
    size_t level_count = 0;
    BJ_TRY(bj_cache_find_servet_levels(x, y, count, &options, &levels, &level_count, error));
    for (size_t i = 0; i < level_count; i++) {
        double size = variant->peaks_only ? x[levels[i].peak] : levels[i].size_bytes;
        double latency = y[i == 0 ? 0 : levels[i].first];
        if (isnan(size))
            continue;
        add_level(found, size, latency, y[levels[i].last]);
        /* Of the curve's own x, the largest that still fits the model's size. */
        bj_level *level = &found->level[found->count - 1];
        level->size_sample_x = x[0];
        for (size_t k = 0; k < count && x[k] <= size; k++)
            level->size_sample_x = x[k];
    }
    if (count > 0)
        found->last_latency = y[count - 1];
    free(levels);
    return BJ_OK;
}

/* Change points of the mean log time: what a textbook would do with such a curve. */
static bj_status find_by_change_points(const double *x, const double *y, size_t count, const bj_finder_context *context,
                                       bj_level_set *found, bj_error *error) {
    (void)context;
    memset(found, 0, sizeof *found);
    double *log_y = copy_of(y, count);
    if (log_y == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", count);
    bj_stats_enforce_monotone(log_y, count);
    for (size_t i = 0; i < count; i++)
        log_y[i] = log(log_y[i]);
    bj_change_point_options options = {.min_segment = BJ_CHANGE_SEGMENT,
                                       .significance = BJ_CHANGE_SIGNIFICANCE,
                                       .permutations = BJ_CHANGE_PERMUTATIONS,
                                       .seed = 1};
    bj_change_point *points = NULL;
    size_t point_count = 0;
    bj_status status = bj_stats_find_change_points(log_y, count, &options, &points, &point_count, error);
    for (size_t i = 0; i < point_count && status == BJ_OK; i++)
        add_level(found, x[points[i].before], exp(points[i].mean_before), exp(points[i].mean_after));
    if (point_count > 0)
        found->last_latency = exp(points[point_count - 1].mean_after);
    free(points);
    free(log_y);
    return status;
}

static const bj_cache_method methods[] = {
    {.name = "levels", .models_capacity = true},
    {.name = BJ_CACHE_PAPER_METHOD, .finder = find_by_qt_cluster, .as_printed = true, .order = BJ_ORDER_PAGE_SEGMENTED},
    {.name = "gradient_peaks",
     .finder = find_by_servet,
     .variant = &gradient_peaks,
     .as_printed = true,
     .order = BJ_ORDER_STRIDE_1K,
     .takes_mean = true},
    {.name = BJ_CACHE_SERVET_METHOD,
     .finder = find_by_servet,
     .variant = &binomial_size,
     .as_printed = true,
     .order = BJ_ORDER_STRIDE_1K,
     .takes_mean = true,
     .capacity_is_size = true},
    {.name = "binomial_size_literal",
     .finder = find_by_servet,
     .variant = &binomial_literal,
     .as_printed = true,
     .order = BJ_ORDER_STRIDE_1K,
     .takes_mean = true,
     .capacity_is_size = true},
    {.name = "change_points", .finder = find_by_change_points},
};

const char *const bj_cache_method_names[] = {
    "levels", BJ_CACHE_PAPER_METHOD, "gradient_peaks", BJ_CACHE_SERVET_METHOD, "binomial_size_literal", "change_points",
    NULL};

const bj_cache_method *bj_cache_find_method(const char *name) {
    for (size_t i = 0; name != NULL && i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return &methods[0];
}
