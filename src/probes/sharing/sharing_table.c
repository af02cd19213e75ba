/* A table that anyone measured, as samples of the probe: times beside each other by times alone. */
#include <math.h>
#include <stdio.h>

#include "probes/kit/pair_table.h"
#include "probes/sharing/sharing_samples.h"

static bj_status open_curve(bj_curves *samples, const char *id, const char *kind, unsigned level, bj_curve **curve,
                            bj_error *error) {
    BJ_TRY(bj_data_add_curve(samples, id, "sharing", curve, error));
    bj_data_name_axes(*curve, "cpu", "number", "time", "");
    BJ_TRY(bj_data_set_attribute_text(*curve, SHARING_KIND, kind, error));
    return bj_data_set_attribute_number(*curve, SHARING_LEVEL, level, error);
}

/* Without a diagonal the table holds ratios: alone is one. */
static double find_alone(const bj_pair_table *table, size_t cpu, size_t round) {
    return table->has_diagonal ? bj_kit_get_beside(table, cpu, cpu, round) : 1;
}

/* Of the two the less, since both suffer where they share; of Servet's figure 5, the mean. */
static double find_ratio(const bj_pair_table *table, size_t a, size_t b, size_t round, bool is_servet) {
    double there = bj_kit_get_beside(table, a, b, round) / find_alone(table, a, round);
    double back = bj_kit_get_beside(table, b, a, round) / find_alone(table, b, round);
    if (isnan(there) || isnan(back))
        return isnan(there) ? back : there;
    return is_servet ? (there + back) / 2 : fmin(there, back);
}

static bj_status file_row(const bj_pair_table *table, size_t a, unsigned level, bool is_servet, bj_curves *samples,
                          bj_error *error) {
    char id[48];
    bj_curve *curve;
    snprintf(id, sizeof id, SHARING_TABLE ".%zu", a);
    BJ_TRY(open_curve(samples, id, SHARING_PAIR, level, &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, SHARING_CPU, (double)a, error));
    for (size_t round = 0; round < table->rounds; round++)
        for (size_t b = a + 1; b < table->count; b++) {
            double ratio = find_ratio(table, a, b, round, is_servet);
            if (!isnan(ratio))
                BJ_TRY(bj_data_record_sample(curve, (double)b, round, ratio, error));
        }
    return BJ_OK;
}

static bj_status file_alone(const bj_pair_table *table, unsigned level, bj_curves *samples, bj_error *error) {
    bj_curve *curve;
    BJ_TRY(open_curve(samples, SHARING_TABLE ".alone", SHARING_ALONE, level, &curve, error));
    for (size_t round = 0; round < table->rounds; round++)
        for (size_t cpu = 0; cpu < table->count; cpu++)
            if (!isnan(find_alone(table, cpu, round)))
                BJ_TRY(bj_data_record_sample(curve, (double)cpu, round, find_alone(table, cpu, round), error));
    return BJ_OK;
}

bj_status bj_sharing_file_table(const bj_curves *rows, unsigned level, bool is_servet, bj_curves *samples,
                                bj_error *error) {
    bj_pair_table table;
    bj_status status = bj_kit_read_pair_table(rows, &table, error);
    if (status == BJ_OK)
        status = file_alone(&table, level, samples, error);
    for (size_t a = 0; status == BJ_OK && a < table.count; a++)
        status = file_row(&table, a, level, is_servet, samples, error);
    bj_kit_free_pair_table(&table);
    return status;
}
