/* Cache levels from the gradients of a curve (servet-2010, III-A and figure 4). */
#ifndef BJ_PROBES_CACHE_SERVET_H
#define BJ_PROBES_CACHE_SERVET_H

#include <stddef.h>

#include "base/status.h"
#include "probes/cache/binomial.h"

typedef struct {
    size_t first, last; /* gradients above 1 + tolerance around the peak; gradient k lies between points k and k + 1 */
    size_t peak;        /* the highest of them; its position is point `peak`, the last before the rise */
    double gradient;
} bj_gradient_peak;

typedef enum {
    BJ_SERVET_FIRST_PEAK,  /* L1: the position of the peak, since it is virtually indexed */
    BJ_SERVET_SINGLE_PEAK, /* one gradient: pages are coloured, the position of the peak */
    BJ_SERVET_WIDE_PEAK,   /* several: the binomial model over the points around it */
    BJ_SERVET_TRAILING     /* still rising at the largest sizes: the binomial model over those */
} bj_servet_rule;

typedef struct {
    double size_bytes; /* NaN: a rise that the model could not size */
    bj_servet_rule rule;
    size_t first, last, peak; /* points of the caller's arrays: the window, and the last one before the steepest rise */
    double gradient;          /* at the peak */
} bj_servet_level;

typedef struct {
    double page_bytes;
    bj_binomial_model model;
    bj_binomial_scale scale; /* MATCHED, or WINDOW for figure 3 as printed */
} bj_servet_options;

/* gradients has room for count - 1: y[k + 1] / y[k], NaN unless both are finite and > 0. */
void bj_cache_compute_gradients(const double *y, size_t count, double *gradients);
/* From the gradients up to 1: a curve that rises in truth falls by noise alone, so their scatter is the noise, whatever
 * share of the curve rises. scratch has room for gradient_count. */
double bj_cache_estimate_gradient_tolerance(const double *gradients, size_t gradient_count, double *scratch);
/* peaks has room for gradient_count; returns how many. A run of rises is two peaks when it drops between them to less
 * than half the height (in log) of both. */
size_t bj_cache_find_gradient_peaks(const double *gradients, size_t gradient_count, double tolerance,
                                    bj_gradient_peak *peaks);
/* Figure 4. size_bytes ascends; unusable latencies are left out. *levels is the caller's to free, NULL when there are
 * none. */
bj_status bj_cache_find_servet_levels(const double *size_bytes, const double *latency, size_t count,
                                      const bj_servet_options *options, bj_servet_level **levels, size_t *level_count,
                                      bj_error *error) BJ_WARN_UNUSED;

#endif
