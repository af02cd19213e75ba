/* Structured values about cpus, read back from an answer's JSON text: the tree of `topology.tree` and the groups of
 * `cache.L<n>.sharing`. The text may come from anywhere, so everything is checked. */
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

typedef struct bj_cpu_node bj_cpu_node;
struct bj_cpu_node {
    bj_cpu_set cpus;
    bj_cpu_node *children; /* disjoint, each within the node's cpus */
    size_t child_count;
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
/* Whether two trees, or two lists of groups, put the same cpus together, in whatever order they are written. Fails when
 * either text is neither. */
bj_status bj_profile_compare_cpu_sets(const char *key, const char *json_a, const char *json_b, bool *same,
                                      bj_error *error) BJ_WARN_UNUSED;
