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
    size_t *scratch; /* room for three numbers a rank */
} distances;

static void free_distances(distances *distances) {
    free(distances->group);
    free(distances->scratch);
}

/* The lowest rank that the group of this one was joined with. Ways are cut short: a file may join each to the next. */
static size_t follow(size_t *joined, size_t rank) {
    while (joined[rank] != rank)
        rank = joined[rank] = joined[joined[rank]];
    return rank;
}

/* A group takes in all of every nearer group that it has a part of, so that they are nested whatever a file says. */
static void join_layer(const distances *distances, size_t layer) {
    const bj_cpu_groups *groups = &distances->layers->items[layer].groups;
    size_t ranks = distances->layers->rank_count, *group = distances->group + layer * ranks,
           *joined = distances->scratch;
    const size_t *nearer = layer > 0 ? distances->group + (layer - 1) * ranks : NULL;
    for (size_t r = 0; r < ranks; r++) {
        group[r] = nearer != NULL ? nearer[r] : r;
        joined[r] = r;
    }
    for (size_t g = 0; g < groups->count; g++) {
        const bj_cpu_set *set = &groups->items[g];
        size_t lead = SIZE_MAX;
        for (size_t k = 0; k < set->count; k++) {
            size_t own = follow(joined, group[set->items[k]]);
            lead = own < lead ? own : lead;
        }
        for (size_t k = 0; k < set->count; k++)
            joined[follow(joined, group[set->items[k]])] = lead;
    }
    for (size_t r = 0; r < ranks; r++)
        group[r] = follow(joined, group[r]);
}

static bj_status find_distances(const bj_comm_layers *layers, distances *distances, bj_error *error) {
    size_t ranks = layers->rank_count;
    distances->layers = layers;
    distances->group = calloc(ranks * layers->count + 1, sizeof *distances->group);
    distances->scratch = calloc(3 * ranks + 1, sizeof *distances->scratch);
    if (distances->group == NULL || distances->scratch == NULL) {
        free_distances(distances);
        return bj_base_lack_memory(error, "no memory for %zu ranks", ranks);
    }
    for (size_t l = 0; l < layers->count; l++)
        join_layer(distances, l);
    return BJ_OK;
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
    size_t ranks = distances->layers->rank_count, *dealt = distances->scratch, *begin = dealt + ranks;
    if (layer == 0 || count < 3)
        return;
    const size_t *group = distances->group + (layer - 1) * ranks;
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && group[places[end]] == group[places[first]])
            end++;
        deal(distances, layer - 1, places + first, end - first);
    }
    /* Sorted by its place in its group, by counting: the first of each group, then the second of each, … */
    memset(begin, 0, count * sizeof *begin);
    for (size_t i = 0, first = 0; i < count; i++) {
        first = i > 0 && group[places[i]] != group[places[i - 1]] ? i : first;
        if (i - first + 1 < count)
            begin[i - first + 1]++;
    }
    for (size_t turn = 1; turn < count; turn++)
        begin[turn] += begin[turn - 1];
    for (size_t i = 0, first = 0; i < count; i++) {
        first = i > 0 && group[places[i]] != group[places[i - 1]] ? i : first;
        dealt[begin[i - first]++] = places[i];
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

/* Pairs that the layer joins and no nearer one, in the group that has most of them. Groups are nested, so that of a
 * rank and those before it in its group, all talk through this layer but those of its nearer group. */
static size_t count_busiest(const distances *distances, size_t layer, const size_t *places, size_t count,
                            bj_talk talk) {
    size_t ranks = distances->layers->rank_count, busiest = 0;
    size_t *pairs = distances->scratch, *before = pairs + ranks, *nearer = before + ranks;
    const size_t *groups = distances->group + layer * ranks;
    const size_t *inner_groups = layer > 0 ? distances->group + (layer - 1) * ranks : NULL;
    memset(pairs, 0, 3 * ranks * sizeof *pairs);
    for (size_t i = 0; i < count; i++) {
        size_t place = places[i], group = groups[place], inner = layer > 0 ? inner_groups[place] : place;
        if (talk == BJ_TALK_ALL)
            pairs[group] += before[group]++ - nearer[inner]++;
        else if (i > 0 && groups[places[i - 1]] == group)
            pairs[group] += layer == 0 || inner_groups[places[i - 1]] != inner;
        busiest = pairs[group] > busiest ? pairs[group] : busiest;
    }
    return busiest;
}

/* With the pairs of each layer that talk at once in the busiest group: what the slowest of them takes. NaN: of one that
 * has messages nothing is known. */
static double find_cost(const distances *distances, const size_t *places, size_t count, bj_talk talk, double bytes,
                        size_t *farthest) {
    double cost = 0;
    *farthest = 0;
    for (size_t l = 0; l < distances->layers->count; l++) {
        size_t busiest = count_busiest(distances, l, places, count, talk);
        if (busiest == 0)
            continue;
        /* Each rank talks to one other at a time. */
        double at_once = talk == BJ_TALK_ALL ? ceil((double)busiest / (double)(count - 1)) : (double)busiest;
        double us = bj_profile_estimate_in_layer(&distances->layers->items[l], bytes, at_once).us;
        *farthest = l;
        if (isnan(us))
            return NAN;
        cost = fmax(cost, us);
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
    if (isnan(placing->near_us) || isnan(placing->spread_us)) {
        snprintf(text, room, "%zu ranks %s: %s; what %s takes is not known (%s)", count, who[talk],
                 placing->is_near ? "near each other" : "spread", size, isnan(placing->near_us) ? near : spread);
        return;
    }
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
