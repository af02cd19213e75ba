/* What the contention probe records, and how its halves read it alike. Rates are in GB/s.
 *
 * Alone: of each cpu. Pairs: of cpu a (an attribute) at x = cpu b, the mean of both. Crowds: of all cpus of a branch of
 * the tree together, which is named by its number of cpus (an attribute) and x = its lowest. Draws: of each cpu x of
 * some of its parts, drawn at random. Halves: all of a draw together, as a share of what its parts and the whole let
 * expect. Scaling: of x cpus of a group, which is named by its number of cpus and its lowest. */
#pragma once

#include "probes/kit/cpu_groups.h"
#include "probes/probe.h"

#define CONTENTION_ALONE "contention.alone"
#define CONTENTION_READ "contention.full.read"
#define CONTENTION_COPY "contention.full.copy"
#define CONTENTION_LATENCY "contention.full.latency"
/* Attributes. */
#define CONTENTION_KIND "kind"
#define CONTENTION_PAIR "pair"
#define CONTENTION_CROWD "crowd"
#define CONTENTION_HALF "half"
#define CONTENTION_DRAW "draw"
#define CONTENTION_SCALING "scaling"
#define CONTENTION_WALK "walk"
#define CONTENTION_CPU "cpu"
#define CONTENTION_CPUS "cpus"
#define CONTENTION_LEVEL "level"
#define CONTENTION_LATENCY_BYTES "latency_bytes" /* the size that shows the latency; absent: none does */

/* Of fewer parts no draw tells more than the pairs do. */
#define BJ_CONTENTION_DRAWN_LEAST 4u

/* A sample in many rounds: a pair of cpus, or a branch. */
typedef struct {
    size_t a, b;         /* indexes of the pair's cpus */
    bj_cpu_run parts[2]; /* of the innermost branch around both: the pair stands for them */
    bj_cpu_run branch;   /* of a crowd, a half or a draw, whose points are all those of the curve */
    const bj_curve *curve;
    size_t point;
} bj_contention_point;

typedef struct {
    bj_cpus all;
    double *alone_gbs; /* by cpu; where it was not measured, the median of the others */
    double reference_gbs;
    double sample_sigma; /* robust, of logarithms of samples */
    double sigma;        /* the same as medians of the rounds of a point have it */
    size_t rounds;
    bj_contention_point *pairs, *crowds, *halves, *draws;
    size_t pair_count, crowd_count, half_count, draw_count;
    double *scratch;
} bj_contention_samples;

/* all.count 0: nothing was measured. */
bj_status bj_contention_read(const bj_curves *samples, const bj_answers *earlier, bj_contention_samples *read,
                             bj_error *error) BJ_WARN_UNUSED;
void bj_contention_free_samples(bj_contention_samples *read);
/* The median of the point in these rounds (NULL: all); a point that they lack is what all rounds say of it. */
double bj_contention_find_median(const bj_contention_samples *read, const bj_contention_point *point,
                                 const size_t *rounds, size_t count);
/* The curve of scaling of the group; NULL: there is none. */
const bj_curve *bj_contention_find_scaling(const bj_curves *samples, int lowest, size_t size);
/* The lowest cpu of a run of the tree. */
int bj_contention_lowest(const bj_cpus *all, bj_cpu_run run);
