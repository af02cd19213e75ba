#include "probes/topology/topology_tree.h"

#include <stdlib.h>

bool bj_topology_is_within(const bj_topology_tree *tree, size_t node, size_t cpu) {
    size_t at = tree->node_of[cpu];
    while (at != BJ_NO_NODE && at != node)
        at = tree->nodes[at].parent;
    return at == node;
}

static bj_status add_node(bj_topology_tree *tree, bj_topology_node node, size_t *added, bj_error *error) {
    bj_topology_node *grown = realloc(tree->nodes, (tree->count + 1) * sizeof *grown);
    if (grown == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu nodes", tree->count + 1);
    tree->nodes = grown;
    *added = tree->count;
    tree->nodes[tree->count++] = node;
    return BJ_OK;
}

/* The groups of a level become nodes below those that their cpus are in, unless they are no less. `size` and `node` are
 * scratch, one a group. */
static bj_status add_level(bj_topology_tree *tree, const bj_group_level *level, size_t number, size_t *size,
                           size_t *node, bj_error *error) {
    for (size_t g = 0; g < level->group_count; g++) {
        size[g] = 0;
        node[g] = BJ_NO_NODE;
    }
    for (size_t i = 0; i < tree->cpu_count; i++)
        size[level->group_of[i]]++;
    for (size_t i = 0; i < tree->cpu_count; i++) {
        size_t g = level->group_of[i], parent = tree->node_of[i];
        if (node[g] == BJ_NO_NODE && size[g] > 1 && size[g] < tree->nodes[parent].size)
            BJ_TRY(add_node(tree, (bj_topology_node){parent, number, size[g], false}, &node[g], error));
    }
    for (size_t i = 0; i < tree->cpu_count; i++)
        if (node[level->group_of[i]] != BJ_NO_NODE)
            tree->node_of[i] = node[level->group_of[i]];
    return BJ_OK;
}

bj_status bj_topology_plant(const bj_nested_groups *nested, size_t cpu_count, bj_topology_tree *tree, bj_error *error) {
    size_t root = 0;
    *tree = (bj_topology_tree){.node_of = calloc(cpu_count + 1, sizeof *tree->node_of), .cpu_count = cpu_count};
    size_t *scratch = malloc((2 * cpu_count + 1) * sizeof *scratch);
    bj_status status = BJ_OK;
    if (tree->node_of == NULL || scratch == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a tree of %zu cpus", cpu_count);
    if (status == BJ_OK)
        status = add_node(tree, (bj_topology_node){BJ_NO_NODE, nested->level_count, cpu_count, false}, &root, error);
    for (size_t level = nested->level_count; level-- > 0 && status == BJ_OK;)
        status = add_level(tree, &nested->levels[level], level, scratch, scratch + cpu_count, error);
    free(scratch);
    if (status != BJ_OK)
        bj_topology_fell(tree);
    return status;
}

void bj_topology_fell(bj_topology_tree *tree) {
    free(tree->nodes);
    free(tree->node_of);
    *tree = (bj_topology_tree){0};
}

size_t bj_topology_meet(const bj_topology_tree *tree, size_t a, size_t b) {
    size_t node = tree->node_of[a];
    while (!bj_topology_is_within(tree, node, b))
        node = tree->nodes[node].parent;
    return node;
}

size_t bj_topology_number_children(const bj_topology_tree *tree, size_t node, size_t *child_of) {
    size_t count = 0;
    for (size_t i = 0; i < tree->cpu_count; i++) {
        size_t at = tree->node_of[i], below = BJ_NO_NODE;
        while (at != BJ_NO_NODE && at != node) {
            below = at;
            at = tree->nodes[at].parent;
        }
        child_of[i] = BJ_NO_NODE;
        if (at != node)
            continue;
        for (size_t j = 0; j < i && below != BJ_NO_NODE && child_of[i] == BJ_NO_NODE; j++)
            if (child_of[j] != BJ_NO_NODE && bj_topology_is_within(tree, below, j))
                child_of[i] = child_of[j];
        if (child_of[i] == BJ_NO_NODE)
            child_of[i] = count++;
    }
    return count;
}

/* The cpus whose child is of the group move below the new node. */
static void move_below(bj_topology_tree *tree, size_t node, size_t fresh, const size_t *child_of,
                       const size_t *group_of, size_t group) {
    for (size_t i = 0; i < tree->cpu_count; i++) {
        if (child_of[i] == BJ_NO_NODE || group_of[child_of[i]] != group)
            continue;
        size_t at = tree->node_of[i];
        if (at == node)
            tree->node_of[i] = fresh;
        while (at != node && at != fresh) {
            if (tree->nodes[at].parent == node)
                tree->nodes[at].parent = fresh;
            at = tree->nodes[at].parent;
        }
    }
}

bj_status bj_topology_split(bj_topology_tree *tree, size_t node, const size_t *child_of, size_t child_count,
                            const size_t *group_of, bj_error *error) {
    for (size_t group = 0; group < child_count; group++) {
        size_t children = 0, cpus = 0, fresh = 0;
        for (size_t c = 0; c < child_count; c++)
            children += group_of[c] == group;
        for (size_t i = 0; i < tree->cpu_count; i++)
            cpus += child_of[i] != BJ_NO_NODE && group_of[child_of[i]] == group;
        if (children < 2 || children == child_count)
            continue;
        BJ_TRY(add_node(tree, (bj_topology_node){node, tree->nodes[node].level, cpus, true}, &fresh, error));
        move_below(tree, node, fresh, child_of, group_of, group);
    }
    return BJ_OK;
}
