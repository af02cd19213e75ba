/* The measurement of the topology probe, in parts: kinds of cpus, who shares a first level, pairs, blocks. */
#pragma once

#include "probes/kit/rounds.h"
#include "probes/topology/topology_samples.h"

/* A pair that is measured in every round. */
typedef struct {
    uint32_t a, b; /* a < b */
    bj_topology_part part;
} bj_topology_asked;

typedef struct {
    bj_rounds rounds;
    const bj_measure_request *request;
    bj_curves *samples;
    int *cpus; /* ascending; all else counts cpus by their place here */
    size_t cpu_count;
    size_t line_bytes, large_bytes; /* the smallest and the largest block; the latter 0: not known */
    double level_bytes[2];          /* what surely fits the first and the second level; 0: not known */
    float *known_ns;                /* a turn at one line, cpu by cpu; NaN: not measured */
    bj_topology_asked *asked;       /* pairs at one line */
    size_t asked_count, asked_room;
    uint32_t *curve_of[BJ_TOPOLOGY_PARTS]; /* by first cpu: the number of its curve + 1; 0: none yet */
    unsigned failures;                     /* exchanges whose partner did not come back */
    size_t at_once;                        /* disjoint pairs that do not disturb each other */
    size_t large_asked;                    /* pairs at the largest block */
    size_t walks_together;                 /* experiments of many walks */
    uint32_t *pivots;                      /* that were explored from, one of each group at least */
    size_t pivot_count;
    uint32_t *pivot_of; /* by cpu: of its group; itself: none */
} bj_topology_run;

/* topology_exchange.c: pairs. */
bj_status bj_topology_open_run(bj_topology_run *run, const bj_measure_request *request, bj_curves *samples,
                               bj_error *error) BJ_WARN_UNUSED;
void bj_topology_close_run(bj_topology_run *run);
/* A pair of that part, measured in the first round unless it is known; the time of a turn. */
bj_status bj_topology_ask(bj_topology_run *run, size_t a, size_t b, bj_topology_part part, double *ns,
                          bj_error *error) BJ_WARN_UNUSED;
/* The same again: the lower of both times counts. */
bj_status bj_topology_ask_again(bj_topology_run *run, size_t a, size_t b, bj_topology_part part, double *ns,
                                bj_error *error) BJ_WARN_UNUSED;
/* The time of a turn, not recorded. NaN: the partner did not come back, which is an error from the third time on. */
bj_status bj_topology_exchange(bj_topology_run *run, const bj_exchange *pairs, size_t count, unsigned repetitions,
                               double *ns, bj_error *error) BJ_WARN_UNUSED;
/* Further rounds of all pairs, in random order; several at once where a check shows that they do not disturb each
 * other. */
bj_status bj_topology_repeat(bj_topology_run *run, size_t first_round, unsigned rounds, bj_error *error) BJ_WARN_UNUSED;

/* topology_explore.c: which pairs. */
bj_status bj_topology_ask_everyone(bj_topology_run *run, const uint32_t *cpus, size_t count, bj_topology_part part,
                                   bj_error *error) BJ_WARN_UNUSED;
/* Rows of pivots: as many pairs as it takes to put cpus together that are near each other. */
bj_status bj_topology_explore(bj_topology_run *run, const uint32_t *cpus, size_t count, bj_topology_part part,
                              bj_error *error) BJ_WARN_UNUSED;
/* Random pairs that were not asked yet, half of them of pivots: rows say nothing of pivots of different classes. */
bj_status bj_topology_confirm(bj_topology_run *run, size_t count, bj_error *error) BJ_WARN_UNUSED;

/* topology_sharers.c: group tests. leader_of: by cpu, the one that it shares a first level with; itself: none. In doubt
 * are those that saw a sharer and found none. */
bj_status bj_topology_find_sharers(bj_topology_run *run, uint32_t *leader_of, bool *in_doubt,
                                   bj_error *error) BJ_WARN_UNUSED;
/* Cpus that are slower when all of them walk two thirds of the second level, while the pivot of their group is not:
 * they share one with others than it. *count becomes how many. */
bj_status bj_topology_find_crowded(bj_topology_run *run, uint32_t *cpus, size_t *count, bj_error *error) BJ_WARN_UNUSED;

/* topology_kinds_run.c: the yardstick and small walks of each cpu. */
bj_status bj_topology_measure_kinds(bj_topology_run *run, unsigned rounds, bj_error *error) BJ_WARN_UNUSED;
/* A random walk over `bytes` of the open arena from first_byte on; `places` has room for it. */
bj_status bj_topology_make_walk(bj_topology_run *run, size_t cpu, size_t first_byte, double bytes, uint32_t *places,
                                bj_walk *walk, bj_error *error) BJ_WARN_UNUSED;
size_t bj_topology_count_places(const bj_topology_run *run, double bytes);

/* topology_blocks.c: what separates the groups found so far. */
bj_status bj_topology_measure_blocks(bj_topology_run *run, bj_error *error) BJ_WARN_UNUSED;
