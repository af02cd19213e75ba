/* The walks of the TLB probe: one line on each of n pages (spread), and twins of as many lines in fewer pages (packed).
 * Both load the caches alike, so the difference of their times is the TLB's. */
#pragma once

#include "data/curve.h"
#include "probes/tlb/tlb_levels.h"

#define BJ_TLB_SPREAD "tlb.spread"
#define BJ_TLB_PACKED "tlb.packed"
#define BJ_TLB_HUGE_SPREAD "tlb.huge.spread"
#define BJ_TLB_HUGE_PACKED "tlb.huge.packed"
/* Small pages inside few huge ones, which no TLB of huge pages can miss: if they do, what holds them is smaller. */
#define BJ_TLB_INSIDE_SPREAD "tlb.huge.inside.spread"
#define BJ_TLB_INSIDE_PACKED "tlb.huge.inside.packed"

/* Lines that the packed twin of a walk over so many pages has in each of its own. */
unsigned bj_tlb_count_per_page(double pages);

/* The points that both twins have, and the levels in them. */
typedef struct {
    const bj_curve *spread, *packed;
    size_t spread_at[BJ_TLB_POINTS_MAX], packed_at[BJ_TLB_POINTS_MAX]; /* points of the two curves */
    double quantile[BJ_TLB_POINTS_MAX];                                /* of the rounds, that sums them up */
    bj_tlb_curve all;                                                  /* of all rounds, without the costs */
    size_t rounds;                                                     /* that both have */
    bj_tlb_levels found;                                               /* none from fewer than two rounds */
    double *column;                                                    /* scratch of one point */
} bj_tlb_twins;

/* NULL for a curve: there are no points. The caller frees twins->column. */
bj_status bj_tlb_read_twins(const bj_curve *spread, const bj_curve *packed, bj_tlb_twins *twins,
                            bj_error *error) BJ_WARN_UNUSED;
/* The levels again from the chosen rounds, each near to where it was found; false: too few points have samples. */
bool bj_tlb_refit_rounds(const bj_tlb_twins *twins, const size_t *index, size_t count, bj_tlb_levels *found);
/* By how much the packed twin's time grows across an edge: it has a fraction of the pages, so the caches do that. */
double bj_tlb_measure_caches(const bj_tlb_twins *twins, double entries);
