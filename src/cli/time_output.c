#include "cli/time_output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/style.h"
#include "data/number.h"
#include "profile/json_text.h"
#include "profile/profile_fields.h"
#include "report/table_text.h"
#include "report/terminal_text.h"

enum { SIDE_BY_SIDE_MOST = 3 };

/* "1.23 us" */
static void format_ns(double ns, char *text, size_t room) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && fabs(ns) < units[i].ns)
        i++;
    snprintf(text, room, "%.3g %s", ns / units[i].ns, units[i].unit);
    if (fabs(ns / units[i].ns) >= 999.5)
        snprintf(text, room, "%.0f %s", ns / units[i].ns, units[i].unit);
}

static void add_time(bj_table *table, const bj_answer *answer) {
    char text[32] = "-", low[32], high[32];
    if (!bj_data_has_value(answer)) {
        bj_report_add_cell(table, "%s", bj_data_name_status(answer->status));
        bj_report_add_cell(table, "-");
        return;
    }
    format_ns(answer->value, text, sizeof text);
    format_ns(answer->interval[0], low, sizeof low);
    format_ns(answer->interval[1], high, sizeof high);
    char *unit = strchr(low, ' ');
    if (unit != NULL && strcmp(unit, strchr(high, ' ') != NULL ? strchr(high, ' ') : "") == 0)
        *unit = '\0';
    bj_report_add_cell(table, "%s%s", text, answer->status == BJ_ANSWER_UNSTABLE ? " ?" : "");
    bj_report_add_cell(table, "%s..%s", low, high);
}

static void describe(const bj_timing *timing, char *text, size_t room) {
    char residency[80] = "";
    if (timing->has_residency && !isnan(timing->seen_ns))
        snprintf(residency, sizeof residency, "%s seen at %.3g ns, expected %.3g", timing->asked, timing->seen_ns,
                 timing->expected_ns);
    const char *parts[] = {timing->time_ns.status != BJ_ANSWER_OK ? timing->time_ns.reason : "", residency,
                           timing->remark};
    text[0] = '\0';
    for (size_t i = 0; i < 3; i++) {
        size_t used = strlen(text);
        if (parts[i][0] != '\0')
            snprintf(text + used, room - used, "%s%s", used > 0 ? "; " : "", parts[i]);
    }
}

static bj_status finish_table(bj_table *table, bj_table_format format, bj_error *error) {
    bj_terminal_style style = bj_cli_find_style();
    bj_status status = bj_report_write_table(stdout, table, format, &style, error);
    bj_report_free_table(table);
    return status;
}

/* One row a timing. */
static bj_status print_rows(const bj_time_results *results, bj_error *error) {
    const bj_table_column columns[] = {{"kernel", false, false}, {"n", true, false},     {"context", false, false},
                                       {"time", true, false},    {"95%", true, false},   {"calls", true, false},
                                       {"samples", true, false}, {"remark", false, true}};
    bj_table table = {.columns = columns, .column_count = sizeof columns / sizeof columns[0]};
    for (size_t i = 0; i < results->job_count; i++) {
        const bj_time_job *job = &results->jobs[i];
        for (size_t k = 0; k < results->request->kernel_count; k++) {
            const bj_timing *timing = &job->timings[k];
            char context[8], remark[500];
            if (!job->is_done[k])
                continue;
            bj_timer_name_residency(job->context, context, sizeof context);
            describe(timing, remark, sizeof remark);
            bj_report_add_cell(&table, "%.16s", results->request->kernels[k].symbol);
            bj_report_add_cell(&table, "%llu", (unsigned long long)job->n);
            bj_report_add_cell(&table, "%s", context);
            add_time(&table, &timing->time_ns);
            bj_report_add_cell(&table, "%zu", timing->calls_per_timing);
            bj_report_add_cell(&table, "%zu", timing->samples);
            bj_report_add_cell(&table, "%s", remark);
        }
    }
    return finish_table(&table, BJ_TABLE_TEXT, error);
}

/* One row an n, with the contexts of one kernel side by side, and the first by the second; where the terminal has no
 * room for that, one row a timing. */
static bj_status print_side_by_side(const bj_time_results *results, bj_error *error) {
    const bj_time_request *request = results->request;
    char titles[SIDE_BY_SIDE_MOST][8], ratio[24];
    bj_table_column columns[3 + 2 * SIDE_BY_SIDE_MOST] = {{"n", true, false}};
    size_t count = 1;
    for (size_t c = 0; c < request->context_count; c++) {
        bj_timer_name_residency(request->contexts[c], titles[c], sizeof titles[c]);
        columns[count++] = (bj_table_column){titles[c], true, false};
        columns[count++] = (bj_table_column){"95%", true, false};
    }
    snprintf(ratio, sizeof ratio, "%s/%s", titles[0], titles[1]);
    columns[count++] = (bj_table_column){ratio, true, false};
    columns[count++] = (bj_table_column){"remark", false, true};
    bj_table table = {.columns = columns, .column_count = count};
    for (size_t i = 0; i < results->job_count; i += request->context_count) {
        char remark[500] = "";
        double values[2] = {NAN, NAN};
        bj_report_add_cell(&table, "%llu", (unsigned long long)results->jobs[i].n);
        for (size_t c = 0; c < request->context_count; c++) {
            const bj_time_job *job = &results->jobs[i + c];
            char one[400] = "";
            if (job->is_done[0]) {
                add_time(&table, &job->timings[0].time_ns);
                describe(&job->timings[0], one, sizeof one);
            } else {
                bj_report_add_cell(&table, "-");
                bj_report_add_cell(&table, "-");
            }
            if (c < 2 && job->is_done[0] && bj_data_has_value(&job->timings[0].time_ns))
                values[c] = job->timings[0].time_ns.value;
            size_t used = strlen(remark);
            if (one[0] != '\0')
                snprintf(remark + used, sizeof remark - used, "%s%s: %.180s", used > 0 ? "; " : "", titles[c], one);
        }
        if (values[1] > 0 && !isnan(values[0]))
            bj_report_add_cell(&table, "%.2f", values[0] / values[1]);
        else
            bj_report_add_cell(&table, "-");
        bj_report_add_cell(&table, "%s", remark);
    }
    bj_terminal_style style = bj_cli_find_style();
    if (!table.failed && bj_report_measure_table(&table) > bj_report_find_width(&style)) {
        bj_report_free_table(&table);
        return print_rows(results, error);
    }
    return finish_table(&table, BJ_TABLE_TEXT, error);
}

static void print_pairs(const bj_time_results *results) {
    const bj_time_request *request = results->request;
    for (size_t i = 0; i < results->job_count; i++) {
        const bj_time_job *job = &results->jobs[i];
        char context[8];
        if (!job->has_ratio)
            continue;
        bj_timer_name_residency(job->context, context, sizeof context);
        printf("%sn = %llu, %s: ", i == 0 ? "\n" : "", (unsigned long long)job->n, context);
        if (!bj_data_has_value(&job->ratio))
            printf("%s\n", job->ratio.reason);
        else if (bj_timer_is_different(&job->ratio))
            printf("%.30s takes %.3g times as long as %.30s (%.3g to %.3g)\n", request->kernels[1].symbol,
                   job->ratio.value, request->kernels[0].symbol, job->ratio.interval[0], job->ratio.interval[1]);
        else
            printf("no difference seen (ratio %.3g to %.3g)\n", job->ratio.interval[0], job->ratio.interval[1]);
    }
}

static void add_number(bj_table *table, double value) {
    char text[BJ_NUMBER_ROOM] = "";
    if (!isnan(value))
        bj_data_format_number(bj_data_round_number(value, BJ_SAMPLE_DIGITS), text);
    bj_report_add_cell(table, "%s", text);
}

static bj_status print_csv(const bj_time_results *results, bj_error *error) {
    static const char *const titles[] = {"kernel",  "n",       "context",     "time_ns",     "low_ns",
                                         "high_ns", "status",  "confidence",  "clock",       "calls_per_timing",
                                         "samples", "seen_ns", "expected_ns", "lines_ratio", "reason"};
    enum { COLUMNS = sizeof titles / sizeof titles[0] };
    bj_table_column columns[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i] = (bj_table_column){titles[i], false, false};
    bj_table table = {.columns = columns, .column_count = COLUMNS};
    for (size_t i = 0; i < results->job_count; i++) {
        const bj_time_job *job = &results->jobs[i];
        for (size_t k = 0; k < results->request->kernel_count; k++) {
            const bj_timing *timing = &job->timings[k];
            const bj_answer *answer = &timing->time_ns;
            bool has_value = bj_data_has_value(answer);
            char context[8];
            if (!job->is_done[k])
                continue;
            bj_timer_name_residency(job->context, context, sizeof context);
            bj_report_add_cell(&table, "%s", results->request->kernels[k].given);
            bj_report_add_cell(&table, "%llu", (unsigned long long)job->n);
            bj_report_add_cell(&table, "%s", context);
            add_number(&table, has_value ? answer->value : NAN);
            add_number(&table, has_value ? answer->interval[0] : NAN);
            add_number(&table, has_value ? answer->interval[1] : NAN);
            bj_report_add_cell(&table, "%s", bj_data_name_status(answer->status));
            bj_report_add_cell(&table, "%s", has_value ? bj_data_name_confidence(answer->confidence) : "");
            bj_report_add_cell(&table, "%s", timing->cpu_time ? "cpu" : "wall");
            bj_report_add_cell(&table, "%zu", timing->calls_per_timing);
            bj_report_add_cell(&table, "%zu", timing->samples);
            add_number(&table, timing->has_residency ? timing->seen_ns : NAN);
            add_number(&table, timing->has_residency ? timing->expected_ns : NAN);
            add_number(&table, timing->has_lines ? timing->lines_ratio : NAN);
            bj_report_add_cell(&table, "%s", answer->status != BJ_ANSWER_OK ? answer->reason : "");
        }
    }
    return finish_table(&table, BJ_TABLE_CSV, error);
}

static void append_residency(bj_json_text *json, const bj_timing *timing) {
    bj_json_append_key(json, "residency");
    bj_json_append(json, "{");
    bj_json_append_text_member(json, "asked", timing->asked);
    bj_json_append_number_member(json, "seen_ns", timing->seen_ns);
    bj_json_append_number_member(json, "expected_ns", timing->expected_ns);
    bj_json_append(json, "}");
}

static bj_status append_timing(bj_json_text *json, const bj_time_results *results, const bj_time_job *job, size_t k,
                               bj_error *error) {
    const bj_timing *timing = &job->timings[k];
    char context[8];
    bj_timer_name_residency(job->context, context, sizeof context);
    bj_json_append(json, "    {");
    bj_json_append_text_member(json, "kernel", results->request->kernels[k].given);
    bj_json_append_u64_member(json, "n", job->n);
    bj_json_append_text_member(json, "context", context);
    bj_json_append_key(json, "time_ns");
    BJ_TRY(bj_profile_append_answer(json, &timing->time_ns, error));
    if (bj_data_has_value(&timing->time_ns)) {
        bj_json_append_u64_member(json, "calls_per_timing", timing->calls_per_timing);
        bj_json_append_u64_member(json, "samples", timing->samples);
        bj_json_append_text_member(json, "clock", timing->cpu_time ? "cpu" : "wall");
        bj_json_append_key(json, "quartiles_ns");
        bj_json_append_numbers(json, timing->quartiles_ns, 2);
    }
    if (timing->has_residency)
        append_residency(json, timing);
    if (timing->has_lines)
        bj_json_append_number_member(json, "lines_ratio", timing->lines_ratio);
    if (timing->remark[0] != '\0')
        bj_json_append_text_member(json, "remark", timing->remark);
    bj_json_append(json, "}");
    return BJ_OK;
}

static bj_status append_pair(bj_json_text *json, const bj_time_results *results, const bj_time_job *job,
                             bj_error *error) {
    char context[8];
    bj_timer_name_residency(job->context, context, sizeof context);
    bj_json_append(json, "    {");
    bj_json_append_text_member(json, "a", results->request->kernels[0].given);
    bj_json_append_text_member(json, "b", results->request->kernels[1].given);
    bj_json_append_u64_member(json, "n", job->n);
    bj_json_append_text_member(json, "context", context);
    bj_json_append_key(json, "ratio");
    BJ_TRY(bj_profile_append_answer(json, &job->ratio, error));
    bj_json_append(json, "}");
    return BJ_OK;
}

static bj_status append_all(bj_json_text *json, const bj_time_results *results, bj_error *error) {
    bool first = true;
    bj_json_append(json, "{\n  \"format\": \"blackjack-timings/1\",\n  \"clock\": ");
    bj_json_append_string(json, results->clock_reason);
    bj_json_append(json, ",\n  \"flush_bytes\": ");
    bj_json_append_u64(json, results->flush_bytes);
    bj_json_append(json, ",\n  \"timings\": [");
    for (size_t i = 0; i < results->job_count; i++)
        for (size_t k = 0; k < results->request->kernel_count; k++) {
            if (!results->jobs[i].is_done[k])
                continue;
            bj_json_append(json, first ? "\n" : ",\n");
            first = false;
            BJ_TRY(append_timing(json, results, &results->jobs[i], k, error));
        }
    bj_json_append(json, "\n  ],\n  \"pairs\": [");
    first = true;
    for (size_t i = 0; i < results->job_count; i++) {
        if (!results->jobs[i].has_ratio)
            continue;
        bj_json_append(json, first ? "\n" : ",\n");
        first = false;
        BJ_TRY(append_pair(json, results, &results->jobs[i], error));
    }
    bj_json_append(json, first ? "]\n}\n" : "\n  ]\n}\n");
    return BJ_OK;
}

static bj_status print_json(const bj_time_results *results, bj_error *error) {
    bj_json_text json = {0};
    char *text = NULL;
    size_t length = 0;
    bj_status status = append_all(&json, results, error);
    if (status != BJ_OK) {
        bj_json_discard(&json);
        return status;
    }
    BJ_TRY(bj_json_finish(&json, &text, &length, error));
    fwrite(text, 1, length, stdout); /* main looks for errors of the stream */
    free(text);
    return BJ_OK;
}

bj_status bj_cli_print_timings(const bj_time_results *results, bj_error *error) {
    const bj_time_request *request = results->request;
    if (request->json)
        return print_json(results, error);
    if (request->csv)
        return print_csv(results, error);
    bool side_by_side =
        request->kernel_count == 1 && request->context_count > 1 && request->context_count <= SIDE_BY_SIDE_MOST;
    BJ_TRY(side_by_side ? print_side_by_side(results, error) : print_rows(results, error));
    print_pairs(results);
    return BJ_OK;
}
