/* One round of the sharing probe: who shares a level, found with few experiments.
 *
 * From the outside of the tree inwards: one cpu of each part of a branch walks at once. If nobody suffers, nothing is
 * shared across the parts, and each part is asked by itself; all parts of a depth at once, since they share nothing. A
 * branch in which somebody suffers is sorted: its cpus come one by one beside the leaders, one of each group found so
 * far; who suffers together with a leader is of its group, who does not suffer is a new leader. That finds any groups,
 * whether the tree knows them or not. */
#pragma once

#include "probes/kit/together.h"
#include "probes/sharing/sharing_samples.h"

/* A branch that is being sorted. Items are groups of the nearer level, or single cpus. */
typedef struct {
    size_t *items; /* each by its lowest cpu, as a place among the cpus */
    size_t item_count, next;
    size_t *leaders;
    size_t leader_count;
    unsigned asked_again;
} bj_sharing_block;

/* One level, from round to round. */
typedef struct {
    size_t level;
    size_t bytes, places; /* of a walk */
    size_t most_at_once;  /* walkers, by memory */
    bool is_paired;       /* with the same walk alone, in the same frames */
    double next_ns;
    double threshold;
    double *alone_ns; /* by cpu */
    size_t *nearer;   /* groups of the nearer level, by cpu */
    bj_sharing_block *blocks;
    size_t block_count;
} bj_sharing_plan;

typedef struct {
    bj_rounds rounds;
    bj_cpus all;
    size_t grain_bytes;
    bj_walk_order order;
    unsigned rounds_planned;
    bj_sharing_plan levels[8];
    size_t level_count;
    bool is_servet;
} bj_sharing_run;

/* A curve of that kind, with its attributes; cpu -1: of no single one. */
bj_status bj_sharing_open_curve(bj_sharing_run *run, const bj_sharing_plan *plan, const char *kind, int cpu,
                                bj_curve **curve, bj_error *error) BJ_WARN_UNUSED;
void bj_sharing_shuffle(bj_sharing_run *run, size_t *items, size_t count);
/* Cpus alone (sharing_alone.c): of all, or of some drawn anew each round. */
bj_status bj_sharing_measure_alone(bj_sharing_run *run, const bj_sharing_plan *plan, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_sharing_measure_round(bj_sharing_run *run, bj_error *error) BJ_WARN_UNUSED;
void bj_sharing_drop_blocks(bj_sharing_plan *plan);

/* ns of each at once; alone_ns (may be NULL) of each by itself before, in the same frames. */
bj_status bj_sharing_walk_at_once(bj_sharing_run *run, const bj_sharing_plan *plan, const size_t *who, size_t count,
                                  double *ns, double *alone_ns, bj_error *error) BJ_WARN_UNUSED;
/* Ratios of the times at once to the times alone: of short walks in the same frames, whose luck decides how much of a
 * small cache a mapping can use; of long ones, where that is little and time dear, to what the cpu took by itself. */
bj_status bj_sharing_compare_at_once(bj_sharing_run *run, const bj_sharing_plan *plan, const size_t *who, size_t count,
                                     double *ratios, bj_error *error) BJ_WARN_UNUSED;
