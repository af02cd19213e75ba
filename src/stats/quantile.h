/* Quantiles and robust spread. All work in place on the caller's copy, so none can fail; NaN is "no sample"
 * and is ignored; of no samples at all the answer is NaN. */
#pragma once

#include <stddef.h>

/* On an idle core disturbance only adds time, so samples of one point are summed up low. Not the minimum: that
 * is one sample, and a clock that stepped back or ran ahead once would own the answer. */
#define BJ_LOW_QUANTILE 0.1

/* Sorts ascending with NaN last; returns how many are not NaN. */
size_t bj_stats_sort_samples(double *values, size_t count);
/* Of sorted values without NaN: linear between order statistics, fraction 0 is the least, 1 the greatest
 * (fractions outside are clamped). */
double bj_stats_quantile_sorted(const double *sorted, size_t count, double fraction);

/* These three sort values. */
double bj_stats_quantile(double *values, size_t count, double fraction);
double bj_stats_median(double *values, size_t count);
double bj_stats_low_quantile(double *values, size_t count);

/* Standard deviation by the median absolute deviation, scaled to agree on normal noise; half of the samples may
 * be outliers. Overwrites values with their deviations from the median. */
double bj_stats_estimate_sigma(double *values, size_t count);
/* Standard deviation by the largest that the inner 50%, 80% and 90% of the values ask for, so that heavy tails count
 * and a tenth may be outliers. *centre is the median, *nearest (may be NULL) what the inner half alone says. Overwrites
 * values with their distances from the median. */
double bj_stats_estimate_inner_spread(double *values, size_t count, double *centre, double *nearest);
