/* The table of pairs, and what follows from their layers. */
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
