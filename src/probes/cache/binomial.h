/* Size of a physically indexed cache from the ramp of its misses (servet-2010, III-A2 and figure 3).
 *
 * Pages land on random page sets of the cache (a way holds CS / (K * PS) of them); a page set with more than K pages
 * misses. The ways K and the size CS whose predicted misses diverge least from the measured ramp are the answer. */
#ifndef BJ_PROBES_CACHE_BINOMIAL_H
#define BJ_PROBES_CACHE_BINOMIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    const double *candidate_bytes; /* NULL: the default candidates, see cache_constants.h */
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

#endif
