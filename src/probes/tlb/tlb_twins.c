#include "probes/tlb/tlb_twins.h"

#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "stats/quantile.h"

unsigned bj_tlb_count_per_page(double pages) {
    return pages >= BJ_TLB_MANY_PAGES ? BJ_TLB_LINES_A_PAGE_OF_MANY : BJ_TLB_LINES_A_PAGE;
}

static bj_status match_points(bj_tlb_twins *t, bj_error *error) {
    const bj_curve *spread = t->spread, *packed = t->packed;
    bj_tlb_curve *all = &t->all;
    for (size_t i = 0, k = 0; i < spread->x_count; i++) {
        while (k < packed->x_count && packed->x[k] < spread->x[i])
            k++;
        if (k == packed->x_count || packed->x[k] != spread->x[i])
            continue;
        if (all->count == BJ_TLB_POINTS_MAX)
            return bj_base_set_error(error, BJ_ERR_FAILED, "more than %u points", BJ_TLB_POINTS_MAX);
        t->spread_at[all->count] = i;
        t->packed_at[all->count] = k;
        all->pages[all->count] = spread->x[i];
        all->twin_pages[all->count++] = ceil(spread->x[i] / bj_tlb_count_per_page(spread->x[i]));
    }
    return BJ_OK;
}

static double low_spread(const bj_tlb_twins *t, size_t point, const size_t *index, size_t count) {
    return bj_kit_quantile_of_point(t->spread, t->spread_at[point], index, count, t->quantile[point], t->column);
}

static double low_packed(const bj_tlb_twins *t, size_t point, const size_t *index, size_t count) {
    return bj_kit_quantile_of_point(t->packed, t->packed_at[point], index, count, t->quantile[point], t->column);
}

static void choose_quantiles(bj_tlb_twins *t) {
    double least = INFINITY;
    for (size_t i = 0; i < t->all.count; i++) {
        t->quantile[i] = BJ_TLB_LOWEST_OF_ROUNDS;
        double quiet = low_packed(t, i, NULL, t->rounds);
        least = fmin(least, quiet);
        if (!(quiet <= BJ_TLB_FITS_FIRST * least))
            t->quantile[i] = BJ_TLB_LOW_OF_ROUNDS;
    }
}

/* Standard deviation of the differences within rounds, since both twins met the same machine then; how many rounds. */
static size_t estimate_sigma(const bj_tlb_twins *t, size_t point, double *sigma) {
    size_t kept = 0;
    for (size_t r = 0; r < t->rounds; r++) {
        double cost = t->spread->rounds[r][t->spread_at[point]] - t->packed->rounds[r][t->packed_at[point]];
        if (isfinite(cost))
            t->column[kept++] = cost;
    }
    *sigma = bj_stats_estimate_sigma(t->column, kept);
    return kept;
}

/* Times and standard errors of the points: their own errors, but not less than a typical point's share of its time,
 * since few rounds agree by chance. */
static void estimate_errors(bj_tlb_twins *t) {
    bj_tlb_curve *all = &t->all;
    double shares[BJ_TLB_POINTS_MAX];
    size_t have[BJ_TLB_POINTS_MAX] = {0}, kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        all->time[i] = bj_kit_quantile_of_point(t->spread, t->spread_at[i], NULL, t->rounds, 0.5, t->column);
        have[i] = estimate_sigma(t, i, &all->error[i]);
        if (have[i] >= BJ_TLB_ROUNDS_LEAST && all->time[i] > 0)
            shares[kept++] = all->error[i] / all->time[i];
    }
    double typical = kept > 0 ? fmax(bj_stats_median(shares, kept), BJ_TLB_ERROR_LEAST) : BJ_TLB_ERROR_UNKNOWN;
    for (size_t i = 0; i < all->count; i++) {
        double sigma = fmax(isnan(all->error[i]) ? 0 : all->error[i], typical * fabs(all->time[i]));
        all->error[i] = fmax(sigma / sqrt(fmax(1, (double)have[i])), 1e-30);
    }
}

/* Costs of the chosen rounds (NULL: all); points without any are left out. Errors are of all rounds. */
static void sum_up(const bj_tlb_twins *t, const size_t *index, size_t count, bj_tlb_curve *curve) {
    size_t kept = 0;
    for (size_t i = 0; i < t->all.count; i++) {
        double cost = low_spread(t, i, index, count) - low_packed(t, i, index, count);
        if (!isfinite(cost))
            continue;
        curve->cost[kept] = cost;
        curve->pages[kept] = t->all.pages[i];
        curve->twin_pages[kept] = t->all.twin_pages[i];
        curve->time[kept] = t->all.time[i];
        curve->error[kept++] = t->all.error[i];
    }
    curve->count = kept;
}

bj_status bj_tlb_read_twins(const bj_curve *spread, const bj_curve *packed, bj_tlb_twins *t, bj_error *error) {
    *t = (bj_tlb_twins){.spread = spread, .packed = packed};
    if (spread == NULL || packed == NULL)
        return BJ_OK;
    t->rounds = spread->round_count < packed->round_count ? spread->round_count : packed->round_count;
    t->column = malloc((t->rounds + 1) * sizeof *t->column);
    if (t->column == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", t->rounds);
    bj_status status = match_points(t, error);
    if (status != BJ_OK || t->rounds < BJ_TLB_ROUNDS_LEAST)
        return status;
    bj_tlb_curve curve;
    choose_quantiles(t);
    estimate_errors(t);
    sum_up(t, NULL, t->rounds, &curve);
    bj_tlb_fit_levels(&curve, BJ_TLB_SIGMAS_LEAST, BJ_TLB_COST_LEAST, &t->found);
    return BJ_OK;
}

bool bj_tlb_refit_rounds(const bj_tlb_twins *t, const size_t *index, size_t count, bj_tlb_levels *found) {
    bj_tlb_curve curve;
    sum_up(t, index, count, &curve);
    if (curve.count < BJ_TLB_LEVEL_POINTS_LEAST)
        return false;
    *found = t->found;
    bj_tlb_refit_levels(&curve, found);
    return true;
}

double bj_tlb_measure_caches(const bj_tlb_twins *t, double entries) {
    double first = NAN, last = NAN;
    for (size_t i = 0; i < t->all.count && t->all.pages[i] <= BJ_TLB_RAMP * entries; i++) {
        if (t->all.pages[i] < entries / BJ_TLB_RAMP)
            continue;
        last = low_packed(t, i, NULL, t->rounds);
        first = isnan(first) ? last : first;
    }
    return last - first;
}
