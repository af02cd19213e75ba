#include "report/table_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/terminal_text.h"

enum { GAP = 2, REMARK_INDENT = 4 };

bool bj_report_parse_table_format(const char *name, bj_table_format *format) {
    static const char *const names[] = {"text", "markdown", "csv"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *format = (bj_table_format)i;
            return true;
        }
    return false;
}

void bj_report_add_cell(bj_table *table, const char *format, ...) {
    if (table->count == table->room) {
        size_t room = table->room == 0 ? 64 : table->room * 2;
        char **grown = realloc(table->cells, room * sizeof *grown);
        if (grown == NULL) {
            table->failed = true;
            return;
        }
        table->cells = grown;
        table->room = room;
    }
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        table->failed = true;
    else {
        bj_base_hide_controls(text);
        table->cells[table->count++] = text;
    }
    va_end(arguments);
}

void bj_report_free_table(bj_table *table) {
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->count = table->room = 0;
}

/* ---- on a terminal */

static size_t measure_column(const bj_table *table, size_t column) {
    size_t width = bj_report_count_columns(table->columns[column].title);
    for (size_t i = column; i < table->count; i += table->column_count) {
        size_t columns = bj_report_count_columns(table->cells[i]);
        width = columns > width ? columns : width;
    }
    return width;
}

static void print_row(FILE *out, const bj_table *table, const bj_terminal_style *style, const char *const *cells,
                      const size_t *widths, size_t shown) {
    bj_ink ink = cells == NULL ? BJ_INK_FAINT : BJ_INK_PLAIN;
    while (cells != NULL && shown > 1 && cells[shown - 1][0] == '\0') /* no blanks at the end of a line */
        shown--;
    for (size_t i = 0; i < shown; i++) {
        const char *text = cells == NULL ? table->columns[i].title : cells[i];
        size_t width = widths[i], used = bj_report_count_columns(text);
        bool right = table->columns[i].right;
        if (right)
            fprintf(out, "%*s", (int)(width - used), "");
        bj_report_print_text(out, style, ink, text, right || i + 1 == shown ? 0 : width);
        fprintf(out, "%*s", i + 1 < shown ? GAP : 0, "");
    }
    putc('\n', out);
}

static void print_remark(FILE *out, const bj_terminal_style *style, const char *remark) {
    if (remark[0] == '\0')
        return;
    fprintf(out, "%*s", REMARK_INDENT, "");
    bj_report_print_wrapped(out, style, BJ_INK_DOUBTFUL, remark, REMARK_INDENT, REMARK_INDENT);
}

size_t bj_report_measure_table(const bj_table *table) {
    size_t shown = table->column_count - table->columns[table->column_count - 1].remark, width = 0;
    for (size_t i = 0; i < shown; i++)
        width += measure_column(table, i) + (i > 0 ? GAP : 0);
    return width;
}

static bj_status print_text(FILE *out, const bj_table *table, const bj_terminal_style *style, bj_error *error) {
    size_t *widths = calloc(table->column_count, sizeof *widths);
    if (widths == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a table");
    bool remarks = table->columns[table->column_count - 1].remark;
    size_t shown = table->column_count - remarks;
    for (size_t i = 0; i < shown; i++)
        widths[i] = measure_column(table, i);
    print_row(out, table, style, NULL, widths, shown);
    for (size_t i = 0; i < table->count; i += table->column_count) {
        print_row(out, table, style, (const char *const *)table->cells + i, widths, shown);
        if (remarks)
            print_remark(out, style, table->cells[i + shown]);
    }
    free(widths);
    return BJ_OK;
}

/* ---- for other programs */

static void write_markdown_cell(FILE *out, const char *text) {
    fputs("| ", out);
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '\\')
            putc('\\', out);
        /* A key such as cache.L<n> would be taken for HTML. */
        if (*text == '<')
            fputs("&lt;", out);
        else
            putc(*text, out);
    }
    putc(' ', out);
}

static void write_markdown(FILE *out, const bj_table *table) {
    for (size_t i = 0; i < table->column_count; i++)
        write_markdown_cell(out, table->columns[i].title);
    fputs("|\n", out);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(table->columns[i].right ? "|---:" : "|---", out);
    fputs("|\n", out);
    for (size_t i = 0; i < table->count; i++) {
        write_markdown_cell(out, table->cells[i]);
        if ((i + 1) % table->column_count == 0)
            fputs("|\n", out);
    }
}

/* As RFC 4180 has it, but for the line ends, which are the system's. */
static void write_csv_cell(FILE *out, const char *text) {
    if (strpbrk(text, ",\"") == NULL) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void write_csv(FILE *out, const bj_table *table) {
    for (size_t i = 0; i < table->column_count; i++) {
        write_csv_cell(out, table->columns[i].title);
        putc(i + 1 < table->column_count ? ',' : '\n', out);
    }
    for (size_t i = 0; i < table->count; i++) {
        write_csv_cell(out, table->cells[i]);
        putc((i + 1) % table->column_count != 0 ? ',' : '\n', out);
    }
}

bj_status bj_report_write_table(FILE *out, const bj_table *table, bj_table_format format,
                                const bj_terminal_style *style, bj_error *error) {
    if (table->failed || table->count % table->column_count != 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a table");
    switch (format) {
    case BJ_TABLE_TEXT:
        return print_text(out, table, style, error);
    case BJ_TABLE_MARKDOWN:
        write_markdown(out, table);
        break;
    case BJ_TABLE_CSV:
        write_csv(out, table);
        break;
    }
    return BJ_OK;
}
