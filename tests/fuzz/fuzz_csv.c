/* Other people's curves: whatever is accepted goes through every method of the analyses of caches, contexts, slots
 * and topologies. */
#include <math.h>

#include "cli/csv.h"
#include "fuzz.h"
#include "probes/probe.h"
#include "profile/profile.h"
#include "runner/runner.h"

/* The analysis resamples, so its time is that of hundreds of curves. */
enum { MOST_ROWS = 24 };

static void check_answers(const bj_answers *answers) {
    char *text = NULL;
    bj_error error = {""};
    for (size_t i = 0; i < answers->count; i++)
        require(isfinite(answers->items[i].value), "answers are finite");
    require(bj_profile_answers_to_json(answers, &text, &error) == BJ_OK, "answers can be written");
    free(text);
}

static void analyse(const char *name, const bj_csv_rows *rows) {
    const bj_probe *probe = bj_probe_find(name);
    bj_curves samples = {0};
    bj_answers known = {0}, answers = {0};
    bj_curve *curve = NULL;
    bj_error error = {""};
    size_t method_count = 0;
    while (probe->methods[method_count] != NULL)
        method_count++;
    /* Which method is left to the rows, so that a corpus holds plain tables. */
    const bj_analyse_request request = {.earlier = &known,
                                        .seed = 1,
                                        .method = probe->methods[rows->count % method_count],
                                        .y_unit_given = rows->count % 2 == 0 ? "ns" : NULL,
                                        .from_table = true};
    require(bj_data_add_curve(&samples, probe->analyze_curve, probe->name, &curve, &error) == BJ_OK, "a curve is made");
    bj_data_name_axes(curve, probe->analyze_x_name, probe->analyze_x_unit, "time", "ns");
    require(bj_data_record_table(curve, rows->x, rows->y, rows->count, &error) == BJ_OK, "accepted rows are recorded");
    bj_status status = bj_runner_analyse_probe(probe, &samples, &request, &answers, &error);
    if (status == BJ_OK)
        check_answers(&answers);
    else
        require(error.text[0] != '\0', "a reason");
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

/* A matrix: one curve a row. */
static void analyse_matrix(const bj_csv_rows *rows) {
    const bj_probe *probe = bj_probe_find("topology");
    bj_curves samples = {0};
    bj_answers known = {0}, answers = {0};
    bj_error error = {""};
    const bj_analyse_request request = {
        .earlier = &known, .seed = 1, .y_unit_given = rows->count % 2 == 0 ? "ns" : NULL, .from_table = true};
    for (size_t first = 0, end; first < rows->count; first = end) {
        bj_curve *curve = NULL;
        char id[48];
        snprintf(id, sizeof id, "row %.0f", rows->row[first]);
        for (end = first; end < rows->count && rows->row[end] == rows->row[first];)
            end++;
        require(bj_data_add_curve(&samples, id, probe->name, &curve, &error) == BJ_OK &&
                    bj_data_set_attribute_number(curve, "cpu", rows->row[first], &error) == BJ_OK &&
                    bj_data_record_table(curve, rows->x + first, rows->y + first, end - first, &error) == BJ_OK,
                "accepted cells are recorded");
    }
    if (bj_runner_analyse_probe(probe, &samples, &request, &answers, &error) == BJ_OK)
        check_answers(&answers);
    else
        require(error.text[0] != '\0', "a reason");
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

/* Matrices below each other, as the two probes that compare pairs take them. */
static void analyse_beside(const char *name, const bj_csv_rows *rows) {
    const bj_probe *probe = bj_probe_find(name);
    bj_curves samples = {0};
    bj_answers known = {0}, answers = {0};
    bj_error error = {""};
    const bj_analyse_request request = {
        .earlier = &known, .seed = 1, .method = probe->methods[rows->count % 2], .from_table = true};
    for (size_t i = 0; i < rows->count; i++) {
        char id[48];
        size_t row = (size_t)rows->row[i], cpu = row % rows->columns;
        snprintf(id, sizeof id, "row %zu", cpu);
        bj_curve *curve = (bj_curve *)bj_data_find_curve(&samples, id);
        if (curve == NULL)
            require(bj_data_add_curve(&samples, id, probe->name, &curve, &error) == BJ_OK &&
                        bj_data_set_attribute_number(curve, "cpu", (double)cpu, &error) == BJ_OK,
                    "a row is made");
        require(bj_data_record_sample(curve, rows->x[i], row / rows->columns, rows->y[i], &error) == BJ_OK,
                "accepted cells are recorded");
    }
    if (bj_runner_analyse_probe(probe, &samples, &request, &answers, &error) == BJ_OK)
        check_answers(&answers);
    else
        require(error.text[0] != '\0', "a reason");
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static bool parse(const uint8_t *data, size_t size, bj_csv_kind kind, bj_csv_rows *rows) {
    bj_error error = {""};
    bj_status status = bj_cli_parse_csv("input", (const char *)data, size, kind, rows, &error);
    if (status != BJ_OK) {
        require_refusal(status, &error);
        require(rows->count == 0 && rows->x == NULL, "a table is read whole or not at all");
        return false;
    }
    require(rows->count > 0, "an accepted table has rows");
    for (size_t i = 0; i < rows->count; i++)
        require(isfinite(rows->x[i]) && (rows->x[i] > 0 || kind >= BJ_CSV_MATRIX) && isfinite(rows->y[i]) &&
                    rows->y[i] > 0,
                "numbers are finite and positive");
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bj_csv_rows rows;
    bool has_time = takes_its_time(data, size);
    if (parse(data, size, BJ_CSV_PAIRS, &rows) && rows.count <= MOST_ROWS && has_time) {
        analyse("cache", &rows);
        analyse("contexts", &rows);
    }
    bj_cli_free_csv(&rows);
    if (parse(data, size, BJ_CSV_SINGLES, &rows) && rows.count <= MOST_ROWS && has_time)
        analyse("slot", &rows);
    bj_cli_free_csv(&rows);
    if (parse(data, size, BJ_CSV_MATRIX, &rows) && rows.count <= MOST_ROWS && has_time)
        analyse_matrix(&rows);
    bj_cli_free_csv(&rows);
    if (parse(data, size, BJ_CSV_MATRICES, &rows) && rows.count <= MOST_ROWS && has_time) {
        analyse_beside("sharing", &rows);
        analyse_beside("contention", &rows);
    }
    bj_cli_free_csv(&rows);
    return 0;
}
