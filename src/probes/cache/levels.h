/* Levels of a memory hierarchy in a curve of access time against working set.
 *
 * Plateaus are where the log-log slope has a valley, edges where it has a peak. Not every edge is a cache: a TLB's
 * reach makes one too, but a TLB entry serves many lines, so its misses set in gradually and cost a fraction of what
 * they are added to. Where the TLB's cost was measured and taken off, small edges count as well. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "probes/cache/cache_constants.h"

typedef struct {
    double latency;      /* of the plateau, where it begins */
    double end_latency;  /* of the plateau, where it ends: a TLB inside the level has raised it */
    double next_latency; /* of the plateau beyond the edge */
    double plateau_first_x, plateau_last_x;
    double next_first_x;    /* where the next plateau begins */
    double ramp_first_x;    /* size_x in the curve that the level was found in */
    double ramp_last_x;     /* no other level's ramp is met before this */
    double size_x;          /* crosses end_latency + BJ_SIZE_SHARE (next_latency - end_latency), interpolated */
    double size_sample_x;   /* the largest x of the curve that is still below that */
    double steepest_octave; /* largest factor by which y grows within one octave of the edge */
    double ramp_octaves;    /* from a tenth to nine tenths of the rise */
    bool hides_edge;        /* its plateau may have an edge in it: the TLB's cost there is as large as the rise */
    bool rises;             /* its plateau rises as much as an edge would, without a valley in it */
    bool single_sample;     /* the plateau is one sample wide: told only by how small its excess is */
} bj_level;

typedef struct {
    bj_level level[BJ_LEVELS_MAX];
    size_t count;
    double last_latency; /* of the last plateau: memory */
} bj_level_set;

typedef struct {
    double noise;                /* relative standard error of a y; 0: unknown */
    const double *removed;       /* the cost of TLB misses that was taken off each y; NULL: it is still in there */
    const double *removed_error; /* by how much that may be wrong; NULL: by all of it */
} bj_level_hints;

/* x ascending and distinct, y positive. Fewer than 4 points: no level. */
bj_status bj_cache_find_levels(const double *x, const double *y, size_t count, const bj_level_hints *hints,
                               bj_level_set *found, bj_error *error) BJ_WARN_UNUSED;

/* What other methods are told besides the curve. */
typedef struct {
    const void *variant; /* the method's own */
    double page_bytes;   /* of the walk */
    bool as_printed;     /* the walk was the paper's own, on its own grid */
} bj_finder_context;

/* The signature of other methods: finds levels in one curve. */
typedef bj_status (*bj_level_finder)(const double *x, const double *y, size_t count, const bj_finder_context *context,
                                     bj_level_set *found, bj_error *error);

/* The size of a level by its latencies, on another curve of the same walk (with the TLB's cost in it): where y, which
 * must not fall, crosses latency + 0.1 (next_latency - latency). Looks up to last_x. */
void bj_cache_measure_level_size(const double *x, const double *y, size_t count, double last_x, bj_level *level);

/* Makes one level of level `index` and the next: the plateau between them was none. x and y are what the levels were
 * found in. */
void bj_cache_merge_levels(const double *x, const double *y, size_t count, size_t index, bj_level_set *set);
