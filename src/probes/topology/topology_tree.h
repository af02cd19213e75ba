/* The locality tree: nodes of cpus, from nested groups and from what a larger block splits. */
#pragma once

#include "probes/topology/topology_samples.h"
#include "stats/nested_groups.h"

#define BJ_NO_NODE ((size_t)-1)

typedef struct {
    size_t parent; /* BJ_NO_NODE: the root */
    size_t level;  /* of the nesting whose group it is; of the root, the number of levels */
    size_t size;   /* cpus */
    bool large;    /* it was split off at a block, not at one line: the largest, or any in a tree by blocks */
} bj_topology_node;

typedef struct {
    bj_topology_node *nodes; /* a parent comes before its children, but for those split off; the first is the root */
    size_t count;
    size_t *node_of; /* by cpu: the innermost */
    size_t cpu_count;
} bj_topology_tree;

bj_status bj_topology_plant(const bj_nested_groups *nested, size_t cpu_count, bj_topology_tree *tree,
                            bj_error *error) BJ_WARN_UNUSED;
void bj_topology_fell(bj_topology_tree *tree);
/* The innermost node of both. */
size_t bj_topology_meet(const bj_topology_tree *tree, size_t a, size_t b);
bool bj_topology_is_within(const bj_topology_tree *tree, size_t node, size_t cpu);
/* Numbers the children of a node, those that are cpus alone among them: child_of has room for every cpu, and those
 * outside the node get BJ_NO_NODE. Returns how many children there are. */
size_t bj_topology_number_children(const bj_topology_tree *tree, size_t node, size_t *child_of);
/* Children of one group become the children of a new node, unless they are all or one. `group_of` is by the number of
 * the child. */
bj_status bj_topology_split(bj_topology_tree *tree, size_t node, const size_t *child_of, size_t child_count,
                            const size_t *group_of, bj_error *error) BJ_WARN_UNUSED;
