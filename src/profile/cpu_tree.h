/* Structured values about cpus, read back from an answer's JSON text: the tree of `topology.tree` and the groups of
 * `cache.L<n>.sharing`. The text may come from anywhere, so everything is checked. profile/cpu_values.h has the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Cpu numbers are below this. */
#define BJ_CPU_NUMBERS 65536

typedef struct {
    int *items; /* OS numbers, distinct */
    size_t count;
} bj_cpu_set;

/* Square, row by row. */
typedef struct {
    double *cells; /* NaN: not known */
    size_t count;  /* of rows, and of columns */
} bj_cpu_matrix;

typedef struct bj_cpu_node bj_cpu_node;
struct bj_cpu_node {
    bj_cpu_set cpus;
    bj_cpu_node *children; /* disjoint, each within the node's cpus */
    size_t child_count;
    double latency_ns;                        /* typical between its parts; NaN: not told, as the next three */
    double block_bytes, inside_ns, across_ns; /* the block that splits it, latency within its parts and across */
    char name[24];                            /* of the system's object with the same cpus; "": none */
    bool not_tree;                            /* its parts are at distances that no tree has */
    bj_cpu_matrix distances_ns;               /* then; between its children, or its cpus where there are as many */
};

typedef struct {
    bj_cpu_set *items; /* disjoint */
    size_t count;
} bj_cpu_groups;

/* `key` stands for the answer in errors. On failure nothing is left to free. */
bj_status bj_profile_read_cpu_tree(const char *key, const char *json, bj_cpu_node *tree,
                                   bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_cpu_tree(bj_cpu_node *tree);
bj_status bj_profile_read_cpu_groups(const char *key, const char *json, bj_cpu_groups *groups,
                                     bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_cpu_groups(bj_cpu_groups *groups);
/* Whether two trees, lists of groups or kinds, or levels of contention put the same cpus together, in whatever order
 * they are written; of matrices (`numa.…`) whether they have the same nodes. The numbers in them vary, and are not
 * looked at. Fails when either text is none of these. */
bj_status bj_profile_compare_cpu_sets(const char *key, const char *json_a, const char *json_b, bool *same,
                                      bj_error *error) BJ_WARN_UNUSED;
