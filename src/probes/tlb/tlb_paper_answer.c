#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/tlb/tlb_constants.h"
#include "probes/tlb/tlb_paper.h"
#include "probes/tlb/tlb_twins.h"
#include "stats/monotone.h"
#include "stats/qt_cluster.h"
#include "stats/quantile.h"

/* Levels of one curve. */
typedef struct {
    double entries[BJ_TLB_LEVELS_MAX], cost[BJ_TLB_LEVELS_MAX];
    size_t count;
} paper_levels;

typedef struct {
    bj_point_summary points;
    const bj_answers *earlier;
    size_t least_points; /* of a cluster that is a level */
    size_t *cluster_of;
    bj_qt_cluster *clusters;
    bj_error *error;
    bj_status status;
    paper_levels found;
    /* What is asked of the rounds. */
    size_t level;
    bool is_cost, is_count;
} paper_search;

/* "Filtered out during the analysis" is what a cache does; the paper does not say how. As many pages as a known cache
 * has lines, and hardly more of a rise than missing it costs, are the cache's. Where a TLB holds as many, the rise is
 * more than that. */
static bool is_cache(const bj_answers *earlier, double pages, double rise) {
    bj_known_caches caches;
    bj_known_caches_read(earlier, &caches);
    double line = bj_kit_find_number(earlier, "cache.line_bytes");
    for (size_t level = 1; level <= caches.count; level++) {
        double lines = caches.fits_bytes[level - 1] / line;
        double step = bj_known_caches_find_latency(earlier, level + 1) - bj_known_caches_find_latency(earlier, level);
        if (pages >= lines / BJ_TLB_PAPER_NEAR && pages <= lines * BJ_TLB_PAPER_NEAR && rise < BJ_TLB_PAPER_OVER * step)
            return true;
    }
    return false;
}

static void find_levels(paper_search *search, size_t cluster_count) {
    const bj_qt_cluster *clusters = search->clusters;
    size_t kept = 0;
    for (size_t i = 0; i < cluster_count; i++)
        if (clusters[i].count >= search->least_points)
            search->clusters[kept++] = clusters[i];
    search->found.count = 0;
    for (size_t i = 0; i + 1 < kept && search->found.count < BJ_TLB_LEVELS_MAX; i++) {
        double rise = clusters[i + 1].y_smallest - clusters[i].y_smallest;
        if (is_cache(search->earlier, clusters[i].x_largest, rise))
            continue;
        search->found.entries[search->found.count] = clusters[i].x_largest;
        search->found.cost[search->found.count++] = rise;
    }
}

static double ask_rounds(void *context, const size_t *index, size_t count) {
    paper_search *search = context;
    double *y = search->points.of_point;
    size_t points = search->points.curve->x_count, clusters = 0;
    bj_kit_summarise(&search->points, index, count, BJ_LOW_QUANTILE);
    bj_stats_enforce_monotone(y, points);
    bj_status status =
        bj_stats_cluster_qt(y, points, BJ_QT_DIAMETER_RATIO, search->cluster_of, &clusters, search->error);
    if (status != BJ_OK) {
        search->status = status;
        return NAN;
    }
    bj_stats_describe_clusters(search->points.curve->x, y, points, search->cluster_of, clusters, search->clusters);
    find_levels(search, clusters);
    if (search->is_count)
        return (double)search->found.count;
    if (search->level >= search->found.count)
        return NAN;
    return search->is_cost ? search->found.cost[search->level] : search->found.entries[search->level];
}

static bj_status ask(paper_search *search, uint64_t seed, double tolerance, bj_answers *answers, const char *unit,
                     const char *key, bj_error *error) {
    const bj_curve *curve = search->points.curve;
    bj_estimate_request resampling = {.rounds = curve->round_count,
                                      .resamples = bj_kit_afford_resamples(curve->x_count * curve->round_count),
                                      .seed = seed,
                                      .tolerance = tolerance,
                                      .statistic = ask_rounds,
                                      .context = search,
                                      .curve = curve};
    bj_estimate estimate;
    bj_answer *answer;
    BJ_TRY(bj_kit_estimate(&resampling, &estimate, error));
    BJ_TRY(search->status);
    BJ_TRY(search->is_count ? bj_kit_put_answer(answers, unit, &answer, error, "tlb.levels")
                            : bj_kit_put_answer(answers, unit, &answer, error, "tlb.L%zu.%s", search->level + 1, key));
    bj_data_cite_curve(answer, curve->id);
    if (search->is_cost && strcmp(curve->y_unit, "ns") != 0)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the times are not known to be in ns");
    else if (search->is_count && !(estimate.value > 0))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "one cluster: up to %g pages cost about the same",
                      curve->x[curve->x_count - 1]);
    else
        /* No twin tells a cache from a TLB. */
        bj_kit_fill_answer(answer, &estimate, BJ_CONFIDENCE_MEDIUM);
    return BJ_OK;
}

static bj_status answer_levels(paper_search *search, uint64_t seed, bj_answers *answers, bj_error *error) {
    search->is_count = true;
    BJ_TRY(ask(search, seed, 0, answers, "count", "levels", error));
    search->is_count = false;
    (void)ask_rounds(search, NULL, search->points.curve->round_count);
    size_t levels = search->found.count;
    for (search->level = 0; search->level < levels; search->level++) {
        search->is_cost = false;
        BJ_TRY(ask(search, seed, BJ_TLB_ENTRIES_TOLERANCE, answers, "count", "entries", error));
        search->is_cost = true;
        BJ_TRY(ask(search, seed, BJ_TLB_COST_TOLERANCE, answers, "ns", "miss_ns", error));
    }
    return BJ_OK;
}

bj_status bj_tlb_analyse_paper(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, request->from_table ? BJ_TLB_SPREAD : BJ_TLB_PAPER);
    bj_answer *huge;
    BJ_TRY(bj_data_put_answer(answers, "tlb.huge.levels", "count", &huge, error));
    bj_kit_refuse(huge, BJ_ANSWER_UNDETERMINED, "the paper has one kind of pages");
    if (curve == NULL || curve->round_count == 0) {
        bj_answer *levels;
        BJ_TRY(bj_data_put_answer(answers, "tlb.levels", "count", &levels, error));
        bj_kit_refuse(levels, BJ_ANSWER_UNDETERMINED, "the memory limit allows too few pages");
        return BJ_OK;
    }
    if (curve->x_count > BJ_TLB_PAPER_POINTS_MOST)
        return bj_base_set_error(error, BJ_ERR_INPUT,
                                 "curve %s: expected at most %u different numbers of pages for the paper's method",
                                 curve->id, BJ_TLB_PAPER_POINTS_MOST);
    /* A table is as fine as it is. */
    paper_search search = {.earlier = request->earlier,
                           .least_points = request->from_table ? 1 : BJ_TLB_PAPER_POINTS,
                           .cluster_of = malloc(curve->x_count * sizeof *search.cluster_of),
                           .clusters = malloc(curve->x_count * sizeof *search.clusters),
                           .error = error};
    bj_status status = BJ_OK;
    if (search.cluster_of == NULL || search.clusters == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to cluster %zu points", curve->x_count);
    if (status == BJ_OK)
        status = bj_kit_open_summary(&search.points, curve, error);
    if (status == BJ_OK) {
        status = answer_levels(&search, request->seed, answers, error);
        bj_kit_close_summary(&search.points);
    }
    free(search.cluster_of);
    free(search.clusters);
    return status;
}
