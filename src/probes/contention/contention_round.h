/* One round of the contention probe: streams alone, in pairs, in crowds, and in growing numbers. */
#pragma once

#include "probes/contention/contention_levels.h"
#include "probes/kit/together.h"

/* Two parts of a branch, of which a cpu each streams. */
typedef struct {
    bj_cpu_run a, b;
} bj_part_pair;

#define BJ_CONTENTION_CACHES_MAX 8u

typedef struct {
    bj_rounds rounds;
    bj_cpus all;
    bool is_servet;
    bj_stream_kind kind; /* of the pairs and crowds */
    /* The caches that streams must not be found in. */
    size_t cache_count;
    double capacity[BJ_CONTENTION_CACHES_MAX];
    size_t *sharers[BJ_CONTENTION_CACHES_MAX]; /* groups by cpu */
    bj_part_pair *pairs;
    size_t pair_count;
    size_t grain_bytes;
} bj_contention_run;

/* All at once; gbs of each. *done is false where memory has no room for buffers beyond the caches. */
bj_status bj_contention_stream(bj_contention_run *run, const size_t *who, size_t count, bj_stream_kind kind,
                               double *gbs, bool *done, bj_error *error) BJ_WARN_UNUSED;
/* The buffer of each, so that nothing of it is left in a cache, with as many of the others as share it. */
void bj_contention_choose_buffers(const bj_contention_run *run, const size_t *who, size_t count, size_t *bytes);
/* A curve of rates in GB/s, of that kind. */
bj_status bj_contention_open_curve(bj_contention_run *run, const char *id, const char *kind, const char *x_name,
                                   bj_curve **curve, bj_error *error) BJ_WARN_UNUSED;
/* The pairs of a run (contention_pairs.c), and one more of two cpus. */
bj_status bj_contention_plan_pairs(bj_contention_run *run, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_contention_add_cpus(bj_contention_run *run, size_t a, size_t b, bj_error *error) BJ_WARN_UNUSED;
/* Levels of groups: alone, pairs, crowds, scaling. */
bj_status bj_contention_measure_levels(bj_contention_run *run, bj_error *error) BJ_WARN_UNUSED;
/* All cpus of each branch of the tree at once (contention_crowds.c). */
bj_status bj_contention_measure_crowds(bj_contention_run *run, bj_error *error) BJ_WARN_UNUSED;
/* Parts, drawn at random, of the branches that collide as crowds. */
bj_status bj_contention_measure_draws(bj_contention_run *run, const bj_contention_samples *read,
                                      const bj_contention *found, bj_error *error) BJ_WARN_UNUSED;
/* What is left when all cpus work (contention_full.c). */
bj_status bj_contention_measure_full(bj_contention_run *run, bj_error *error) BJ_WARN_UNUSED;
