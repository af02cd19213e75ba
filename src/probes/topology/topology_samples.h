/* Pairs of cpus that were measured, as curves and back.
 *
 * One curve for each first cpu and part, x being the other cpu; y is the time of a turn. What the curve is of stands in
 * its attributes: `part`, `cpu`, `block_bytes`. A table has rows without a part. */
#pragma once

#include "data/curve.h"
#include "stats/linkage.h"

typedef enum {
    BJ_TOPOLOGY_PAIRS,   /* one line: what the tree is built of */
    BJ_TOPOLOGY_CONFIRM, /* one line: random pairs that it was not built of */
    BJ_TOPOLOGY_LARGE,   /* the largest block */
    BJ_TOPOLOGY_PARTS
} bj_topology_part;

/* The 2012 paper's way: all pairs however many there are, each at every block. */
#define BJ_TOPOLOGY_ALL_PAIRS "all_pairs"

/* Children of a node whose pairs are all measured at the largest block, unless all look alike to one of them. */
#define BJ_TOPOLOGY_LARGE_ALL 16u

typedef struct {
    size_t a, b; /* of the cpus, a < b */
    bj_topology_part part;
    double *ns; /* of a turn, one a round; NaN: not measured */
} bj_topology_pair;

/* Blocks of one pair: x are their bytes. */
typedef struct {
    const bj_curve *curve;
    size_t a, b; /* of the cpus, a < b */
} bj_topology_sweep;

typedef struct {
    int *cpus; /* OS numbers, ascending */
    size_t cpu_count;
    bj_topology_pair *pairs; /* by cpus; those of the largest block come last */
    size_t pair_count, first_large;
    bj_topology_sweep *sweeps;
    size_t sweep_count;
    size_t rounds;
    double line_bytes;  /* the smallest block; NaN: not known, as of a table */
    double large_bytes; /* the largest block; NaN: none */
    double *ns;
} bj_topology_data;

extern const char *const bj_topology_part_names[BJ_TOPOLOGY_PARTS];

/* Rows of both triangles of a table are brought together. */
bj_status bj_topology_gather(const bj_curves *samples, bj_topology_data *data, bj_error *error) BJ_WARN_UNUSED;
void bj_topology_free(bj_topology_data *data);
/* The median of a pair's rounds; `index` chooses them (NULL: all). */
double bj_topology_find_median(const bj_topology_data *data, const bj_topology_pair *pair, const size_t *index,
                               size_t count);
/* The same of a point of a sweep. */
double bj_topology_find_sweep_median(const bj_topology_sweep *sweep, size_t point);
/* Logarithms of the medians of one part. `distances` has room for every pair; returns how many there are. */
size_t bj_topology_list_distances(const bj_topology_data *data, bj_topology_part part, const size_t *index,
                                  size_t count, bj_distance *distances);
/* Whether the curve is one of the part; its first cpu. */
bool bj_topology_is_part(const bj_curve *curve, bj_topology_part part, int *cpu);
