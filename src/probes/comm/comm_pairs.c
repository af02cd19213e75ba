/* Layers of pairs by gaps between their times: whatever order the pairs come in, sorted they are the same. */
#include "probes/comm/comm_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "stats/quantile.h"

void bj_comm_free_table(bj_comm_table *table) {
    free(table->rows);
    free(table->pairs);
    free(table->us);
    free(table->layer);
    free(table->scratch);
    *table = (bj_comm_table){0};
}

static bool read_row(const bj_curve *curve, double *rank, double *bytes) {
    return strcmp(curve->probe, "comm") == 0 && bj_data_get_attribute_number(curve, "rank", rank) &&
           bj_data_get_attribute_number(curve, "bytes", bytes) && *rank >= 0 && *rank < 1e7 && *bytes >= 0 &&
           *bytes <= (double)BJ_MESSAGE_MOST_BYTES && curve->round_count > 0 && curve->x_count > 0 &&
           curve->x[0] >= 0 && curve->x[curve->x_count - 1] < 1e7;
}

static bool add_size(bj_comm_table *table, size_t bytes) {
    size_t at = 0;
    while (at < table->size_count && table->bytes[at] < bytes)
        at++;
    if (at < table->size_count && table->bytes[at] == bytes)
        return true;
    if (table->size_count == SIZES_MOST)
        return false;
    memmove(&table->bytes[at + 1], &table->bytes[at], (table->size_count - at) * sizeof table->bytes[0]);
    table->bytes[at] = bytes;
    table->size_count++;
    return true;
}

static int compare_rows(const void *a, const void *b) {
    const bj_comm_row *left = a, *right = b;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static bj_comm_row *find_row(const bj_comm_table *table, size_t rank) {
    const bj_comm_row key = {.rank = rank};
    return bsearch(&key, table->rows, table->row_count, sizeof *table->rows, compare_rows);
}

static int compare_pairs(const void *a, const void *b) {
    const bj_comm_pair *left = a, *right = b;
    if (left->a != right->a)
        return left->a < right->a ? -1 : 1;
    return left->b < right->b ? -1 : left->b > right->b;
}

/* Rows of the first size make the pairs; the other sizes must have the same points. */
static void list_pairs(bj_comm_table *table) {
    for (size_t r = 0; r < table->row_count; r++) {
        const bj_comm_row *row = &table->rows[r];
        const bj_curve *first = row->of_size[0];
        bool whole = first != NULL;
        for (size_t s = 1; s < table->size_count && whole; s++)
            whole = row->of_size[s] != NULL && row->of_size[s]->x_count == first->x_count &&
                    memcmp(row->of_size[s]->x, first->x, first->x_count * sizeof *first->x) == 0;
        for (size_t i = 0; whole && i < first->x_count; i++) {
            size_t other = (size_t)first->x[i], rank = row->rank;
            if (other == rank)
                continue;
            table->pairs[table->pair_count++] = (bj_comm_pair){.a = (uint32_t)(rank < other ? rank : other),
                                                               .b = (uint32_t)(rank < other ? other : rank),
                                                               .row = r,
                                                               .point = i};
            table->rank_count = fmax((double)table->rank_count, (double)(rank > other ? rank : other) + 1);
        }
    }
    qsort(table->pairs, table->pair_count, sizeof *table->pairs, compare_pairs);
    /* A pair may stand in both ranks' rows: once is enough. */
    size_t kept = 0;
    for (size_t i = 0; i < table->pair_count; i++)
        if (kept == 0 || compare_pairs(&table->pairs[kept - 1], &table->pairs[i]) != 0)
            table->pairs[kept++] = table->pairs[i];
    table->pair_count = kept;
}

double bj_comm_find_host(const bj_comm_table *table, size_t rank) {
    const bj_curve *hosts = table->hosts;
    bool is_told = hosts != NULL && hosts->round_count > 0 && rank < hosts->x_count && hosts->x[rank] == (double)rank;
    return is_told ? hosts->rounds[0][rank] : 0;
}

bj_status bj_comm_read_table(const bj_curves *samples, bj_comm_table *table, bj_error *error) {
    double rank, bytes;
    size_t points = 0;
    table->hosts = bj_data_find_curve(samples, BJ_COMM_HOSTS);
    table->rows = calloc(samples->count + 1, sizeof *table->rows);
    if (table->rows == NULL)
        goto no_memory;
    for (size_t i = 0; i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        if (!read_row(curve, &rank, &bytes) || !add_size(table, (size_t)bytes))
            continue;
        table->rows[table->row_count++].rank = (size_t)rank;
        points += curve->x_count;
        table->least_rounds = table->row_count == 1 || curve->round_count < table->least_rounds ? curve->round_count
                                                                                                : table->least_rounds;
        table->rounds = curve->round_count > table->rounds ? curve->round_count : table->rounds;
    }
    qsort(table->rows, table->row_count, sizeof *table->rows, compare_rows);
    size_t kept = 0;
    for (size_t i = 0; i < table->row_count; i++)
        if (kept == 0 || table->rows[kept - 1].rank != table->rows[i].rank)
            table->rows[kept++] = table->rows[i];
    table->row_count = kept;
    for (size_t i = 0; i < samples->count; i++) {
        if (!read_row(&samples->items[i], &rank, &bytes))
            continue;
        bj_comm_row *row = find_row(table, (size_t)rank);
        for (size_t s = 0; row != NULL && s < table->size_count; s++)
            if (table->bytes[s] == (size_t)bytes)
                row->of_size[s] = &samples->items[i];
    }
    table->pairs = calloc(points + 1, sizeof *table->pairs);
    table->us = calloc((points + 1) * (table->size_count + 1), sizeof *table->us);
    table->layer = calloc(points + 1, sizeof *table->layer);
    table->scratch = calloc(table->rounds + points + 1, sizeof *table->scratch);
    if (table->pairs == NULL || table->us == NULL || table->layer == NULL || table->scratch == NULL)
        goto no_memory;
    list_pairs(table);
    return BJ_OK;
no_memory:
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the pairs of ranks");
}

/* The typical spread of one pair's rounds, in logarithms. */
static double find_spread(const bj_comm_table *table, size_t size) {
    double *spread = table->scratch + table->rounds;
    size_t step = table->pair_count / 1000 + 1, count = 0; /* a thousand tell it well enough */
    for (size_t i = 0; i < table->pair_count; i += step) {
        const bj_comm_pair *pair = &table->pairs[i];
        const bj_curve *curve = table->rows[pair->row].of_size[size];
        double low = bj_kit_quantile_of_point(curve, pair->point, NULL, curve->round_count, OF_PAIR, table->scratch);
        double mid = bj_kit_quantile_of_point(curve, pair->point, NULL, curve->round_count, 0.5, table->scratch);
        spread[count++] = log(mid / low);
    }
    return bj_stats_median(spread, count);
}

typedef struct {
    double us;
    size_t pair;
} timed_pair;

static int compare_timed(const void *a, const void *b) {
    const timed_pair *left = a, *right = b;
    if (left->us != right->us)
        return left->us < right->us ? -1 : 1;
    return left->pair < right->pair ? -1 : left->pair > right->pair;
}

/* Refines the layers by the times of one size: each gap begins a new one. */
static void split_by_gaps(bj_comm_table *table, size_t size, timed_pair *sorted) {
    double least = fmax(log(LAYER_RATIO), GAP_OVER_SPREAD * find_spread(table, size));
    for (size_t i = 0; i < table->pair_count; i++)
        sorted[i] = (timed_pair){table->us[i * table->size_count + size], i};
    qsort(sorted, table->pair_count, sizeof *sorted, compare_timed);
    size_t class = 0;
    for (size_t i = 0; i < table->pair_count; i++) {
        class += i > 0 && log(sorted[i].us / sorted[i - 1].us) > least;
        table->layer[sorted[i].pair] =
            table->layer[sorted[i].pair] * LAYERS_MOST + (class < LAYERS_MOST ? class : LAYERS_MOST - 1);
    }
}

/* Numbers that stand for classes of all sizes become 0, 1, …: near to far by the first size's times. */
static void number_layers(bj_comm_table *table, timed_pair *sorted) {
    for (size_t i = 0; i < table->pair_count; i++)
        sorted[i] = (timed_pair){table->us[i * table->size_count], i};
    qsort(sorted, table->pair_count, sizeof *sorted, compare_timed);
    size_t found[LAYERS_MOST], count = 0;
    for (size_t i = 0; i < table->pair_count; i++) {
        size_t *layer = &table->layer[sorted[i].pair], at = 0;
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

bj_status bj_comm_find_layers(bj_comm_table *table, const size_t *index, size_t count, bool first_come,
                              bj_error *error) {
    timed_pair *sorted = calloc(table->pair_count + 1, sizeof *sorted);
    double *scratch = calloc(count + table->rounds + 1, sizeof *scratch);
    if (sorted == NULL || scratch == NULL) {
        free(sorted);
        free(scratch);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the layers");
    }
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
        table->layer[i] = 0;
    }
    if (first_come)
        take_first_come(table);
    /* Inside a host and between hosts are different ways, also where one size happens to cost the same on both. */
    for (size_t i = 0; i < table->pair_count && !first_come; i++)
        table->layer[i] =
            bj_comm_find_host(table, table->pairs[i].a) != bj_comm_find_host(table, table->pairs[i].b) ? 1 : 0;
    for (size_t s = 0; s < table->size_count && !first_come; s++)
        split_by_gaps(table, s, sorted);
    number_layers(table, sorted);
    free(sorted);
    free(scratch);
    return BJ_OK;
}

size_t bj_comm_find_pair(const bj_comm_table *table, size_t a, size_t b) {
    const bj_comm_pair key = {.a = (uint32_t)(a < b ? a : b), .b = (uint32_t)(a < b ? b : a)};
    const bj_comm_pair *found = bsearch(&key, table->pairs, table->pair_count, sizeof *table->pairs, compare_pairs);
    return found != NULL ? (size_t)(found - table->pairs) : table->pair_count;
}

static size_t find_root(size_t *group_of, size_t rank) {
    while (group_of[rank] != rank)
        rank = group_of[rank] = group_of[group_of[rank]];
    return rank;
}

void bj_comm_join_ranks(const bj_comm_table *table, int layer, size_t *group_of) {
    for (size_t i = 0; i < table->rank_count; i++)
        group_of[i] = i;
    for (size_t i = 0; i < table->pair_count; i++) {
        if ((int)table->layer[i] > layer)
            continue;
        size_t a = find_root(group_of, table->pairs[i].a), b = find_root(group_of, table->pairs[i].b);
        if (a != b)
            group_of[a < b ? b : a] = a < b ? a : b;
    }
    for (size_t i = 0; i < table->rank_count; i++)
        group_of[i] = find_root(group_of, i);
}

size_t bj_comm_describe_layer(const bj_comm_table *table, size_t layer, double *least, double *median, double *most) {
    size_t count = 0;
    double *times = table->scratch;
    for (size_t i = 0; i < table->pair_count; i++)
        if (table->layer[i] == layer)
            times[count++] = table->us[i * table->size_count];
    *median = bj_stats_median(times, count);
    *least = count > 0 ? times[0] : NAN;
    *most = count > 0 ? times[count - 1] : NAN;
    return count;
}

void bj_comm_choose_pairs(const bj_comm_table *table, size_t layer, size_t chosen[2]) {
    double least, median, most;
    (void)bj_comm_describe_layer(table, layer, &least, &median, &most);
    chosen[0] = chosen[1] = table->pair_count;
    for (unsigned which = 0; which < 2; which++) {
        double nearest = INFINITY;
        for (size_t i = 0; i < table->pair_count; i++) {
            const bj_comm_pair *pair = &table->pairs[i];
            if (table->layer[i] != layer || (which == 1 && i == chosen[0]))
                continue;
            const bj_comm_pair *other = &table->pairs[chosen[0] < table->pair_count ? chosen[0] : i];
            bool meets = which == 1 &&
                         (pair->a == other->a || pair->a == other->b || pair->b == other->a || pair->b == other->b);
            double off = fabs(log(table->us[i * table->size_count] / median)) + (meets ? 1e3 : 0);
            if (off < nearest) {
                nearest = off;
                chosen[which] = i;
            }
        }
        if (chosen[0] == table->pair_count)
            return;
    }
}
