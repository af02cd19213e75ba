#include "profile/cpu_tree.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "profile/cpu_json.h"

/* For what is disjoint: which cpus were met. One byte a cpu, since the numbers are bounded. */
typedef struct {
    unsigned char met[BJ_CPU_NUMBERS];
} cpu_marks;

static bj_status refuse(bj_error *error, const char *key, const char *what) {
    return bj_base_set_error(error, BJ_ERR_INPUT, "%s: expected %s", key, what);
}

bj_status bj_profile_take_cpu_set(const char *key, const json_t *list, bj_cpu_set *set, bj_error *error) {
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > BJ_CPU_NUMBERS)
        return refuse(error, key, "lists of cpu numbers");
    set->items = calloc(count, sizeof *set->items);
    if (set->items == NULL)
        return bj_base_lack_memory(error, "no memory for %zu cpus", count);
    set->count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *cpu = json_array_get(list, i);
        if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 || json_integer_value(cpu) >= BJ_CPU_NUMBERS)
            return refuse(error, key, "cpu numbers from 0 to 65535");
        set->items[i] = (int)json_integer_value(cpu);
    }
    return BJ_OK;
}

bj_status bj_profile_take_cpu_matrix(const char *key, const json_t *rows, bj_cpu_matrix *matrix, bj_error *error) {
    size_t count = json_array_size(rows);
    if (!json_is_array(rows) || count == 0 || count > BJ_CPU_MATRIX_MOST)
        return refuse(error, key, "a matrix");
    matrix->cells = calloc(count * count, sizeof *matrix->cells);
    if (matrix->cells == NULL)
        return bj_base_lack_memory(error, "no memory for %zu rows", count);
    matrix->count = count;
    for (size_t i = 0; i < count * count; i++) {
        const json_t *row = json_array_get(rows, i / count), *cell = json_array_get(row, i % count);
        if (json_array_size(row) != count || (!json_is_number(cell) && !json_is_null(cell)))
            return refuse(error, key, "a square matrix of numbers");
        matrix->cells[i] = json_is_null(cell) ? (double)NAN : json_number_value(cell);
    }
    return BJ_OK;
}

double bj_profile_take_number(const json_t *object, const char *member) {
    const json_t *value = json_object_get(object, member);
    return json_is_number(value) && json_number_value(value) >= 0 ? json_number_value(value) : (double)NAN;
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

/* What is told of a node besides its cpus. */
static bj_status read_facts(const char *key, const json_t *value, bj_cpu_node *node, bj_error *error) {
    const json_t *name = json_object_get(value, "name"), *distances = json_object_get(value, "distances_ns");
    node->latency_ns = bj_profile_take_number(value, "latency_ns");
    node->block_bytes = bj_profile_take_number(value, "block_bytes");
    node->inside_ns = bj_profile_take_number(value, "inside_ns");
    node->across_ns = bj_profile_take_number(value, "across_ns");
    if (json_is_string(name))
        snprintf(node->name, sizeof node->name, "%s", json_string_value(name));
    node->not_tree = json_is_false(json_object_get(value, "tree_like"));
    if (distances == NULL || json_is_null(distances))
        return BJ_OK;
    return bj_profile_take_cpu_matrix(key, distances, &node->distances_ns, error);
}

/* The whole file was limited in depth and size before it was parsed, and so this recursion is. */
static bj_status read_node(const char *key, const json_t *value, cpu_marks *marks, bj_cpu_node *node, bj_error *error) {
    const json_t *children = json_object_get(value, "children");
    BJ_TRY(bj_profile_take_cpu_set(key, json_object_get(value, "cpus"), &node->cpus, error));
    bj_status status = read_facts(key, value, node, error);
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
            status = bj_base_lack_memory(error, "no memory for %zu nodes", count);
    }
    if (status == BJ_OK)
        node->child_count = count;
    bj_cpu_set peek = {0};
    for (size_t i = 0; i < node->child_count && status == BJ_OK; i++) {
        status = bj_profile_take_cpu_set(key, json_object_get(json_array_get(children, i), "cpus"), &peek, error);
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
    json_t *value = bj_json_load_value(json);
    cpu_marks *marks = calloc(1, sizeof *marks);
    bj_status status;
    if (marks == NULL)
        status = bj_base_lack_memory(error, "no memory for a tree of cpus");
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
    free(tree->distances_ns.cells);
    *tree = (bj_cpu_node){0};
}

bj_status bj_profile_take_cpu_groups(const char *key, const json_t *value, const char *member, bj_cpu_groups *groups,
                                     bj_error *error) {
    size_t count = json_array_size(value);
    cpu_marks *marks = calloc(1, sizeof *marks);
    bj_cpu_set *items = calloc(count + 1, sizeof *items);
    bj_status status = BJ_OK;
    if (marks == NULL || items == NULL)
        status = bj_base_lack_memory(error, "no memory for %zu groups of cpus", count);
    else if (!json_is_array(value))
        status = refuse(error, key, "groups of cpus");
    *groups = (bj_cpu_groups){items, items != NULL ? count : 0};
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        const json_t *item = json_array_get(value, i);
        status = bj_profile_take_cpu_set(key, member != NULL ? json_object_get(item, member) : item, &items[i], error);
        if (status == BJ_OK && !mark(marks, &items[i]))
            status = refuse(error, key, "groups that are disjoint");
    }
    free(marks);
    if (status != BJ_OK)
        bj_profile_free_cpu_groups(groups);
    return status;
}

bj_status bj_profile_read_cpu_groups(const char *key, const char *json, bj_cpu_groups *groups, bj_error *error) {
    *groups = (bj_cpu_groups){0};
    json_t *value = bj_json_load_value(json);
    bj_status status = bj_profile_take_cpu_groups(key, value, NULL, groups, error);
    json_decref(value);
    return status;
}

void bj_profile_free_cpu_groups(bj_cpu_groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        free(groups->items[i].items);
    free(groups->items);
    *groups = (bj_cpu_groups){0};
}
