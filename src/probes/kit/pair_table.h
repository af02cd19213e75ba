/* Tables of pairs that anyone measured (`blackjack analyze`): what cpu a gets beside cpu b, and alone on the diagonal.
 */
#pragma once

#include "data/curve.h"

typedef struct {
    const bj_curve **rows; /* by cpu, from 0; NULL: nothing was measured of it */
    size_t count, rounds;
    bool has_diagonal;
} bj_pair_table;

/* Rows are curves with the attribute `cpu`; x is the other cpu. */
bj_status bj_kit_read_pair_table(const bj_curves *samples, bj_pair_table *table, bj_error *error) BJ_WARN_UNUSED;
void bj_kit_free_pair_table(bj_pair_table *table);
/* NaN: it was not measured. */
double bj_kit_get_beside(const bj_pair_table *table, size_t cpu, size_t other, size_t round);
