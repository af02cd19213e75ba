/* A table that anyone measured, as samples of the probe: rates alone, and of pairs. */
#include "probes/contention/contention_table.h"

#include <math.h>
#include <stdio.h>

#include "probes/contention/contention_samples.h"
#include "probes/kit/estimate.h"
#include "probes/kit/pair_table.h"

static bj_status open_curve(bj_curves *samples, const char *id, bj_curve **curve, bj_error *error) {
    BJ_TRY(bj_data_add_curve(samples, id, "contention", curve, error));
    bj_data_name_axes(*curve, "cpu", "number", "bandwidth", "GB/s");
    return BJ_OK;
}

/* The mean of what both get, or what is known of one. */
static double find_rate(const bj_pair_table *table, size_t a, size_t b, size_t round) {
    double there = bj_kit_get_beside(table, a, b, round), back = bj_kit_get_beside(table, b, a, round);
    if (isnan(there) || isnan(back))
        return isnan(there) ? back : there;
    return (there + back) / 2;
}

static bj_status file_row(const bj_pair_table *table, size_t a, bj_curves *samples, bj_error *error) {
    char id[48];
    bj_curve *curve;
    snprintf(id, sizeof id, CONTENTION_TABLE ".%zu", a);
    BJ_TRY(open_curve(samples, id, &curve, error));
    BJ_TRY(bj_data_set_attribute_text(curve, CONTENTION_KIND, CONTENTION_PAIR, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPU, (double)a, error));
    for (size_t round = 0; round < table->rounds; round++)
        for (size_t b = a + 1; b < table->count; b++) {
            double gbs = find_rate(table, a, b, round);
            if (!isnan(gbs))
                BJ_TRY(bj_data_record_sample(curve, (double)b, round, gbs, error));
        }
    return BJ_OK;
}

/* The diagonal; without one, what is known of a cpu alone. */
static bj_status file_alone(const bj_pair_table *table, double known_gbs, bj_curves *samples, bj_error *error) {
    bj_curve *curve;
    BJ_TRY(open_curve(samples, CONTENTION_ALONE, &curve, error));
    for (size_t round = 0; round < table->rounds; round++)
        for (size_t cpu = 0; cpu < table->count; cpu++) {
            double gbs = table->has_diagonal ? bj_kit_get_beside(table, cpu, cpu, round) : known_gbs;
            if (!isnan(gbs))
                BJ_TRY(bj_data_record_sample(curve, (double)cpu, round, gbs, error));
        }
    return BJ_OK;
}

bj_status bj_contention_file_table(const bj_curves *rows, const bj_answers *earlier, bj_curves *samples,
                                   bj_error *error) {
    double known_gbs = bj_kit_find_number(earlier, "memory.read_gbs");
    bj_pair_table table;
    bj_status status = bj_kit_read_pair_table(rows, &table, error);
    if (status == BJ_OK && (table.has_diagonal || known_gbs > 0))
        status = file_alone(&table, known_gbs, samples, error);
    for (size_t a = 0; status == BJ_OK && samples->count > 0 && a < table.count; a++)
        status = file_row(&table, a, samples, error);
    bj_kit_free_pair_table(&table);
    return status;
}
