#include "report/curve_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_stream.h"
#include "data/number.h"
#include "report/terminal_text.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
enum { INDENT = 2, ANSWERS_INDENT = 15, SHOWN_DIGITS = 4 };

bj_status bj_report_list_curves(FILE *out, const bj_curves *curves, const bj_terminal_style *style, bj_error *error) {
    static const bj_table_column columns[] = {
        {.title = "curve"},
        {.title = "probe"},
        {.title = "points", .right = true},
        {.title = "rounds", .right = true},
    };
    bj_table table = {.columns = columns, .column_count = COUNT(columns)};
    for (size_t i = 0; i < curves->count; i++) {
        const bj_curve *curve = &curves->items[i];
        bj_report_add_cell(&table, "%s", curve->id);
        bj_report_add_cell(&table, "%s", curve->probe);
        bj_report_add_cell(&table, "%zu", curve->x_count);
        bj_report_add_cell(&table, "%zu", curve->round_count);
    }
    bj_status status = bj_report_write_table(out, &table, BJ_TABLE_TEXT, style, error);
    bj_report_free_table(&table);
    return status;
}

/* ---- one curve */

static void print_line(FILE *out, const bj_terminal_style *style, const char *label, const char *text) {
    fprintf(out, "%*s", INDENT, "");
    bj_report_print_text(out, style, BJ_INK_PLAIN, label, ANSWERS_INDENT - INDENT - 1);
    putc(' ', out);
    size_t column = strlen(label) < ANSWERS_INDENT - INDENT ? ANSWERS_INDENT : INDENT + strlen(label) + 1;
    bj_report_print_wrapped(out, style, BJ_INK_PLAIN, text, ANSWERS_INDENT, column);
}

static bool cites(const bj_answer *answer, const char *id) {
    for (size_t i = 0; i < answer->evidence_count; i++)
        if (strcmp(answer->evidence[i], id) == 0)
            return true;
    return false;
}

static void print_answers(FILE *out, const bj_profile *profile, const bj_curve *curve, const bj_terminal_style *style) {
    char *text = NULL;
    size_t length = 0;
    bj_text_stream stream;
    if (bj_base_open_text_stream(&stream, NULL) != BJ_OK) {
        bj_base_note_no_memory();
        return;
    }
    bool is_first = true;
    for (size_t i = 0; i < profile->answers.count; i++)
        if (cites(&profile->answers.items[i], curve->id)) {
            fprintf(stream.out, "%s%s", is_first ? "" : ", ", profile->answers.items[i].key);
            is_first = false;
        }
    if (bj_base_close_text_stream(&stream, &text, &length, NULL) != BJ_OK)
        bj_base_note_no_memory();
    else if (length > 0)
        print_line(out, style, "evidence of", text);
    free(text);
}

static void print_attributes(FILE *out, const bj_curve *curve, const bj_terminal_style *style) {
    for (size_t i = 0; i < curve->attribute_count; i++) {
        const bj_attribute *attribute = &curve->attributes[i];
        char number[BJ_NUMBER_ROOM];
        bj_data_format_number(attribute->number, number);
        print_line(out, style, attribute->name, attribute->text[0] != '\0' ? attribute->text : number);
    }
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_number(bj_table *table, double value) {
    char text[BJ_NUMBER_ROOM];
    bj_data_format_number(bj_data_round_number(value, SHOWN_DIGITS), text);
    bj_report_add_cell(table, "%s", text);
}

/* `sorted` has room for all rounds. */
static void add_point(bj_table *table, const bj_curve *curve, size_t point, double *sorted) {
    size_t count = 0;
    for (size_t r = 0; r < curve->round_count; r++)
        if (isfinite(curve->rounds[r][point]))
            sorted[count++] = curve->rounds[r][point];
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    char x[BJ_NUMBER_ROOM];
    bj_data_format_number(curve->x[point], x);
    bj_report_add_cell(table, "%s", x);
    for (int i = 0; i < 3; i++)
        if (count == 0)
            bj_report_add_cell(table, "-");
        else
            add_number(table, i == 0   ? (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
                              : i == 1 ? sorted[0]
                                       : sorted[count - 1]);
    bj_report_add_cell(table, "%zu", count);
}

static bj_status print_points(FILE *out, const bj_curve *curve, const bj_terminal_style *style, bj_error *error) {
    char x_title[64];
    snprintf(x_title, sizeof x_title, "%s [%s]", curve->x_name, curve->x_unit);
    const bj_table_column columns[] = {
        {.title = x_title, .right = true},    {.title = "median", .right = true}, {.title = "least", .right = true},
        {.title = "greatest", .right = true}, {.title = "rounds", .right = true},
    };
    bj_table table = {.columns = columns, .column_count = COUNT(columns)};
    double *sorted = calloc(curve->round_count + 1, sizeof *sorted);
    if (sorted == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    for (size_t i = 0; i < curve->x_count; i++)
        add_point(&table, curve, i, sorted);
    free(sorted);
    bj_status status = bj_report_write_table(out, &table, BJ_TABLE_TEXT, style, error);
    bj_report_free_table(&table);
    return status;
}

bj_status bj_report_print_curve(FILE *out, const bj_profile *profile, const bj_curve *curve,
                                const bj_terminal_style *style, bj_error *error) {
    char text[160];
    bj_report_print_wrapped(out, style, BJ_INK_STRONG, curve->id, 0, 0);
    snprintf(text, sizeof text, "%s [%s] against %s [%s]", curve->y_name, curve->y_unit, curve->x_name, curve->x_unit);
    print_line(out, style, "samples", text);
    print_line(out, style, "probe", curve->probe);
    print_attributes(out, curve, style);
    print_answers(out, profile, curve, style);
    putc('\n', out);
    if (curve->x_count > 0)
        return print_points(out, curve, style, error);
    fputs("no samples\n", out);
    return BJ_OK;
}

/* ---- for other programs */

/* "working_set_bytes": letters and digits that every reader takes; a profile may hold any. */
static void write_title(FILE *out, const char *name, const char *unit, char end) {
    char title[64];
    snprintf(title, sizeof title, "%s%s%s", name, unit[0] != '\0' ? "_" : "", unit);
    for (char *at = title; *at != '\0'; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        putc(plain ? *at : '_', out);
    }
    putc(end, out);
}

void bj_report_write_samples(FILE *out, const bj_curve *curve, bool y_first) {
    if (y_first)
        write_title(out, curve->y_name, curve->y_unit, ',');
    write_title(out, curve->x_name, curve->x_unit, ',');
    if (!y_first)
        write_title(out, curve->y_name, curve->y_unit, ',');
    fputs("round\n", out);
    for (size_t r = 0; r < curve->round_count; r++)
        for (size_t i = 0; i < curve->x_count; i++) {
            char x[BJ_NUMBER_ROOM], y[BJ_NUMBER_ROOM];
            if (!isfinite(curve->rounds[r][i]))
                continue;
            bj_data_format_number(curve->x[i], x);
            bj_data_format_number(curve->rounds[r][i], y);
            fprintf(out, "%s,%s,%zu\n", y_first ? y : x, y_first ? x : y, r + 1);
        }
}
