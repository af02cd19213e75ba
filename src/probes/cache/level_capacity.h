/* The capacity that explains a level's edge best: by the ramp of the walk, by walks with several visits a line, or by
 * both. */
#pragma once

#include "probes/cache/round_summary.h"

/* What explains the edge at the end of a level. */
typedef struct {
    bool has_capacity;               /* false: no ramp that the model could follow */
    bj_occupancy fit;                /* that says the capacity */
    bool ramp_explained;             /* by one cache, from its plateau on */
    bool revisited;                  /* the capacity is told by walks with several visits a line */
    bool disputed;                   /* the ramp says another capacity, and explains itself as well */
    bj_replacement ramp_replacement; /* that explains the ramp best */
    double next_gained; /* by hits of this level, where the next one's latency is read: a share of that latency */
    double next_factor; /* corrected over measured latency of the next level, by the revisits; 1: they do not tell */
} bj_edge_fit;

/* Fits the edge of a level; `edges` has those of the nearer ones. `scratch` has room for three times the points. */
void bj_cache_fit_edge(bj_round_summary *s, const bj_level_set *set, size_t index, double *scratch, bj_edge_fit *edges);
/* The same by the ramp alone and the model of a first fit, near its capacity, for resamples; false: it does not fit. */
bool bj_cache_refit_edge(const bj_round_summary *s, const bj_level_set *set, size_t index, const bj_occupancy *first,
                         double *scratch, bj_occupancy *fit);
/* However well lines are replaced, at least 1 - C / x of them miss, whatever the model says: a tenth at x = size, and
 * where a smaller x hits throughout, C is no less than that. */
void bj_cache_keep_capacity(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_edge_fit *edge);
