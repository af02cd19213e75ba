/* Bootstrap over rounds: how far an answer would move had other rounds been drawn.
 *
 * A round maps its buffers anew and draws a new order; samples within one are not independent, so whole rounds
 * are resampled. The interval is Hesterberg's expanded percentile interval ("What Teachers Should Know About
 * the Bootstrap", 2015): plain percentiles of n rounds are too narrow by sqrt((n - 1) / n) and by the normal in
 * place of Student's t (5 rounds: 85% where 95% is promised), so the percentiles are moved out by both. Its ends are
 * replicates that occurred, taken outwards: an answer that comes in steps (sizes, ways) gets no value between.
 *
 * From few rounds nothing can promise 95%: the range of n rounds covers the median 1 - 2^(1 - n) of the time,
 * which reaches 95% at BJ_BOOTSTRAP_ROUNDS_NEEDED. Below that the interval is the range of the replicates. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define BJ_BOOTSTRAP_ROUNDS_NEEDED 6

/* The answer from the rounds of round_index (repetitions are meant). NaN: no answer from these. */
typedef double (*bj_bootstrap_statistic)(void *context, const size_t *round_index, size_t round_count);

typedef struct {
    double low, high;       /* 95% of the replicates; NaN from fewer than two rounds or when there are none */
    double *replicates;     /* ascending, without NaN */
    size_t replicate_count; /* resample_count less the NaN */
} bj_bootstrap;

/* Draws resample_count times round_count rounds with replacement. Six rounds need some 400 resamples before the
 * moved-out percentiles leave out a single replicate; with fewer the interval is wider, not wrong. */
bj_status bj_stats_bootstrap_rounds(size_t round_count, size_t resample_count, uint64_t seed,
                                    bj_bootstrap_statistic statistic, void *context, bj_bootstrap *result,
                                    bj_error *error) BJ_WARN_UNUSED;
void bj_stats_free_bootstrap(bj_bootstrap *result);

/* The lower percentile (as a fraction) that the interval uses; the upper one is its mirror image. */
double bj_stats_expand_percentile(size_t round_count);
