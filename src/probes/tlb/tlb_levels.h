/* Levels of a TLB from what walks over growing numbers of pages cost more than twins of as many lines in fewer pages.
 *
 * Pages of one mapping follow each other, so that n of them load the sets of a TLB evenly: with E entries in sets of w
 * ways, n - E sets hold one page too many. Visited in turn, an overfull set of LRU misses always; so the share of
 * misses is nothing up to E, (n - E)(w + 1) / n on the ramp, and all from E + E / w on. The twin has the same share for
 * its own pages, and the cost is the difference of the two, summed over the levels. Levels are added one by one, the
 * one that explains most first, and then adjusted to each other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "probes/tlb/tlb_constants.h"

typedef struct {
    double pages[BJ_TLB_POINTS_MAX], twin_pages[BJ_TLB_POINTS_MAX]; /* pages ascend */
    double time[BJ_TLB_POINTS_MAX];                                 /* of an access of the walk */
    double cost[BJ_TLB_POINTS_MAX];                                 /* of the walk over that of the twin */
    double error[BJ_TLB_POINTS_MAX];                                /* standard errors of the costs, > 0 */
    size_t count;
} bj_tlb_curve;

typedef struct {
    double entries; /* the largest number of pages without a miss */
    double ways;    /* how wide the ramp is; entries themselves: a cliff */
    double cost;    /* of missing this level, beyond a hit in it */
    double sigmas;  /* that cost in standard errors */
    double misfit;  /* root mean square of the residuals around its edge, in standard errors */
} bj_tlb_level;

typedef struct {
    size_t count;
    bj_tlb_level level[BJ_TLB_LEVELS_MAX]; /* by entries */
} bj_tlb_levels;

double bj_tlb_predict_misses(double entries, double ways, double pages);

/* Costs of less than `least_sigmas` standard errors or less than this share of the time at the edge are no level; nor
 * is anything in fewer than three points. */
void bj_tlb_fit_levels(const bj_tlb_curve *curve, double least_sigmas, double least_share, bj_tlb_levels *found);
/* The same number of levels, each near to where it is: for resamples. */
void bj_tlb_refit_levels(const bj_tlb_curve *curve, bj_tlb_levels *found);
