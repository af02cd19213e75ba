#include "profile/comm_layers.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "profile/cpu_json.h"

static const char key[] = "comm.layers";

static void free_series(bj_comm_series *series) {
    free(series->x);
    free(series->y);
    *series = (bj_comm_series){0};
}

void bj_profile_free_comm_layers(bj_comm_layers *layers) {
    for (size_t i = 0; i < layers->count; i++) {
        free_series(&layers->items[i].curve);
        free_series(&layers->items[i].scaling);
        bj_profile_free_cpu_groups(&layers->items[i].groups);
    }
    free(layers->items);
    *layers = (bj_comm_layers){0};
}

/* A list of [x, y, …]; what is no such list is an empty one. */
static bj_status take_series(const json_t *points, bj_comm_series *series, bj_error *error) {
    size_t count = json_array_size(points);
    series->x = calloc(count + 1, sizeof *series->x);
    series->y = calloc(count + 1, sizeof *series->y);
    if (series->x == NULL || series->y == NULL)
        return bj_base_lack_memory(error, "no memory for a curve of %zu points", count);
    for (size_t i = 0; i < count; i++) {
        const json_t *x = json_array_get(json_array_get(points, i), 0),
                     *y = json_array_get(json_array_get(points, i), 1);
        series->x[i] = json_number_value(x);
        series->y[i] = json_number_value(y);
        if (!json_is_number(x) || !json_is_number(y) || !(series->y[i] > 0) ||
            (i > 0 && !(series->x[i] > series->x[i - 1])))
            return bj_base_set_error(error, BJ_ERR_INPUT, "%s: point %zu of a curve makes no sense", key, i);
    }
    series->count = count;
    return BJ_OK;
}

static bj_status take_layer(const json_t *value, bj_comm_layer *layer, bj_error *error) {
    const json_t *range = json_object_get(value, "range_us"), *groups = json_object_get(value, "groups");
    const json_t *segment = json_array_get(json_object_get(value, "segments"), 0);
    const char *name = json_string_value(json_object_get(value, "name"));
    if (!json_is_object(value))
        return bj_base_set_error(error, BJ_ERR_INPUT, "%s: a layer is an object", key);
    snprintf(layer->name, sizeof layer->name, "%s", name != NULL ? name : "layer");
    layer->latency_us = bj_profile_take_number(value, "latency_us");
    layer->bytes = bj_profile_take_number(value, "bytes");
    layer->least_us = json_array_size(range) == 2 ? json_number_value(json_array_get(range, 0)) : NAN;
    layer->most_us = json_array_size(range) == 2 ? json_number_value(json_array_get(range, 1)) : NAN;
    layer->error = bj_profile_take_number(value, "error");
    layer->check = bj_profile_take_number(json_object_get(value, "check"), "difference");
    layer->start_us = bj_profile_take_number(segment, "us");
    layer->gbs = bj_profile_take_number(segment, "gbs");
    const json_t *hockney = json_object_get(value, "hockney"), *switches = json_object_get(value, "switches");
    layer->hockney_us = bj_profile_take_number(hockney, "us");
    layer->hockney_gbs = bj_profile_take_number(hockney, "gbs");
    layer->hockney_error = bj_profile_take_number(hockney, "error");
    for (size_t i = 0; i < json_array_size(switches) && i < sizeof layer->switches / sizeof layer->switches[0]; i++)
        layer->switches[layer->switch_count++] = bj_profile_take_number(json_array_get(switches, i), "at_bytes");
    BJ_TRY(take_series(json_object_get(value, "curve"), &layer->curve, error));
    BJ_TRY(take_series(json_object_get(value, "scaling"), &layer->scaling, error));
    return groups == NULL || json_array_size(groups) == 0
               ? BJ_OK
               : bj_profile_take_cpu_groups(key, groups, NULL, &layer->groups, error);
}

static void count_ranks(bj_comm_layers *layers) {
    for (size_t i = 0; i < layers->count; i++)
        for (size_t g = 0; g < layers->items[i].groups.count; g++) {
            const bj_cpu_set *group = &layers->items[i].groups.items[g];
            for (size_t k = 0; k < group->count; k++)
                if ((size_t)group->items[k] >= layers->rank_count)
                    layers->rank_count = (size_t)group->items[k] + 1;
        }
}

bj_status bj_profile_read_comm_layers(const char *json, bj_comm_layers *layers, bj_error *error) {
    json_t *value = bj_json_load_value(json);
    size_t count = json_array_size(value);
    bj_status status = BJ_OK;
    *layers = (bj_comm_layers){0};
    if (!json_is_array(value) || count == 0 || count > BJ_COMM_LAYERS_MOST)
        status =
            bj_base_set_error(error, BJ_ERR_INPUT, "%s: expected a list of 1 to %u layers", key, BJ_COMM_LAYERS_MOST);
    else if ((layers->items = calloc(count, sizeof *layers->items)) == NULL)
        status = bj_base_lack_memory(error, "no memory for %zu layers", count);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        status = take_layer(json_array_get(value, i), &layers->items[layers->count++], error);
    json_decref(value);
    if (status != BJ_OK)
        bj_profile_free_comm_layers(layers);
    else
        count_ranks(layers);
    return status;
}

void bj_profile_free_comm_ranks(bj_rank_places *ranks) {
    free(ranks->hosts);
    free(ranks->cpus);
    *ranks = (bj_rank_places){0};
}

bj_status bj_profile_read_comm_ranks(const char *json, bj_rank_places *ranks, bj_error *error) {
    json_t *value = bj_json_load_value(json);
    const json_t *hosts = json_object_get(value, "hosts"), *cpus = json_object_get(value, "cpus");
    size_t count = json_array_size(hosts);
    *ranks = (bj_rank_places){.hosts = calloc(count + 1, sizeof(int)), .cpus = calloc(count + 1, sizeof(int))};
    bool makes_sense = count > 0 && json_array_size(cpus) == count;
    bj_status status = ranks->hosts == NULL || ranks->cpus == NULL
                           ? bj_base_lack_memory(error, "no memory for %zu ranks", count)
                           : BJ_OK;
    for (size_t i = 0; i < count && makes_sense && status == BJ_OK; i++) {
        json_int_t host = json_integer_value(json_array_get(hosts, i));
        json_int_t cpu = json_integer_value(json_array_get(cpus, i));
        /* Hosts are numbered as ranks first name them. */
        makes_sense = json_is_integer(json_array_get(hosts, i)) && json_is_integer(json_array_get(cpus, i)) &&
                      host >= 0 && (size_t)host <= ranks->host_count && cpu >= -1 && cpu < BJ_CPU_NUMBERS;
        ranks->host_count += makes_sense && (size_t)host == ranks->host_count;
        ranks->hosts[i] = (int)host;
        ranks->cpus[i] = (int)cpu;
        ranks->count++;
    }
    json_decref(value);
    if (status == BJ_OK && !makes_sense)
        status = bj_base_set_error(error, BJ_ERR_INPUT, "comm.ranks: expected a host and a cpu of every rank");
    if (status != BJ_OK)
        bj_profile_free_comm_ranks(ranks);
    return status;
}

/* y at x by straight lines; NaN: there are no points. Before the first point it is that one's, and beyond the last a
 * line that falls, by a disturbance or by somebody's hand, does not go on: it would end below zero. */
static double interpolate(const bj_comm_series *series, double x) {
    size_t to = 1, last = series->count - 1;
    if (series->count == 0)
        return NAN;
    if (x <= series->x[0] || series->count == 1)
        return series->y[0];
    if (x > series->x[last] && series->y[last] < series->y[last - 1])
        return series->y[last];
    while (to + 1 < series->count && series->x[to] < x)
        to++;
    double from_x = series->x[to - 1], from_y = series->y[to - 1];
    return from_y + (series->y[to] - from_y) * (x - from_x) / (series->x[to] - from_x);
}

bj_comm_estimate bj_profile_estimate_in_layer(const bj_comm_layer *layer, double bytes, double at_once) {
    double factor = at_once > 1 && layer->scaling.count > 0 ? interpolate(&layer->scaling, at_once) : 1;
    return (bj_comm_estimate){interpolate(&layer->curve, bytes) * factor, fmax(fmax(layer->error, layer->check), 0)};
}

bj_status bj_profile_estimate_message(const char *json, size_t layer, double bytes, double at_once,
                                      bj_comm_estimate *estimate, bj_error *error) {
    bj_comm_layers layers;
    *estimate = (bj_comm_estimate){NAN, NAN};
    BJ_TRY(bj_profile_read_comm_layers(json, &layers, error));
    bool is_there = layer < layers.count;
    if (is_there)
        *estimate = bj_profile_estimate_in_layer(&layers.items[layer], bytes, at_once);
    bj_profile_free_comm_layers(&layers);
    if (!is_there)
        return bj_base_set_error(error, BJ_ERR_INPUT, "comm.layers has no layer %zu", layer);
    if (!(estimate->us > 0))
        return bj_base_set_error(error, BJ_ERR_INPUT, "layer %zu of comm.layers has no times by size", layer);
    return BJ_OK;
}

bool bj_profile_describe_layers(const char *json, char *text, size_t room) {
    bj_comm_layers layers;
    size_t used = 0;
    if (bj_profile_read_comm_layers(json, &layers, NULL) != BJ_OK)
        return false;
    for (size_t i = 0; i < layers.count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%.20s %.3g us", i > 0 ? ", " : "", layers.items[i].name,
                                 layers.items[i].latency_us);
    bj_profile_free_comm_layers(&layers);
    return true;
}

static int compare_numbers(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

static int compare_groups(const void *a, const void *b) {
    const bj_cpu_set *left = a, *right = b;
    if (left->count == 0 || right->count == 0)
        return left->count < right->count ? -1 : left->count > right->count;
    return left->items[0] < right->items[0] ? -1 : left->items[0] > right->items[0];
}

/* Groups are disjoint: sorted by their lowest rank they stand in one order. */
static bool same_groups(bj_cpu_groups *a, bj_cpu_groups *b) {
    bj_cpu_groups *const both[] = {a, b};
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < both[side]->count; i++)
            qsort(both[side]->items[i].items, both[side]->items[i].count, sizeof(int), compare_numbers);
        if (both[side]->count > 0)
            qsort(both[side]->items, both[side]->count, sizeof *both[side]->items, compare_groups);
    }
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->items[i].count == b->items[i].count &&
               memcmp(a->items[i].items, b->items[i].items, a->items[i].count * sizeof(int)) == 0;
    return same;
}

bj_status bj_profile_compare_comm_layers(const char *json_a, const char *json_b, bj_comm_comparison *comparison,
                                         bj_error *error) {
    bj_comm_layers a, b;
    *comparison = (bj_comm_comparison){.ratio = 1};
    BJ_TRY(bj_profile_read_comm_layers(json_a, &a, error));
    bj_status status = bj_profile_read_comm_layers(json_b, &b, error);
    if (status != BJ_OK) {
        bj_profile_free_comm_layers(&a);
        return status;
    }
    comparison->same_groups = a.count == b.count;
    for (size_t i = 0; comparison->same_groups && i < a.count; i++) {
        const bj_comm_layer *left = &a.items[i], *right = &b.items[i];
        double ratio = right->latency_us / left->latency_us;
        comparison->same_groups = same_groups(&a.items[i].groups, &b.items[i].groups);
        /* Times of different sizes of message say nothing about each other. */
        if (left->bytes == right->bytes && fabs(log(ratio)) > fabs(log(comparison->ratio))) {
            comparison->ratio = ratio;
            comparison->apart = left->most_us < right->least_us || right->most_us < left->least_us;
        }
    }
    bj_profile_free_comm_layers(&a);
    bj_profile_free_comm_layers(&b);
    return BJ_OK;
}
