/* The occupancy model: which capacity explains the ramp from one latency to the next.
 *
 * A walk over x bytes puts n lines into a set of K ways. With pages on random frames n - 1 is Poisson with mean
 * K x / C for the line that is looked at (Servet's binomial model, size-biased, with the page size taken to its limit,
 * so that it need not be known); with contiguous frames n is K x / C, rounded down in some sets and up in the others.
 * A set that holds no more than K lines always hits. What one that holds more does in a cyclic walk depends on the
 * replacement, and is listed below. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Misses of an overfull set of n lines, visited in turn. */
typedef enum {
    BJ_REPLACE_LRU,    /* 1: each line has just been evicted when its turn comes */
    BJ_REPLACE_PLRU,   /* 1.5 (n / K - 1), up to 1: what tree-PLRU does, by simulation of 4 to 16 ways */
    BJ_REPLACE_RANDOM, /* m with m = 1 - (1 - 1/K)^(m (n - 1)): surviving the misses until the next turn */
    BJ_REPLACE_PAIRED, /* sqrt(1 - K / n): LRU when a line is brought in at two times of a lap (a buddy's prefetch) */
    BJ_REPLACE_HALF,   /* 1 - K / 2n: between LRU and the best */
    BJ_REPLACE_BEST,   /* 1 - K / n: no replacement can do better */
    BJ_REPLACE_COUNT
} bj_replacement;

typedef struct {
    unsigned ways;
    bool random_frames;
    bj_replacement replacement;
    /* Visits to each line in a lap, at random moments; 0 and 1: one. With several, only LRU and RANDOM are modelled,
     * and hardly differ: misses are (1 - K/n)^((v - 1) / v) and 1 - (1 - 1/v) K/n. Were every access drawn at random, a
     * line would be hit as often as it is resident, whatever is replaced. */
    double visits;
} bj_occupancy_model;

typedef struct {
    double capacity;    /* of the best model: mean of the capacities, weighted by how well they explain the ramp */
    double interval[2]; /* 95% of that weight over all models */
    double low, high;   /* latencies of hit and miss, of the best fit */
    double fitted;      /* the capacity of the best fit, which need not be the mean */
    bj_occupancy_model model; /* of the best fit */
    double error;             /* of the best fit: root mean square, 1 is what counts as nothing */
} bj_occupancy;

/* Miss share of a walk over x = ratio × capacity. */
double bj_cache_predict_occupancy_misses(const bj_occupancy_model *model, double ratio);

/* How the pages of the walk lie in the cache. */
typedef enum {
    BJ_FRAMES_UNKNOWN,
    BJ_FRAMES_RANDOM,    /* rounds that differ on the ramp have been seen */
    BJ_FRAMES_CONTIGUOUS /* all on one page */
} bj_frames;

typedef struct {
    const double *x, *y; /* x ascending, y positive; 3 points at least */
    const double *error; /* standard error of each y, or NULL */
    size_t count;
    double first, last; /* capacities are looked for in here */
    bj_frames frames;
    double visits;                  /* see bj_occupancy_model */
    bj_replacement expected;        /* of the first level; LRU where that is not known */
    const bj_occupancy_model *only; /* this model alone (resampling), or NULL */
} bj_occupancy_request;

/* False: too few points, or no rise. */
bool bj_cache_fit_occupancy(const bj_occupancy_request *request, bj_occupancy *fit);

/* How well a fit explains these points, which may be some of those that it was fitted to: root mean square error, where
 * 1 is what counts as nothing on a ramp as high as these points. */
double bj_cache_misfit_occupancy(const bj_occupancy *fit, const double *x, const double *y, const double *error,
                                 size_t count);
