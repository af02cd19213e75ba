/* Layers of pairs by gaps between their times: whatever order the pairs come in, sorted they are the same.
 *
 * Between many alike pairs some gap always opens. One begins a new layer only where it is wide enough to matter, wide
 * beside the scatter of a pair's own rounds, and beyond chance: the rounds of the slower pairs lie above those of the
 * faster ones further than they would if the best of all ways to part alike pairs had been picked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/comm/comm_pairs.h"
#include "probes/kit/estimate.h"
#include "stats/quantile.h"
#include "stats/rank_sum.h"

typedef struct {
    size_t class; /* pairs of different classes are never one layer */
    double us;
    size_t pair;
} timed_pair;

/* What looks for gaps: the pairs, class by class, sorted by time within each. */
typedef struct {
    bj_comm_table *table;
    timed_pair *sorted;
    size_t size;  /* of the messages: which one */
    bool *begins; /* by place in `sorted`: a layer begins there */
    bj_ranked_value *values;
} gap_search;

static int compare_timed(const void *a, const void *b) {
    const timed_pair *left = a, *right = b;
    if (left->class != right->class)
        return left->class < right->class ? -1 : 1;
    if (left->us != right->us)
        return left->us < right->us ? -1 : 1;
    return left->pair < right->pair ? -1 : left->pair > right->pair;
}

static const bj_curve *find_row(const gap_search *search, size_t place, size_t *point) {
    const bj_comm_pair *pair = &search->table->pairs[search->sorted[place].pair];
    *point = pair->point;
    return search->table->rows[pair->row].of_size[search->size];
}

/* The typical spread of one pair's rounds, in logarithms. */
static double find_spread(const gap_search *search, size_t first, size_t end) {
    double *scratch = search->table->scratch, *spread = scratch + search->table->rounds;
    size_t step = (end - first) / 1000 + 1, count = 0; /* a thousand tell it well enough */
    for (size_t i = first; i < end; i += step) {
        size_t point;
        const bj_curve *curve = find_row(search, i, &point);
        double low = bj_kit_quantile_of_point(curve, point, NULL, curve->round_count, OF_PAIR, scratch);
        double mid = bj_kit_quantile_of_point(curve, point, NULL, curve->round_count, 0.5, scratch);
        spread[count++] = log(mid / low);
    }
    return bj_stats_median(spread, count);
}

/* Adds the rounds of GAP_PAIRS pairs at most; returns how many pairs these are. */
static size_t add_rounds(const gap_search *search, size_t first, size_t end, size_t lot, size_t *used) {
    size_t step = (end - first + GAP_PAIRS - 1) / GAP_PAIRS, pairs = 0;
    for (size_t i = first; i < end; i += step, pairs++) {
        size_t point;
        const bj_curve *curve = find_row(search, i, &point);
        for (size_t r = 0; r < curve->round_count; r++)
            if (isfinite(curve->rounds[r][point]))
                search->values[(*used)++] = (bj_ranked_value){curve->rounds[r][point], lot};
    }
    return pairs;
}

/* Whether chance could have opened a gap at `at`, given that any of the pairs could have been on either side. Of sides
 * that were thinned, each pair stands for its share of that choice. */
static bool may_be_chance(const gap_search *search, size_t first, size_t at, size_t end) {
    size_t used = 0, below = at - first, above = end - at;
    size_t kept_below = add_rounds(search, first, at, 0, &used), kept_above = add_rounds(search, at, end, 1, &used);
    double chance = bj_stats_find_rank_chance(search->values, used);
    double choices = bj_stats_log_choices((double)(below + above), (double)above);
    double kept = below < above ? (double)kept_below / (double)below : (double)kept_above / (double)above;
    return chance + choices * kept > log(GAP_CHANCE);
}

/* Where a layer begins between `first` and `end`: the widest gap that counts, then those on both sides of it, each by
 * its own scatter: that of a far network says nothing about a near one. */
static void find_gaps(gap_search *search, size_t first, size_t end) {
    double beyond = INFINITY, least = fmax(log(LAYER_RATIO), GAP_OVER_SPREAD * find_spread(search, first, end));
    size_t beyond_at = end;
    for (;;) {
        double widest = least;
        size_t at = end;
        for (size_t i = first + 1; i < end; i++) {
            double gap = log(search->sorted[i].us / search->sorted[i - 1].us);
            bool is_next = gap < beyond || (gap == beyond && i > beyond_at);
            if (is_next && gap > widest) {
                widest = gap;
                at = i;
            }
        }
        if (at == end)
            return;
        if (!may_be_chance(search, first, at, end)) {
            search->begins[at] = true;
            find_gaps(search, first, at);
            find_gaps(search, at, end);
            return;
        }
        search->table->open_gaps++;
        beyond = widest;
        beyond_at = at;
    }
}

static void sort_pairs(gap_search *search, bool by_class) {
    bj_comm_table *table = search->table;
    for (size_t i = 0; i < table->pair_count; i++)
        search->sorted[i] = (timed_pair){
            .class = by_class ? table->layer[i] : 0, .us = table->us[i * table->size_count + search->size], .pair = i};
    qsort(search->sorted, table->pair_count, sizeof *search->sorted, compare_timed);
}

/* Refines the classes by the times of one size, each class by itself. */
static void split_by_gaps(gap_search *search) {
    bj_comm_table *table = search->table;
    const timed_pair *sorted = search->sorted;
    sort_pairs(search, true);
    for (size_t first = 0, end = 0; first < table->pair_count; first = end) {
        while (end < table->pair_count && sorted[end].class == sorted[first].class)
            search->begins[end++] = false;
        search->begins[first] = true;
        find_gaps(search, first, end);
    }
    for (size_t i = 0, class = 0; i < table->pair_count; i++) {
        class += i > 0 && search->begins[i];
        table->layer[sorted[i].pair] = class;
    }
}

/* Classes become 0, 1, …: near to far by the first size's times. */
static void number_layers(gap_search *search) {
    bj_comm_table *table = search->table;
    size_t found[LAYERS_MOST], count = 0;
    search->size = 0;
    sort_pairs(search, false);
    for (size_t i = 0; i < table->pair_count; i++) {
        size_t *layer = &table->layer[search->sorted[i].pair], at = 0;
        while (at < count && found[at] != *layer)
            at++;
        if (at == count && count < LAYERS_MOST)
            found[count++] = *layer;
        *layer = at < LAYERS_MOST ? at : LAYERS_MOST - 1;
    }
    table->layer_count = count;
}

/* Figure 7 of Servet: in the order of the pairs, each joins the first layer that it is similar to. */
static void take_first_come(bj_comm_table *table) {
    double first[LAYERS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < table->pair_count; i++) {
        double us = table->us[i * table->size_count];
        size_t at = 0;
        while (at < count && fmax(us / first[at], first[at] / us) >= FIRST_COME_RATIO)
            at++;
        if (at == count && count < LAYERS_MOST)
            first[count++] = us;
        table->layer[i] = at < LAYERS_MOST ? at : LAYERS_MOST - 1;
    }
}

/* Times of all pairs from the rounds of `index`. */
static void sum_up_rounds(bj_comm_table *table, const size_t *index, size_t count, double *scratch) {
    for (size_t i = 0; i < table->pair_count; i++) {
        const bj_comm_pair *pair = &table->pairs[i];
        for (size_t s = 0; s < table->size_count; s++) {
            const bj_curve *curve = table->rows[pair->row].of_size[s];
            double us = bj_kit_quantile_of_point(curve, pair->point, index, index != NULL ? count : curve->round_count,
                                                 OF_PAIR, scratch);
            /* A pair may lack the rounds that were drawn: then all of its own count. */
            if (!(us > 0) && index != NULL)
                us = bj_kit_quantile_of_point(curve, pair->point, NULL, curve->round_count, OF_PAIR, scratch);
            table->us[i * table->size_count + s] = us > 0 ? us : 1e-9;
        }
    }
}

static void tell_layers_apart(gap_search *search, bool first_come) {
    bj_comm_table *table = search->table;
    table->open_gaps = 0;
    if (first_come) {
        take_first_come(table);
    } else {
        /* Inside a host and between hosts are different ways, also where one size happens to cost the same on both. */
        for (size_t i = 0; i < table->pair_count; i++)
            table->layer[i] =
                bj_comm_find_host(table, table->pairs[i].a) != bj_comm_find_host(table, table->pairs[i].b) ? 1 : 0;
        for (search->size = 0; search->size < table->size_count; search->size++)
            split_by_gaps(search);
    }
    number_layers(search);
}

bj_status bj_comm_find_layers(bj_comm_table *table, const size_t *index, size_t count, bool first_come,
                              bj_error *error) {
    size_t pairs = table->pair_count < 2 * (size_t)GAP_PAIRS ? table->pair_count : 2 * (size_t)GAP_PAIRS;
    gap_search search = {.table = table,
                         .sorted = calloc(table->pair_count + 1, sizeof *search.sorted),
                         .begins = calloc(table->pair_count + 1, sizeof *search.begins),
                         .values = calloc(pairs * table->rounds + 1, sizeof *search.values)};
    double *scratch = calloc(count + table->rounds + 1, sizeof *scratch);
    bj_status status = BJ_OK;
    if (search.sorted == NULL || search.begins == NULL || search.values == NULL || scratch == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the layers");
    } else {
        sum_up_rounds(table, index, count, scratch);
        tell_layers_apart(&search, first_come);
    }
    free(search.sorted);
    free(search.begins);
    free(search.values);
    free(scratch);
    return status;
}
