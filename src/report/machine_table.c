#include "report/machine_table.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "report/cpu_text.h"
#include "report/terminal_text.h"

/* What a structured answer is in short; with most keys it fits beside them in 80 columns. */
enum { GAP = 2, CELL_ROOM = 96, SUMMARY_MOST = 40 };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const char *const headline_keys[] = {
    "cpu.clock_ghz",     "cache.line_bytes",   "cache.L[0-9].size_bytes", "cache.L[0-9].latency_ns",
    "memory.latency_ns", "memory.read_gbs",    "memory.full.read_gbs",    "memory.parallelism",
    "page.size_bytes",   "tlb.L[0-9].entries", "vector.width_bytes",      "live.double",
    "contexts.int",      "contexts.fp",
};

static int compare_keys(const void *a, const void *b) {
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The keys that match, levels in their order, each once, though patterns may overlap. */
static bj_status add_keys(const bj_machine_table *machines, const char *pattern, bj_strings *keys, bj_error *error) {
    size_t before = keys->count;
    bool matched = false;
    for (size_t m = 0; m < machines->count; m++) {
        const bj_answers *answers = &machines->profiles[m].answers;
        for (size_t i = 0; i < answers->count; i++) {
            const char *key = answers->items[i].key;
            bool listed = fnmatch(pattern, key, 0) != 0;
            matched = matched || !listed;
            for (size_t k = 0; k < keys->count && !listed; k++)
                listed = strcmp(keys->items[k], key) == 0;
            if (!listed)
                BJ_TRY(bj_strings_add(keys, key, error));
        }
    }
    if (keys->count > before)
        qsort(keys->items + before, keys->count - before, sizeof *keys->items, compare_keys);
    if (!matched && machines->key_count > 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no key matches '%.80s' in any of the profiles", pattern);
    return BJ_OK;
}

static bj_status choose_keys(const bj_machine_table *machines, bj_strings *keys, bj_error *error) {
    bool given = machines->key_count > 0;
    size_t count = given ? machines->key_count : COUNT(headline_keys);
    for (size_t i = 0; i < count; i++)
        BJ_TRY(add_keys(machines, given ? machines->keys[i] : headline_keys[i], keys, error));
    return keys->count > 0 ? BJ_OK : bj_base_set_error(error, BJ_ERR_FAILED, "none of the profiles has such answers");
}

/* As operations are marked by `show`. */
static const char *mark(const bj_answer *answer) {
    if (answer->status == BJ_ANSWER_UNSTABLE)
        return " !";
    if (answer->confidence == BJ_CONFIDENCE_MEDIUM)
        return " ~";
    return answer->confidence == BJ_CONFIDENCE_LOW ? " ?" : "";
}

static void format_cell(const bj_answer *answer, char text[CELL_ROOM]) {
    char quantity[48];
    if (answer == NULL)
        text[0] = '\0';
    else if (!bj_data_has_value(answer))
        snprintf(text, CELL_ROOM, "%s", answer->status == BJ_ANSWER_UNSUPPORTED ? "-" : "x");
    else if (answer->structured != NULL) {
        char summary[SUMMARY_MOST + 1] = "";
        if (!bj_report_sum_up(answer, summary, sizeof summary))
            snprintf(summary, sizeof summary, "%s", answer->structured);
        snprintf(text, CELL_ROOM, "%s%s", summary, mark(answer));
    } else {
        bj_report_format_quantity(answer->value, answer->unit, quantity);
        snprintf(text, CELL_ROOM, "%s%s", quantity, mark(answer));
    }
}

static const bj_answer *find(const bj_machine_table *machines, size_t machine, const char *key) {
    return bj_data_find_answer(&machines->profiles[machine].answers, key);
}

/* ---- for a person: columns first to last - 1 */

static bj_status write_part(FILE *out, const bj_machine_table *machines, const bj_strings *keys, size_t first,
                            size_t last, bj_table_format format, const bj_terminal_style *style, bj_error *error) {
    bj_table_column *columns = calloc(last - first + 1, sizeof *columns);
    if (columns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a table");
    bj_table table = {.columns = columns, .column_count = last - first + 1};
    columns[0].title = "key";
    for (size_t m = first; m < last; m++)
        columns[m - first + 1] = (bj_table_column){.title = machines->names[m], .right = true};
    for (size_t k = 0; k < keys->count; k++) {
        bj_report_add_cell(&table, "%s", keys->items[k]);
        for (size_t m = first; m < last; m++) {
            char text[CELL_ROOM];
            format_cell(find(machines, m, keys->items[k]), text);
            bj_report_add_cell(&table, "%s", text);
        }
    }
    bj_status status = bj_report_write_table(out, &table, format, style, error);
    bj_report_free_table(&table);
    free(columns);
    return status;
}

static size_t measure_machine(const bj_machine_table *machines, const bj_strings *keys, size_t machine) {
    size_t width = bj_report_count_columns(machines->names[machine]);
    for (size_t k = 0; k < keys->count; k++) {
        char text[CELL_ROOM];
        format_cell(find(machines, machine, keys->items[k]), text);
        size_t columns = bj_report_count_columns(text);
        width = columns > width ? columns : width;
    }
    return width;
}

static bj_status write_parts(FILE *out, const bj_machine_table *machines, const bj_strings *keys,
                             const bj_terminal_style *style, bj_error *error) {
    size_t room = bj_report_find_width(style), key_width = 0, first = 0;
    for (size_t k = 0; k < keys->count; k++) {
        size_t columns = bj_report_count_columns(keys->items[k]);
        key_width = columns > key_width ? columns : key_width;
    }
    while (first < machines->count) {
        size_t last = first, used = key_width;
        do
            used += GAP + measure_machine(machines, keys, last++);
        while (last < machines->count && used + GAP + measure_machine(machines, keys, last) <= room);
        if (first > 0)
            putc('\n', out);
        BJ_TRY(write_part(out, machines, keys, first, last, BJ_TABLE_TEXT, style, error));
        first = last;
    }
    return BJ_OK;
}

/* ---- for a program */

static void add_exact_cells(bj_table *table, const bj_answer *answer) {
    char number[BJ_NUMBER_ROOM] = "";
    bool here = answer != NULL && bj_data_has_value(answer);
    if (here && answer->structured == NULL)
        bj_data_format_number(answer->value, number);
    bj_report_add_cell(table, "%s", here && answer->structured != NULL ? answer->structured : number);
    const char *sure = "";
    if (answer != NULL && answer->status != BJ_ANSWER_OK)
        sure = bj_data_name_status(answer->status);
    else if (answer != NULL && answer->confidence != BJ_CONFIDENCE_NONE)
        sure = bj_data_name_confidence(answer->confidence);
    bj_report_add_cell(table, "%s", sure);
}

static const char *find_unit(const bj_machine_table *machines, const char *key) {
    for (size_t m = 0; m < machines->count; m++) {
        const bj_answer *answer = find(machines, m, key);
        if (answer != NULL)
            return answer->unit;
    }
    return "";
}

static bj_status write_exact(FILE *out, const bj_machine_table *machines, const bj_strings *keys, bj_error *error) {
    bj_strings titles = {0};
    size_t column_count = 2 + 2 * machines->count;
    bj_table_column *columns = calloc(column_count, sizeof *columns);
    bj_status status = columns != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a table");
    for (size_t m = 0; m < machines->count && status == BJ_OK; m++) {
        char title[120];
        snprintf(title, sizeof title, "%.100s confidence", machines->names[m]);
        status = bj_strings_add(&titles, title, error);
    }
    if (status == BJ_OK) {
        bj_table table = {.columns = columns, .column_count = column_count};
        columns[0].title = "key";
        columns[1].title = "unit";
        for (size_t m = 0; m < machines->count; m++) {
            columns[2 + 2 * m].title = machines->names[m];
            columns[3 + 2 * m].title = titles.items[m];
        }
        for (size_t k = 0; k < keys->count; k++) {
            bj_report_add_cell(&table, "%s", keys->items[k]);
            bj_report_add_cell(&table, "%s", find_unit(machines, keys->items[k]));
            for (size_t m = 0; m < machines->count; m++)
                add_exact_cells(&table, find(machines, m, keys->items[k]));
        }
        status = bj_report_write_table(out, &table, BJ_TABLE_CSV, NULL, error);
        bj_report_free_table(&table);
    }
    bj_strings_free(&titles);
    free(columns);
    return status;
}

bj_status bj_report_write_machine_table(FILE *out, const bj_machine_table *machines, bj_table_format format,
                                        const bj_terminal_style *style, bj_error *error) {
    bj_strings keys = {0};
    bj_status status = choose_keys(machines, &keys, error);
    if (status == BJ_OK && format == BJ_TABLE_CSV)
        status = write_exact(out, machines, &keys, error);
    else if (status == BJ_OK && format == BJ_TABLE_TEXT)
        status = write_parts(out, machines, &keys, style, error);
    else if (status == BJ_OK)
        status = write_part(out, machines, &keys, 0, machines->count, format, style, error);
    bj_strings_free(&keys);
    return status;
}
