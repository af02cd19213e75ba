/* The pairs that were measured, which layer each is in, and the groups of ranks that follow. Pure. */
#pragma once

#include <stdint.h>

#include "data/curve.h"
#include "probes/comm/comm_constants.h"

#define BJ_COMM_HOSTS "comm.hosts"
#define BJ_COMM_CPUS "comm.cpus"

typedef struct {
    uint32_t a, b;
    size_t row, point; /* of the table's rows; the same point in the row of every size */
} bj_comm_pair;

typedef struct {
    size_t rank;
    const bj_curve *of_size[SIZES_MOST];
} bj_comm_row;

typedef struct {
    size_t bytes[SIZES_MOST]; /* ascending */
    size_t size_count;
    bj_comm_row *rows; /* by rank */
    size_t row_count;
    bj_comm_pair *pairs; /* by a, then b */
    size_t pair_count;
    double *us;    /* of each pair, size by size */
    size_t *layer; /* of each pair, near to far */
    size_t layer_count;
    size_t open_gaps;            /* that may be chance, so they part no layers: more rounds would tell */
    size_t rounds, least_rounds; /* the most and the fewest of any row */
    size_t rank_count;           /* one more than the highest */
    const bj_curve *hosts;       /* of the ranks, where the samples tell */
    double *scratch;
} bj_comm_table;

/* Zeroed or read, it can be freed. Rows are curves that have the attributes `rank` and `bytes`. */
bj_status bj_comm_read_table(const bj_curves *samples, bj_comm_table *table, bj_error *error) BJ_WARN_UNUSED;
void bj_comm_free_table(bj_comm_table *table);
/* Sums up the rounds of `index` (NULL: all) and tells the layers apart; first_come by the paper's rule, in the order of
 * the pairs. */
bj_status bj_comm_find_layers(bj_comm_table *table, const size_t *index, size_t count, bool first_come,
                              bj_error *error) BJ_WARN_UNUSED;
/* The number of a rank's host; 0 where that is not told. */
double bj_comm_find_host(const bj_comm_table *table, size_t rank);
/* The pair's place in the table; pair_count: it was not measured. */
size_t bj_comm_find_pair(const bj_comm_table *table, size_t a, size_t b);
/* group_of, by rank: ranks that are joined by pairs of that layer or nearer have the same lowest rank. Ranks that were
 * in no pair stand alone. layer -1: all alone. */
void bj_comm_join_ranks(const bj_comm_table *table, int layer, size_t *group_of);
/* Of the layer's pairs: the one nearest to the median, and another one, without a rank of the first where there is one.
 * pair_count: there is none. */
void bj_comm_choose_pairs(const bj_comm_table *table, size_t layer, size_t chosen[2]);
/* The number of a layer's pairs, and the least, the median and the most of their times by the first size. */
size_t bj_comm_describe_layer(const bj_comm_table *table, size_t layer, double *least, double *median, double *most);
