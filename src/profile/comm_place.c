#include "profile/comm_place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* group[l * rank_count + r]: the lowest rank of the group that r is in when layers up to l join ranks. */
typedef struct {
    const bj_comm_layers *layers;
    size_t *group;
    size_t *scratch; /* room for two numbers a rank */
} distances;

static void free_distances(distances *distances) {
    free(distances->group);
    free(distances->scratch);
}

static bj_status find_distances(const bj_comm_layers *layers, distances *distances, bj_error *error) {
    size_t ranks = layers->rank_count;
    distances->layers = layers;
    distances->group = calloc(ranks * layers->count + 1, sizeof *distances->group);
    distances->scratch = calloc(2 * ranks + 1, sizeof *distances->scratch);
    if (distances->group == NULL || distances->scratch == NULL) {
        free_distances(distances);
        return bj_base_lack_memory(error, "no memory for %zu ranks", ranks);
    }
    for (size_t l = 0; l < layers->count; l++) {
        size_t *group = distances->group + l * ranks;
        for (size_t r = 0; r < ranks; r++)
            group[r] = l > 0 ? group[r - ranks] : r;
        for (size_t g = 0; g < layers->items[l].groups.count; g++) {
            const bj_cpu_set *set = &layers->items[l].groups.items[g];
            size_t lead = SIZE_MAX;
            for (size_t k = 0; k < set->count; k++)
                lead = (size_t)set->items[k] < lead ? (size_t)set->items[k] : lead;
            for (size_t k = 0; k < set->count; k++)
                group[set->items[k]] = lead;
        }
    }
    return BJ_OK;
}

/* Ranks that no layer joins are beyond the last. */
static size_t find_layer(const distances *distances, size_t a, size_t b) {
    size_t l = 0, ranks = distances->layers->rank_count;
    while (l < distances->layers->count && distances->group[l * ranks + a] != distances->group[l * ranks + b])
        l++;
    return l;
}

/* Groups of the farthest layer first, and within each those of the next one: qsort() has no context. */
static void sort_near(const distances *distances, size_t *places, size_t count) {
    size_t ranks = distances->layers->rank_count, *begin = distances->scratch, *sorted = distances->scratch + ranks;
    /* By one layer after the other, the nearest first, each keeping the order of those before: counting sort. */
    for (size_t l = 0; l < distances->layers->count; l++) {
        const size_t *group = distances->group + l * ranks;
        memset(begin, 0, ranks * sizeof *begin);
        for (size_t i = 0; i < count; i++)
            if (group[places[i]] + 1 < ranks)
                begin[group[places[i]] + 1]++;
        for (size_t i = 1; i < ranks; i++)
            begin[i] += begin[i - 1];
        for (size_t i = 0; i < count; i++)
            sorted[begin[group[places[i]]]++] = places[i];
        memcpy(places, sorted, count * sizeof *places);
    }
}

/* One of each group in turn, and so within the groups: places are sorted near before. */
static void deal(const distances *distances, size_t layer, size_t *places, size_t count) {
    size_t ranks = distances->layers->rank_count, *dealt = distances->scratch, used = 0;
    if (layer == 0 || count < 3)
        return;
    const size_t *group = distances->group + (layer - 1) * ranks;
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && group[places[end]] == group[places[first]])
            end++;
        deal(distances, layer - 1, places + first, end - first);
    }
    for (size_t turn = 0; used < count; turn++)
        for (size_t i = 0, first = 0; i < count; i++) {
            first = i > 0 && group[places[i]] != group[places[i - 1]] ? i : first;
            if (i - first == turn)
                dealt[used++] = places[i];
        }
    memcpy(places, dealt, count * sizeof *places);
}

bj_status bj_profile_order_ranks(const bj_comm_layers *layers, bool spread, size_t *places, bj_error *error) {
    distances distances;
    BJ_TRY(find_distances(layers, &distances, error));
    for (size_t i = 0; i < layers->rank_count; i++)
        places[i] = i;
    sort_near(&distances, places, layers->rank_count);
    if (spread)
        deal(&distances, layers->count, places, layers->rank_count);
    free_distances(&distances);
    return BJ_OK;
}

/* The members of the smallest group that holds so many, near each other; of equals the first. */
static void choose_near(const distances *distances, const size_t *all, size_t count, size_t *places) {
    size_t ranks = distances->layers->rank_count, best = 0, best_size = SIZE_MAX;
    for (size_t l = 0; l < distances->layers->count && best_size == SIZE_MAX; l++) {
        const size_t *group = distances->group + l * ranks;
        for (size_t first = 0, end = 0; first < ranks; first = end) {
            while (end < ranks && group[all[end]] == group[all[first]])
                end++;
            if (end - first >= count && end - first < best_size) {
                best = first;
                best_size = end - first;
            }
        }
    }
    memcpy(places, all + best, count * sizeof *places);
}

/* How many pairs of each layer talk at once in the busiest group, and what the slowest of them takes. */
static double find_cost(const distances *distances, const size_t *places, size_t count, bj_talk talk, double bytes,
                        size_t *farthest) {
    size_t ranks = distances->layers->rank_count, layers = distances->layers->count, *pairs = distances->scratch;
    double cost = 0;
    *farthest = 0;
    for (size_t l = 0; l < layers; l++) {
        size_t busiest = 0, last = talk == BJ_TALK_ALL ? count : 2;
        memset(pairs, 0, ranks * sizeof *pairs);
        for (size_t i = 0; i < count; i++)
            for (size_t step = 1; step < last && i + step < count; step++)
                if (find_layer(distances, places[i], places[i + step]) == l) {
                    size_t *of_group = &pairs[distances->group[l * ranks + places[i]]];
                    busiest = ++*of_group > busiest ? *of_group : busiest;
                }
        if (busiest == 0)
            continue;
        /* Each rank talks to one other at a time. */
        double at_once = talk == BJ_TALK_ALL ? ceil((double)busiest / (double)(count - 1)) : (double)busiest;
        double us = bj_profile_estimate_in_layer(&distances->layers->items[l], bytes, at_once).us;
        *farthest = l;
        cost = isnan(us) ? NAN : fmax(cost, us);
    }
    return cost;
}

bj_status bj_profile_place_ranks(const bj_comm_layers *layers, size_t count, bj_talk talk, double bytes, size_t *places,
                                 bj_comm_placing *placing, bj_error *error) {
    size_t ranks = layers->rank_count, *spread = calloc(2 * ranks + 1, sizeof *spread), *near = spread + ranks;
    distances distances = {0};
    bj_status status = BJ_OK;
    if (spread == NULL)
        return bj_base_lack_memory(error, "no memory for %zu ranks", ranks);
    if (count < 2 || count > ranks)
        status = bj_base_set_error(error, BJ_ERR_USAGE, "cannot place %zu ranks by comm.layers, which has %zu", count,
                                   ranks);
    if (status == BJ_OK)
        status = bj_profile_order_ranks(layers, false, near, error);
    if (status == BJ_OK)
        status = bj_profile_order_ranks(layers, true, spread, error);
    if (status == BJ_OK)
        status = find_distances(layers, &distances, error);
    if (status == BJ_OK) {
        choose_near(&distances, near, count, places);
        placing->near_us = find_cost(&distances, places, count, talk, bytes, &placing->near_layer);
        placing->spread_us = find_cost(&distances, spread, count, talk, bytes, &placing->spread_layer);
        placing->is_near = talk != BJ_TALK_LITTLE && !(placing->spread_us < placing->near_us);
        if (!placing->is_near)
            memcpy(places, spread, count * sizeof *places);
        free_distances(&distances);
    }
    free(spread);
    return status;
}

void bj_profile_explain_placing(const bj_comm_layers *layers, const bj_comm_placing *placing, size_t count,
                                bj_talk talk, double bytes, char *text, size_t room) {
    static const char *const who[] = {"that talk to their neighbours", "that all talk to each other",
                                      "that hardly talk"};
    char size[32];
    bj_base_format_bytes(bytes, size, sizeof size);
    const char *near = layers->items[placing->near_layer].name, *spread = layers->items[placing->spread_layer].name;
    if (talk == BJ_TALK_LITTLE)
        snprintf(text, room, "%zu ranks %s: spread, for caches and memory of their own; %s at most %.3g us apart",
                 count, who[talk], size, placing->spread_us);
    else if (placing->near_us == placing->spread_us)
        snprintf(text, room, "%zu ranks %s: wherever they are, %s in %.3g us (%s)", count, who[talk], size,
                 placing->near_us, near);
    else
        snprintf(text, room, "%zu ranks %s: %s, %s in %.3g us (%s) and not %.3g us (%s)", count, who[talk],
                 placing->is_near ? "near each other" : "spread", size,
                 placing->is_near ? placing->near_us : placing->spread_us, placing->is_near ? near : spread,
                 placing->is_near ? placing->spread_us : placing->near_us, placing->is_near ? spread : near);
}
