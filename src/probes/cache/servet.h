/* Servet's two halves (servet-2010, III-A): levels from the gradients of a curve (figure 4), and the size of a
 * physically indexed cache from the ramp of its misses (figure 3).
 *
 * For the size, pages land on random page sets of the cache (a way holds CS / (K * PS) of them); a page set with more
 * than K pages misses. The ways K and the size CS whose predicted misses diverge least from the measured ramp are the
 * answer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum {
    /* P(1 + B(NP - 1, p) > K): the share of accesses that fall on an overfull page set, since a page meets itself for
     * sure. This is what a walk measures. */
    BJ_BINOMIAL_SIZE_BIASED,
    /* P(X > K), X ~ B(NP, p), as printed: the share of page sets that are overfull. Answers about 10% too small. */
    BJ_BINOMIAL_LITERAL
} bj_binomial_model;

/* How latencies become miss shares that can be compared with predicted ones. */
typedef enum {
    /* Both are stretched to 0 … 1 over the window, so a window that ends before the ramp does is no harm. */
    BJ_BINOMIAL_SCALE_MATCHED,
    /* Figure 3: only the measured ones are. Answers too small unless the window reaches the next level's plateau. */
    BJ_BINOMIAL_SCALE_WINDOW
} bj_binomial_scale;

typedef struct {
    const double *size_bytes; /* ascending */
    const double *latency;    /* any unit; points that are not finite and > 0 are left out */
    size_t count;
    double page_bytes;
    bj_binomial_model model;
    bj_binomial_scale scale;
    const double *candidate_bytes; /* tentative sizes, ascending; NULL: every eighth of an octave */
    size_t candidate_count;
} bj_binomial_request;

typedef struct {
    double size_bytes;      /* figure 3: the most frequent size of the five best fits; of equals the better fit */
    double best_size_bytes; /* the single best fit */
    unsigned best_ways;
    double divergence; /* of the single best fit: mean |measured - predicted| of a point, in (scaled) miss share */
    double rise; /* of the single best fit: how far its miss share grows from the window's first point to its last */
} bj_binomial_fit;

/* P(X > limit) for X ~ B(trials, probability). */
double bj_cache_compute_binomial_tail(uint64_t trials, double probability, uint64_t limit);
/* The share of misses in repeated walks over so many pages. */
double bj_cache_predict_miss_share(bj_binomial_model model, uint64_t pages, double cache_bytes, unsigned ways,
                                   double page_bytes);
/* False: too few usable points, no rise, no candidate that could explain one, or (matched) only the toe of a ramp. */
bool bj_cache_fit_binomial_size(const bj_binomial_request *request, bj_binomial_fit *fit);

typedef struct {
    size_t first, last; /* gradients above 1 + tolerance around the peak; gradient k lies between points k and k + 1 */
    size_t peak;        /* the highest of them; its position is point `peak`, the last before the rise */
    double gradient;
} bj_gradient_peak;

/* What is a peak. */
typedef struct {
    double tolerance;  /* gradients up to 1 + this do not rise */
    double valley;     /* two peaks of one run are parted by a drop below this share of both, in logarithms */
    double least_rise; /* of a run, in all */
} bj_peak_rules;

typedef struct {
    double size_bytes;        /* NaN: a rise that the model could not size */
    bool by_model;            /* else it is the position of the peak */
    size_t first, last, peak; /* points of the caller's arrays: the window, and the last one before the steepest rise */
} bj_servet_level;

typedef struct {
    double page_bytes;
    bj_binomial_model model;
    bj_binomial_scale scale; /* MATCHED, or WINDOW for figure 3 as printed */
    /* The sizes are mcalibrator's own: tentative ones are among them, since they hold all of the paper's, and peaks are
     * as the paper took them. Else any curve's. */
    bool as_printed;
} bj_servet_options;

/* gradients has room for count - 1: y[k + 1] / y[k], NaN unless both are finite and > 0. */
void bj_cache_compute_gradients(const double *y, size_t count, double *gradients);
/* From the gradients up to 1: a curve that rises in truth falls by noise alone, so their scatter is the noise, whatever
 * share of the curve rises. scratch has room for gradient_count. */
double bj_cache_estimate_gradient_tolerance(const double *gradients, size_t gradient_count, double *scratch);
/* peaks has room for gradient_count; returns how many. */
size_t bj_cache_find_gradient_peaks(const double *gradients, size_t gradient_count, const bj_peak_rules *rules,
                                    bj_gradient_peak *peaks);
/* Figure 4. size_bytes ascends; unusable latencies are left out. *levels is the caller's to free, NULL when there are
 * none. */
bj_status bj_cache_find_servet_levels(const double *size_bytes, const double *latency, size_t count,
                                      const bj_servet_options *options, bj_servet_level **levels, size_t *level_count,
                                      bj_error *error) BJ_WARN_UNUSED;
