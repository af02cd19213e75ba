#include "profile/cpu_values.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "profile/cpu_json.h"

/* More than any machine has, so that a wrong file is no reason to allocate much. */
enum { LEVELS_MOST = 64, STEPS_MOST = BJ_CPU_NUMBERS };

static bj_status refuse(bj_error *error, const char *key, const char *what) {
    return bj_base_set_error(error, BJ_ERR_INPUT, "%s: expected %s", key, what);
}

static bj_status lack_memory(bj_error *error, const char *key) {
    return bj_base_lack_memory(error, "%s: no memory for it", key);
}

/* ---- kinds */

bj_status bj_profile_read_cpu_kinds(const char *key, const char *json, bj_cpu_kinds *kinds, bj_error *error) {
    *kinds = (bj_cpu_kinds){0};
    json_t *list = bj_json_load_value(json);
    bj_status status = bj_profile_take_cpu_groups(key, list, "cpus", &kinds->cpus, error);
    size_t count = kinds->cpus.count;
    if (status == BJ_OK) {
        kinds->clock_ghz = calloc(count + 1, sizeof *kinds->clock_ghz);
        kinds->l1_bytes = calloc(count + 1, sizeof *kinds->l1_bytes);
        if (kinds->clock_ghz == NULL || kinds->l1_bytes == NULL)
            status = lack_memory(error, key);
    }
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        kinds->clock_ghz[i] = bj_profile_take_number(json_array_get(list, i), "clock_ghz");
        kinds->l1_bytes[i] = bj_profile_take_number(json_array_get(list, i), "l1_bytes");
    }
    json_decref(list);
    if (status != BJ_OK)
        bj_profile_free_cpu_kinds(kinds);
    return status;
}

void bj_profile_free_cpu_kinds(bj_cpu_kinds *kinds) {
    bj_profile_free_cpu_groups(&kinds->cpus);
    free(kinds->clock_ghz);
    free(kinds->l1_bytes);
    *kinds = (bj_cpu_kinds){0};
}

/* ---- contention */

static bj_status read_scaling(const char *key, const json_t *list, bj_contention_level *level, bj_error *error) {
    size_t count = json_array_size(list);
    if (list == NULL)
        return BJ_OK;
    if (!json_is_array(list) || count > STEPS_MOST)
        return refuse(error, key, "scaling as a list");
    level->scaling_cpus = calloc(count + 1, sizeof *level->scaling_cpus);
    level->scaling_gbs = calloc(count + 1, sizeof *level->scaling_gbs);
    if (level->scaling_cpus == NULL || level->scaling_gbs == NULL)
        return lack_memory(error, key);
    for (size_t i = 0; i < count; i++) {
        level->scaling_cpus[i] = bj_profile_take_number(json_array_get(list, i), "cpus");
        level->scaling_gbs[i] = bj_profile_take_number(json_array_get(list, i), "gbs");
        if (isnan(level->scaling_cpus[i]) || isnan(level->scaling_gbs[i]))
            return refuse(error, key, "scaling with cpus and gbs");
    }
    level->scaling_count = count;
    return BJ_OK;
}

static bj_status read_level(const char *key, const json_t *value, bj_contention_level *level, bj_error *error) {
    level->gbs = bj_profile_take_number(value, "gbs");
    level->useful_cpus = bj_profile_take_number(value, "useful_cpus");
    BJ_TRY(bj_profile_take_cpu_groups(key, json_object_get(value, "groups"), NULL, &level->groups, error));
    return read_scaling(key, json_object_get(value, "scaling"), level, error);
}

bj_status bj_profile_read_contention(const char *key, const char *json, bj_contention *contention, bj_error *error) {
    *contention = (bj_contention){0};
    json_t *value = bj_json_load_value(json);
    const json_t *levels = json_object_get(value, "levels");
    size_t count = json_array_size(levels);
    bj_status status = BJ_OK;
    if (!json_is_array(levels) || count > LEVELS_MOST)
        status = refuse(error, key, "levels of contention");
    else
        contention->levels = calloc(count + 1, sizeof *contention->levels);
    if (status == BJ_OK && contention->levels == NULL)
        status = lack_memory(error, key);
    contention->reference_gbs = bj_profile_take_number(value, "reference_gbs");
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        contention->level_count = i + 1;
        status = read_level(key, json_array_get(levels, i), &contention->levels[i], error);
    }
    json_decref(value);
    if (status != BJ_OK)
        bj_profile_free_contention(contention);
    return status;
}

void bj_profile_free_contention(bj_contention *contention) {
    for (size_t i = 0; i < contention->level_count; i++) {
        bj_profile_free_cpu_groups(&contention->levels[i].groups);
        free(contention->levels[i].scaling_cpus);
        free(contention->levels[i].scaling_gbs);
    }
    free(contention->levels);
    *contention = (bj_contention){0};
}

/* ---- streams */

static bj_status read_series(const char *key, const json_t *value, bj_stream_series *series, bj_error *error) {
    const json_t *points = json_object_get(value, "gbs");
    size_t count = json_array_size(points);
    series->cpus = bj_profile_take_number(value, "cpus");
    series->useful = bj_profile_take_number(value, "useful_streams");
    series->limited = json_is_true(json_object_get(value, "limited"));
    if (!json_is_array(points) || count > STEPS_MOST || isnan(series->cpus))
        return refuse(error, key, "cpus, and gbs as a list");
    series->arrays = calloc(count + 1, sizeof *series->arrays);
    series->gbs = calloc(count + 1, sizeof *series->gbs);
    if (series->arrays == NULL || series->gbs == NULL)
        return lack_memory(error, key);
    for (; series->count < count; series->count++) {
        const json_t *point = json_array_get(points, series->count);
        if (json_array_size(point) != 2 || !json_is_number(json_array_get(point, 0)) ||
            !json_is_number(json_array_get(point, 1)))
            return refuse(error, key, "pairs of arrays and GB/s");
        series->arrays[series->count] = json_number_value(json_array_get(point, 0));
        series->gbs[series->count] = json_number_value(json_array_get(point, 1));
    }
    return BJ_OK;
}

bj_status bj_profile_read_streams(const char *key, const char *json, bj_stream_table *table, bj_error *error) {
    *table = (bj_stream_table){0};
    json_t *list = bj_json_load_value(json);
    size_t count = json_array_size(list);
    bj_status status =
        json_is_array(list) && count <= LEVELS_MOST ? BJ_OK : refuse(error, key, "a list of numbers of cpus");
    if (status == BJ_OK && (table->items = calloc(count + 1, sizeof *table->items)) == NULL)
        status = lack_memory(error, key);
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        table->count = i + 1;
        status = read_series(key, json_array_get(list, i), &table->items[i], error);
    }
    json_decref(list);
    if (status != BJ_OK)
        bj_profile_free_streams(table);
    return status;
}

void bj_profile_free_streams(bj_stream_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free(table->items[i].arrays);
        free(table->items[i].gbs);
    }
    free(table->items);
    *table = (bj_stream_table){0};
}

/* ---- nodes of memory */

static int compare_lowest(const void *a, const void *b) {
    const bj_cpu_set *left = a, *right = b;
    int first = left->items[0], second = right->items[0];
    for (size_t i = 0; i < left->count; i++)
        first = left->items[i] < first ? left->items[i] : first;
    for (size_t i = 0; i < right->count; i++)
        second = right->items[i] < second ? right->items[i] : second;
    return first < second ? -1 : first > second;
}

static bj_status copy_set(const char *key, const int *items, size_t count, bj_cpu_set *set, bj_error *error) {
    set->items = malloc(count * sizeof *items);
    if (set->items == NULL)
        return lack_memory(error, key);
    memcpy(set->items, items, count * sizeof *items);
    set->count = count;
    return BJ_OK;
}

/* The root's parts, by their lowest cpu: its children, or all of it where it has none. Cpus that stand alone would
 * each be a node, which no machine has. */
static bj_status infer_nodes(const char *key, const bj_cpu_node *tree, bj_node_matrix *matrix, bj_error *error) {
    size_t rows = matrix->values.count, covered = 0;
    for (size_t i = 0; i < tree->child_count; i++)
        covered += tree->children[i].cpus.count;
    bool whole = rows == 1, parts = rows == tree->child_count && covered == tree->cpus.count;
    if (!whole && !parts)
        return BJ_OK;
    matrix->nodes.items = calloc(rows, sizeof *matrix->nodes.items);
    if (matrix->nodes.items == NULL)
        return lack_memory(error, key);
    matrix->nodes.count = rows;
    for (size_t i = 0; i < rows; i++) {
        const bj_cpu_set *cpus = whole ? &tree->cpus : &tree->children[i].cpus;
        BJ_TRY(copy_set(key, cpus->items, cpus->count, &matrix->nodes.items[i], error));
    }
    qsort(matrix->nodes.items, rows, sizeof *matrix->nodes.items, compare_lowest);
    return BJ_OK;
}

static bj_status read_nodes(const char *key, const json_t *value, const bj_cpu_node *tree, bj_node_matrix *matrix,
                            bj_error *error) {
    const json_t *rows = value, *nodes = json_object_get(value, "nodes"), *member;
    const char *name;
    if (json_is_object(value)) {
        rows = NULL;
        json_object_foreach((json_t *)value, name, member) if (json_is_array(member) && strcmp(name, "nodes") != 0)
            rows = member;
    }
    BJ_TRY(bj_profile_take_cpu_matrix(key, rows, &matrix->values, error));
    if (nodes == NULL)
        return tree != NULL ? infer_nodes(key, tree, matrix, error) : BJ_OK;
    BJ_TRY(bj_profile_take_cpu_groups(key, nodes, NULL, &matrix->nodes, error));
    return matrix->nodes.count == matrix->values.count ? BJ_OK : refuse(error, key, "as many nodes as rows");
}

bj_status bj_profile_read_node_matrix(const char *key, const char *json, const bj_cpu_node *tree,
                                      bj_node_matrix *matrix, bj_error *error) {
    *matrix = (bj_node_matrix){0};
    json_t *value = bj_json_load_value(json);
    bj_status status = read_nodes(key, value, tree, matrix, error);
    json_decref(value);
    if (status != BJ_OK)
        bj_profile_free_node_matrix(matrix);
    return status;
}

void bj_profile_free_node_matrix(bj_node_matrix *matrix) {
    bj_profile_free_cpu_groups(&matrix->nodes);
    free(matrix->values.cells);
    *matrix = (bj_node_matrix){0};
}

/* ---- pairs */

bj_status bj_profile_read_cpu_pairs(const char *key, const char *json, bj_cpu_pairs *pairs, bj_error *error) {
    json_t *list = bj_json_load_value(json);
    bj_status status = json_is_array(list) ? BJ_OK : refuse(error, key, "a list of pairs");
    *pairs = (bj_cpu_pairs){json_array_size(list), NAN, NAN};
    for (size_t i = 0; i < pairs->count && status == BJ_OK; i++) {
        const json_t *pair = json_array_get(list, i);
        double latency = bj_profile_take_number(pair, "latency_ns");
        if (!json_is_integer(json_object_get(pair, "a")) || !json_is_integer(json_object_get(pair, "b")))
            status = refuse(error, key, "pairs of cpus");
        pairs->least_ns = fmin(pairs->least_ns, latency); /* which pass over NaN */
        pairs->most_ns = fmax(pairs->most_ns, latency);
    }
    json_decref(list);
    return status;
}
