#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>

/* Half of a normal distribution lies within 0.6745 standard deviations of its centre. */
#define SIGMA_PER_MAD 1.4826022185056018

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    /* isnan may return any non-zero number. */
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

size_t bj_stats_sort_samples(double *values, size_t count) {
    /* qsort must not see NULL, even for no elements. */
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    while (count > 0 && isnan(values[count - 1]))
        count--;
    return count;
}

double bj_stats_quantile_sorted(const double *sorted, size_t count, double fraction) {
    if (count == 0 || isnan(fraction))
        return NAN;
    double position = fmin(fmax(fraction, 0), 1) * (double)(count - 1);
    size_t below = (size_t)position;
    double share = position - (double)below;
    /* Without the test an infinite neighbour with share 0 would give NaN. */
    if (share == 0 || sorted[below] == sorted[below + 1])
        return sorted[below];
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double bj_stats_quantile(double *values, size_t count, double fraction) {
    return bj_stats_quantile_sorted(values, bj_stats_sort_samples(values, count), fraction);
}

double bj_stats_median(double *values, size_t count) {
    return bj_stats_quantile(values, count, 0.5);
}

double bj_stats_low_quantile(double *values, size_t count) {
    return bj_stats_quantile(values, count, BJ_LOW_QUANTILE);
}

double bj_stats_estimate_sigma(double *values, size_t count) {
    double median = bj_stats_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    return SIGMA_PER_MAD * bj_stats_median(values, count);
}

double bj_stats_estimate_inner_spread(double *values, size_t count, double *centre, double *nearest) {
    static const struct {
        double inner, normal; /* share of the values, and how many standard deviations hold it where they are normal */
    } ranges[] = {{0.5, 0.674490}, {0.8, 1.281552}, {0.9, 1.644854}};
    double spread = 0;
    *centre = bj_stats_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - *centre);
    size_t valid = bj_stats_sort_samples(values, count);
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
        spread = fmax(spread, bj_stats_quantile_sorted(values, valid, ranges[r].inner) / ranges[r].normal);
    if (nearest != NULL)
        *nearest = bj_stats_quantile_sorted(values, valid, ranges[0].inner) / ranges[0].normal;
    return spread;
}
