/* Cpus in groups, for probes that compare cpus: the tree that the topology probe found, read back from its answer, and
 * groups that are joined pair by pair.
 *
 * The tree only says who is asked first: a probe that takes it must find the same groups without it, if slower. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "data/answer.h"

/* Cpus of a tree, in its order. */
typedef struct {
    size_t first, count;
} bj_cpu_run;

typedef struct {
    int *cpus; /* OS numbers, in an order in which every branch is a run */
    size_t cpu_count;
    bj_cpu_run *branches; /* the first is the root, which has all; each lies within an earlier one or beside it */
    size_t branch_count;
    bool is_known; /* false: topology gave no tree, and the root is all there is */
} bj_near_tree;

/* What a branch falls into: its inner branches and the cpus that stand alone in it, in order. `parts` has room for as
 * many as it has cpus; returns how many there are. */
size_t bj_kit_list_parts(const bj_near_tree *tree, bj_cpu_run branch, bj_cpu_run *parts);
/* The cpu's place in the tree's order; cpu_count: it has none. */
size_t bj_kit_find_cpu(const bj_near_tree *tree, int cpu);

/* The cpus of a machine or of a curve, and their tree. */
typedef struct {
    int *cpus; /* OS numbers, ascending; elsewhere a cpu is an index of these */
    size_t count;
    bj_near_tree tree;
    size_t *index_at; /* of the cpu at a place of the tree */
} bj_cpus;

bj_status bj_kit_open_cpus(const int *cpus, size_t count, const bj_answers *earlier, bj_cpus *opened,
                           bj_error *error) BJ_WARN_UNUSED;
void bj_kit_close_cpus(bj_cpus *opened);

/* Groups of `count` items: group_of[i] is the lowest item of i's group. */
void bj_kit_part_all(size_t *group_of, size_t count);
void bj_kit_join(size_t *group_of, size_t count, size_t a, size_t b);
/* Joins the cpus of each list of a structured answer such as `cache.L2.sharing`; others stay as they are. Without such
 * an answer nothing is joined. `cpus` are in any order, group_of by their place in it. */
bj_status bj_kit_join_answered(const bj_answers *earlier, const char *key, const int *cpus, size_t count,
                               size_t *group_of, bj_error *error) BJ_WARN_UNUSED;
