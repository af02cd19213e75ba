#include "probes/kit/pair_table.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_CPUS = 65536 };

static bool find_row(const bj_curve *curve, size_t *cpu) {
    double number = NAN;
    if (!bj_data_get_attribute_number(curve, "cpu", &number) || !(number >= 0 && number < MOST_CPUS))
        return false;
    *cpu = (size_t)number;
    return true;
}

bj_status bj_kit_read_pair_table(const bj_curves *samples, bj_pair_table *table, bj_error *error) {
    size_t cpu = 0;
    *table = (bj_pair_table){0};
    for (size_t i = 0; i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        if (!find_row(curve, &cpu))
            continue;
        table->count = cpu + 1 > table->count ? cpu + 1 : table->count;
        table->rounds = curve->round_count > table->rounds ? curve->round_count : table->rounds;
        for (size_t point = 0; point < curve->x_count; point++)
            if (curve->x[point] >= (double)table->count && curve->x[point] < MOST_CPUS)
                table->count = (size_t)curve->x[point] + 1;
    }
    table->rows = calloc(table->count + 1, sizeof *table->rows);
    if (table->rows == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", table->count);
    for (size_t i = 0; i < samples->count; i++)
        if (find_row(&samples->items[i], &cpu))
            table->rows[cpu] = &samples->items[i];
    for (size_t i = 0; i < table->count; i++)
        for (size_t round = 0; round < table->rounds; round++)
            table->has_diagonal = table->has_diagonal || !isnan(bj_kit_get_beside(table, i, i, round));
    return BJ_OK;
}

void bj_kit_free_pair_table(bj_pair_table *table) {
    free(table->rows);
    *table = (bj_pair_table){0};
}

double bj_kit_get_beside(const bj_pair_table *table, size_t cpu, size_t other, size_t round) {
    const bj_curve *row = table->rows[cpu];
    for (size_t point = 0; row != NULL && round < row->round_count && point < row->x_count; point++)
        if (row->x[point] == (double)other)
            return row->rounds[round][point];
    return NAN;
}
