/* Curves from CSV: x,y rows by position, or one column, as other people's tools write them. */
#pragma once

#include <stddef.h>

#include "base/status.h"

#define BJ_CSV_MAX_ROWS 1000000u
/* Rows of long numbers and many columns; what is larger is not read at all. */
#define BJ_CSV_MAX_BYTES ((size_t)128 << 20)

typedef struct {
    double *x, *y;
    size_t count;
} bj_csv_rows;

/* What the rows hold: x and y, or y alone, whose x is the number of the row, from 1. */
typedef enum { BJ_CSV_PAIRS, BJ_CSV_SINGLES } bj_csv_kind;

/* '#' begins a comment, blank lines are skipped, one header line may come first, columns after those that are asked for
 * are ignored; LF or CRLF, a byte order mark is passed over. All numbers must lie
 * within what an analysis takes (data/number.h). "-" is standard input. Errors say FILE:LINE. */
bj_status bj_cli_read_csv(const char *path, bj_csv_kind kind, bj_csv_rows *rows, bj_error *error) BJ_WARN_UNUSED;
/* The same from text; `name` stands for the file in errors. */
bj_status bj_cli_parse_csv(const char *name, const char *text, size_t length, bj_csv_kind kind, bj_csv_rows *rows,
                           bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_csv(bj_csv_rows *rows);
