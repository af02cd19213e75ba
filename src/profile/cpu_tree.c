#include "profile/cpu_tree.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

/* For what is disjoint: which cpus were met. One byte a cpu, since the numbers are bounded. */
typedef struct {
    unsigned char met[BJ_CPU_NUMBERS];
} cpu_marks;

static bj_status refuse(bj_error *error, const char *key, const char *what) {
    return bj_base_set_error(error, BJ_ERR_INPUT, "%s: expected %s", key, what);
}

static bj_status read_set(const char *key, const json_t *list, bj_cpu_set *set, bj_error *error) {
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > BJ_CPU_NUMBERS)
        return refuse(error, key, "lists of cpu numbers");
    set->items = calloc(count, sizeof *set->items);
    if (set->items == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    set->count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *cpu = json_array_get(list, i);
        if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 || json_integer_value(cpu) >= BJ_CPU_NUMBERS)
            return refuse(error, key, "cpu numbers from 0 to 65535");
        set->items[i] = (int)json_integer_value(cpu);
    }
    return BJ_OK;
}

/* False when a cpu of the set is marked already. */
static bool mark(cpu_marks *marks, const bj_cpu_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        if (marks->met[set->items[i]] != 0)
            return false;
        marks->met[set->items[i]] = 1;
    }
    return true;
}

static void unmark(cpu_marks *marks, const bj_cpu_set *set) {
    for (size_t i = 0; i < set->count; i++)
        marks->met[set->items[i]] = 0;
}

/* Children take their cpus away from the parent's; what is not there was taken by a sibling or never the parent's. */
static bool take_away(cpu_marks *marks, const bj_cpu_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        if (marks->met[set->items[i]] != 1)
            return false;
        marks->met[set->items[i]] = 2;
    }
    return true;
}

/* The whole file was limited in depth and size before it was parsed, and so this recursion is. */
static bj_status read_node(const char *key, const json_t *value, cpu_marks *marks, bj_cpu_node *node, bj_error *error) {
    const json_t *children = json_object_get(value, "children");
    bj_status status = read_set(key, json_object_get(value, "cpus"), &node->cpus, error);
    if (status != BJ_OK)
        return status;
    if (!mark(marks, &node->cpus)) {
        unmark(marks, &node->cpus);
        return refuse(error, key, "each cpu once in a node");
    }
    size_t count = json_array_size(children);
    if (children != NULL && !json_is_array(children))
        status = refuse(error, key, "children as a list");
    if (status == BJ_OK && count > 0) {
        node->children = calloc(count, sizeof *node->children);
        if (node->children == NULL)
            status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu nodes", count);
    }
    if (status == BJ_OK)
        node->child_count = count;
    bj_cpu_set peek = {0};
    for (size_t i = 0; i < node->child_count && status == BJ_OK; i++) {
        status = read_set(key, json_object_get(json_array_get(children, i), "cpus"), &peek, error);
        if (status == BJ_OK && !take_away(marks, &peek))
            status = refuse(error, key, "children that are disjoint and within their parent");
        free(peek.items);
        peek = (bj_cpu_set){0};
    }
    unmark(marks, &node->cpus);
    for (size_t i = 0; i < node->child_count && status == BJ_OK; i++)
        status = read_node(key, json_array_get(children, i), marks, &node->children[i], error);
    return status;
}

bj_status bj_profile_read_cpu_tree(const char *key, const char *json, bj_cpu_node *tree, bj_error *error) {
    *tree = (bj_cpu_node){0};
    json_t *value = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    cpu_marks *marks = calloc(1, sizeof *marks);
    bj_status status;
    if (marks == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a tree of cpus");
    else if (!json_is_object(value))
        status = refuse(error, key, "a tree of cpus");
    else
        status = read_node(key, value, marks, tree, error);
    free(marks);
    json_decref(value);
    if (status != BJ_OK)
        bj_profile_free_cpu_tree(tree);
    return status;
}

void bj_profile_free_cpu_tree(bj_cpu_node *tree) {
    for (size_t i = 0; i < tree->child_count; i++)
        bj_profile_free_cpu_tree(&tree->children[i]);
    free(tree->children);
    free(tree->cpus.items);
    *tree = (bj_cpu_node){0};
}

bj_status bj_profile_read_cpu_groups(const char *key, const char *json, bj_cpu_groups *groups, bj_error *error) {
    *groups = (bj_cpu_groups){0};
    json_t *value = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    size_t count = json_array_size(value);
    cpu_marks *marks = calloc(1, sizeof *marks);
    bj_cpu_set *items = calloc(count + 1, sizeof *items);
    bj_status status = BJ_OK;
    if (marks == NULL || items == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu groups of cpus", count);
    else if (!json_is_array(value))
        status = refuse(error, key, "groups of cpus");
    *groups = (bj_cpu_groups){items, items != NULL ? count : 0};
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        status = read_set(key, json_array_get(value, i), &items[i], error);
        if (status == BJ_OK && !mark(marks, &items[i]))
            status = refuse(error, key, "groups that are disjoint");
    }
    free(marks);
    json_decref(value);
    if (status != BJ_OK)
        bj_profile_free_cpu_groups(groups);
    return status;
}

void bj_profile_free_cpu_groups(bj_cpu_groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        free(groups->items[i].items);
    free(groups->items);
    *groups = (bj_cpu_groups){0};
}

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

/* Groups as the children of a node without cpus of its own. */
static bj_status read_any(const char *key, const char *json, bj_cpu_node *node, bj_error *error) {
    if (json[0] == '{')
        return bj_profile_read_cpu_tree(key, json, node, error);
    bj_cpu_groups groups;
    *node = (bj_cpu_node){0};
    BJ_TRY(bj_profile_read_cpu_groups(key, json, &groups, error));
    node->children = calloc(groups.count + 1, sizeof *node->children);
    if (node->children == NULL) {
        bj_profile_free_cpu_groups(&groups);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu groups of cpus", groups.count);
    }
    node->child_count = groups.count;
    for (size_t i = 0; i < groups.count; i++)
        node->children[i].cpus = groups.items[i];
    free(groups.items);
    return BJ_OK;
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
