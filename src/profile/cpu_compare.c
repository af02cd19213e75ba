/* Whether two structured values put the same cpus together. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "profile/cpu_json.h"
#include "profile/cpu_values.h"

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

static int compare_sets(const bj_cpu_set *a, const bj_cpu_set *b) {
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (a->items[i] != b->items[i])
            return a->items[i] < b->items[i] ? -1 : 1;
    return a->count < b->count ? -1 : a->count > b->count;
}

static int compare_nodes(const void *a, const void *b) {
    return compare_sets(&((const bj_cpu_node *)a)->cpus, &((const bj_cpu_node *)b)->cpus);
}

/* Cpus ascending, children by their lowest cpu. */
static void sort_node(bj_cpu_node *node) {
    if (node->cpus.count > 0)
        qsort(node->cpus.items, node->cpus.count, sizeof *node->cpus.items, compare_cpus);
    for (size_t i = 0; i < node->child_count; i++)
        sort_node(&node->children[i]);
    if (node->child_count > 0)
        qsort(node->children, node->child_count, sizeof *node->children, compare_nodes);
}

static bool same_nodes(const bj_cpu_node *a, const bj_cpu_node *b) {
    bool same = compare_sets(&a->cpus, &b->cpus) == 0 && a->child_count == b->child_count;
    for (size_t i = 0; i < a->child_count && same; i++)
        same = same_nodes(&a->children[i], &b->children[i]);
    return same;
}

/* Takes the groups over as the children of a node. */
static bj_status adopt_groups(bj_cpu_groups *groups, bj_cpu_node *node, bj_error *error) {
    node->children = calloc(groups->count + 1, sizeof *node->children);
    if (node->children == NULL) {
        bj_profile_free_cpu_groups(groups);
        return bj_base_lack_memory(error, "no memory for %zu groups of cpus", groups->count);
    }
    node->child_count = groups->count;
    for (size_t i = 0; i < groups->count; i++)
        node->children[i].cpus = groups->items[i];
    free(groups->items);
    *groups = (bj_cpu_groups){0};
    return BJ_OK;
}

static bj_status read_groups(const char *key, const json_t *value, bj_cpu_node *node, bj_error *error) {
    bj_cpu_groups groups;
    const char *member = json_is_object(json_array_get(value, 0)) ? "cpus" : NULL;
    BJ_TRY(bj_profile_take_cpu_groups(key, value, member, &groups, error));
    return adopt_groups(&groups, node, error);
}

/* Levels come in an order that means something: each has its number for a cpu, so that sorting leaves it. */
static bj_status read_levels(const char *key, const json_t *levels, bj_cpu_node *node, bj_error *error) {
    size_t count = json_array_size(levels);
    node->children = calloc(count + 1, sizeof *node->children);
    if (node->children == NULL)
        return bj_base_lack_memory(error, "no memory for %zu levels", count);
    node->child_count = count;
    for (size_t i = 0; i < count; i++) {
        bj_cpu_node *level = &node->children[i];
        level->cpus.items = calloc(1, sizeof *level->cpus.items);
        if (level->cpus.items == NULL)
            return bj_base_lack_memory(error, "no memory for %zu levels", count);
        level->cpus.items[0] = (int)i;
        level->cpus.count = 1;
        BJ_TRY(read_groups(key, json_object_get(json_array_get(levels, i), "groups"), level, error));
    }
    return BJ_OK;
}

/* Of nodes to nodes: how many there are, and their cpus where they are told. */
static bj_status read_matrix(const char *key, const char *json, bj_cpu_node *node, bj_error *error) {
    bj_node_matrix matrix;
    BJ_TRY(bj_profile_read_node_matrix(key, json, NULL, &matrix, error));
    node->cpus.items = calloc(1, sizeof *node->cpus.items);
    bj_status status = BJ_OK;
    if (node->cpus.items == NULL)
        status = bj_base_lack_memory(error, "no memory for %s", key);
    else {
        node->cpus.items[0] = (int)matrix.values.count;
        node->cpus.count = 1;
        status = adopt_groups(&matrix.nodes, node, error);
    }
    bj_profile_free_node_matrix(&matrix);
    return status;
}

/* Any value that puts cpus together, as nodes. */
static bj_status read_any(const char *key, const char *json, bj_cpu_node *node, bj_error *error) {
    *node = (bj_cpu_node){0};
    json_t *value = bj_json_load_value(json);
    const json_t *levels = json_object_get(value, "levels");
    bj_status status;
    if (strncmp(key, "numa.", 5) == 0)
        status = read_matrix(key, json, node, error);
    else if (levels != NULL)
        status = read_levels(key, levels, node, error);
    else if (json_is_object(value))
        status = bj_profile_read_cpu_tree(key, json, node, error);
    else
        status = read_groups(key, value, node, error);
    json_decref(value);
    if (status != BJ_OK)
        bj_profile_free_cpu_tree(node);
    return status;
}

bj_status bj_profile_compare_cpu_sets(const char *key, const char *json_a, const char *json_b, bool *same,
                                      bj_error *error) {
    bj_cpu_node a, b;
    bj_status status = read_any(key, json_a, &a, error);
    if (status != BJ_OK)
        return status;
    status = read_any(key, json_b, &b, error);
    if (status == BJ_OK) {
        sort_node(&a);
        sort_node(&b);
        *same = same_nodes(&a, &b);
        bj_profile_free_cpu_tree(&b);
    }
    bj_profile_free_cpu_tree(&a);
    return status;
}
