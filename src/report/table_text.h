/* A table of texts, written for a terminal, as Markdown or as CSV. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "report/terminal.h"

typedef enum { BJ_TABLE_TEXT, BJ_TABLE_MARKDOWN, BJ_TABLE_CSV } bj_table_format;
/* False when the name ("text", "markdown", "csv") is none of ours. */
bool bj_report_parse_table_format(const char *name, bj_table_format *format);

typedef struct {
    const char *title; /* not copied */
    bool right;        /* aligned so, for numbers */
    bool remark; /* on a terminal it stands below the row, wrapped, where it is not empty; only of the last column */
} bj_table_column;

/* Zeroed but for the columns; cells are added row by row. */
typedef struct {
    const bj_table_column *columns;
    size_t column_count;
    char **cells;
    size_t count, room;
    bool failed; /* out of memory: bj_report_write_table() says so */
} bj_table;

/* The next cell. Control characters become '?': a profile may come from anywhere. */
void bj_report_add_cell(bj_table *table, const char *format, ...) BJ_PRINTF(2, 3);
/* The columns of a terminal that the rows take, remarks aside. */
size_t bj_report_measure_table(const bj_table *table);
/* Writes all rows below their titles. Write errors are the caller's to find on `out`; `style` is of the terminal, and
 * may be NULL for the other formats. */
bj_status bj_report_write_table(FILE *out, const bj_table *table, bj_table_format format,
                                const bj_terminal_style *style, bj_error *error) BJ_WARN_UNUSED;
void bj_report_free_table(bj_table *table);
