#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/csv.h"
#include "cli/style.h"
#include "cli/values.h"
#include "probes/probe.h"
#include "profile/profile.h"
#include "report/answer_table.h"
#include "runner/filing.h"
#include "runner/keys.h"
#include "runner/runner.h"

/* More levels than any machine has. */
#define MAX_LEVEL 16

typedef struct {
    const bj_probe *probe;
    bj_analyse_request request;
    bj_answers known;
    bj_curves samples;
    bj_answers answers;
    bool as_json; /* otherwise a table in this format */
    bj_table_format format;
} analysis;

static const char *find_unit(const char *key) {
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe_key *entry = bj_runner_find_key(bj_probes[i], key);
        if (entry != NULL)
            return entry->unit;
    }
    return NULL;
}

static bj_status add_known(const char *text, bj_answers *known, bj_error *error) {
    const char *equals = strchr(text, '=');
    double value;
    char key[64];
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= sizeof key || !bj_base_parse_double(equals + 1, &value) || !(value > 0))
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "--known: expected KEY=VALUE with a positive number, found '%.60s'", text);
    memcpy(key, text, length);
    key[length] = '\0';
    const char *unit = find_unit(key);
    /* Allowed, since a newer version may have it; but it may be a slip. */
    if (unit == NULL)
        bj_cli_complain("warning: --known %s: no probe here answers that key", key);
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(known, key, unit != NULL ? unit : "", &answer, error));
    answer->status = BJ_ANSWER_OK;
    answer->value = value;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    return BJ_OK;
}

static bj_status read_level(const bj_cli_arguments *arguments, const bj_probe *probe, unsigned *level,
                            bj_error *error) {
    const char *text = bj_cli_find_value(arguments, "level");
    uint64_t number = 0;
    if (text != NULL && !probe->analyze_level)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--level: a table of the probe %s is not about one level",
                                 probe->name);
    if (text != NULL && (!bj_base_parse_u64(text, &number) || number < 1 || number > MAX_LEVEL))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--level: expected a whole number from 1 to %d, found '%.40s'",
                                 MAX_LEVEL, text);
    *level = (unsigned)number;
    return BJ_OK;
}

static bj_status read_unit(const bj_cli_arguments *arguments, const char **unit, bj_error *error) {
    *unit = bj_cli_find_value(arguments, "unit");
    if (*unit != NULL && strcmp(*unit, "ns") != 0 && strcmp(*unit, "cycles") != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--unit: expected ns or cycles, found '%.40s'", *unit);
    return BJ_OK;
}

static bj_status read_format(const bj_cli_arguments *arguments, analysis *analysis, bj_error *error) {
    const char *name = bj_cli_find_value(arguments, "format");
    analysis->as_json = name == NULL || strcmp(name, "json") == 0;
    if (!analysis->as_json && !bj_report_parse_table_format(name, &analysis->format))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--format: expected json, text, markdown or csv, found '%.40s'",
                                 name);
    return BJ_OK;
}

static bj_status refuse_probe(const bj_probe *probe, bj_error *error) {
    char names[160] = "";
    for (size_t i = 0; i < bj_probe_count; i++)
        if (bj_probes[i]->analyze_curve != NULL)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] != '\0' ? ", " : "",
                     bj_probes[i]->name);
    return bj_base_set_error(error, BJ_ERR_USAGE, "analyze does not take the probe %s; expected one of %s", probe->name,
                             names);
}

static bj_status read_request(const bj_cli_arguments *arguments, analysis *analysis, bj_error *error) {
    bj_analyse_request *request = &analysis->request;
    bj_status status = bj_cli_read_probe(arguments->operands[0], &analysis->probe, error);
    if (status == BJ_OK && analysis->probe->analyze_curve == NULL)
        return refuse_probe(analysis->probe, error);
    if (status == BJ_OK)
        status = bj_cli_read_method(arguments, &analysis->probe, 1, &request->method, error);
    if (status == BJ_OK)
        status = bj_cli_read_seed(arguments, &request->seed, error);
    if (status == BJ_OK)
        status = read_level(arguments, analysis->probe, &request->level, error);
    if (status == BJ_OK)
        status = read_unit(arguments, &request->y_unit_given, error);
    if (status == BJ_OK)
        status = read_format(arguments, analysis, error);
    for (size_t i = 0; i < arguments->given_count && status == BJ_OK; i++)
        if (strcmp(arguments->given[i].option->name, "known") == 0)
            status = add_known(arguments->given[i].value, &analysis->known, error);
    if (status != BJ_OK)
        return status;
    request->earlier = &analysis->known;
    request->from_table = true;
    request->seed = bj_runner_seed_probe(request->seed, analysis->probe->name);
    return BJ_OK;
}

static bj_status add_curve(analysis *analysis, const char *id, const bj_csv_rows *rows, size_t first, size_t count,
                           bj_curve **curve, bj_error *error) {
    const bj_probe *probe = analysis->probe;
    const char *unit = analysis->request.y_unit_given;
    BJ_TRY(bj_data_add_curve(&analysis->samples, id, probe->name, curve, error));
    bj_data_name_axes(*curve, probe->analyze_x_name, probe->analyze_x_unit, "time", unit != NULL ? unit : "unit");
    return bj_data_record_table(*curve, rows->x + first, rows->y + first, count, error);
}

static bj_status add_matrix(analysis *analysis, const bj_csv_rows *rows, bj_error *error) {
    for (size_t first = 0, end; first < rows->count; first = end) {
        char id[48];
        bj_curve *curve;
        for (end = first; end < rows->count && rows->row[end] == rows->row[first];)
            end++;
        snprintf(id, sizeof id, "%.30s.%.0f", analysis->probe->analyze_curve, rows->row[first]);
        BJ_TRY(add_curve(analysis, id, rows, first, end - first, &curve, error));
        BJ_TRY(bj_data_set_attribute_number(curve, "cpu", rows->row[first], error));
    }
    return BJ_OK;
}

/* Matrices below each other: a curve a cpu, a round a matrix. */
static bj_status add_matrices(analysis *analysis, const bj_csv_rows *rows, bj_error *error) {
    for (size_t cpu = 0; cpu < rows->columns; cpu++) {
        char id[48];
        bj_curve *curve = NULL;
        snprintf(id, sizeof id, "%.30s.%u", analysis->probe->analyze_curve, (unsigned)cpu);
        for (size_t i = 0; i < rows->count; i++) {
            size_t row = (size_t)rows->row[i];
            if (row % rows->columns != cpu)
                continue;
            if (curve == NULL) {
                BJ_TRY(bj_data_add_curve(&analysis->samples, id, analysis->probe->name, &curve, error));
                bj_data_name_axes(curve, analysis->probe->analyze_x_name, analysis->probe->analyze_x_unit, "measured",
                                  "unit");
                BJ_TRY(bj_data_set_attribute_number(curve, "cpu", (double)cpu, error));
            }
            BJ_TRY(bj_data_record_sample(curve, rows->x[i], row / rows->columns, rows->y[i], error));
        }
    }
    return BJ_OK;
}

static bj_status analyse_rows(const bj_csv_rows *rows, analysis *analysis, bj_error *error) {
    const bj_probe *probe = analysis->probe;
    bj_curve *curve;
    if (probe->analyze_beside)
        BJ_TRY(add_matrices(analysis, rows, error));
    else if (probe->analyze_matrix)
        BJ_TRY(add_matrix(analysis, rows, error));
    else
        BJ_TRY(add_curve(analysis, probe->analyze_curve, rows, 0, rows->count, &curve, error));
    return bj_runner_analyse_probe(probe, &analysis->samples, &analysis->request, &analysis->answers, error);
}

static bj_status analyse_file(const char *path, analysis *analysis, bj_error *error) {
    bj_csv_rows rows;
    bj_error trouble;
    bj_csv_kind kind = analysis->probe->analyze_beside       ? BJ_CSV_MATRICES
                       : analysis->probe->analyze_matrix     ? BJ_CSV_MATRIX
                       : analysis->probe->analyze_one_column ? BJ_CSV_SINGLES
                                                             : BJ_CSV_PAIRS;
    bj_status status = bj_cli_read_csv(path, kind, &rows, error);
    if (status != BJ_OK)
        return status;
    status = analyse_rows(&rows, analysis, &trouble);
    bj_cli_free_csv(&rows);
    if (status != BJ_OK) /* each row may be right, and all together no curve */
        return bj_base_set_error(error, status, "%.120s: %.270s", path, trouble.text);
    return BJ_OK;
}

static bj_status print_json(const bj_answers *answers, bj_error *error) {
    char *text = NULL;
    BJ_TRY(bj_profile_answers_to_json(answers, &text, error));
    fputs(text, stdout);
    free(text);
    return BJ_OK;
}

static bj_status print_answers(const analysis *analysis, bj_error *error) {
    bj_terminal_style style = bj_cli_find_style();
    if (analysis->as_json)
        return print_json(&analysis->answers, error);
    return bj_report_write_answer_table(stdout, &analysis->answers, NULL, analysis->format, &style, error);
}

static int run(const bj_cli_arguments *arguments) {
    analysis analysis = {0};
    bj_error error;
    bj_status status = read_request(arguments, &analysis, &error);
    if (status == BJ_OK)
        status = analyse_file(arguments->operands[1], &analysis, &error);
    if (status == BJ_OK)
        status = print_answers(&analysis, &error);
    bj_data_free_answers(&analysis.answers);
    bj_data_free_answers(&analysis.known);
    bj_data_free_curves(&analysis.samples);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"method", 0, "NAME", "how to analyse; 'blackjack list' names the methods"},
    {"known", 0, "KEY=VALUE", "what is known otherwise, such as cache.L1.size_bytes=32768; may be repeated"},
    {"unit", 0, "ns|cycles", "unit of the times; without it no latencies are answered"},
    {"level", 0, "N", "the cache level that the table is about (line, associativity, sharing)"},
    {"seed", 0, "N", "of the resampling (default 1)"},
    {"format", 0, "json|text|markdown|csv", "how to print the answers (default json); text: a table for people"},
};

const bj_cli_command bj_cli_command_analyze = {
    .name = "analyze",
    .synopsis = "PROBE FILE.csv [--method NAME] [--known KEY=VALUE]... [--unit ns|cycles] [--level N]\n"
                "[--seed N] [--format json|text|markdown|csv]",
    .summary = "Answers from a curve that anyone measured",
    .details =
        "FILE.csv ('-': standard input) holds rows x,y in any order; further columns are ignored, and so are\n"
        "lines that begin with '#' and a header line. The k-th row of the same x belongs to the k-th round.\n"
        "For slot, rows hold one column: gaps in ms. For contexts, x are threads; the kind of work is the file's.\n"
        "For topology, they are a square matrix or its lower triangle, empty on the diagonal: cpus from 0.\n"
        "For sharing (times of walks) and contention (GB/s), row a, column b is cpu a while b works, and the\n"
        "diagonal each alone; sharing takes ratios without one. Matrices below each other are rounds.\n"
        "At most 100000 rows in 128 MiB, numbers from 1e-30 to 1e30, and a decimal point whatever the locale.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 2,
    .most_operands = 2,
    .run = run,
};
