/* Curves from CSV: x,y rows by position, or one column, as other people's tools write them. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* The costliest analysis takes two seconds for so many, some twenty for a million; nobody publishes longer curves. */
#define BJ_CSV_MAX_ROWS 100000u
/* Rows of long numbers and many columns; what is larger is not read at all. */
#define BJ_CSV_MAX_BYTES ((size_t)128 << 20)

typedef struct {
    double *x, *y;
    double *row; /* of a matrix only: x is the column, both from 0, and cells of a row come together */
    size_t count;
    size_t columns; /* of matrices: the row is round * columns + its number */
} bj_csv_rows;

/* What the rows hold: x and y; y alone, whose x is the number of the row, from 1; or cells of a square matrix or of its
 * lower triangle (whose first row may be missing) with nothing on the diagonal; or such matrices with their diagonal,
 * one below the other. A cell that is empty or 0 was not measured. */
typedef enum { BJ_CSV_PAIRS, BJ_CSV_SINGLES, BJ_CSV_MATRIX, BJ_CSV_MATRICES } bj_csv_kind;
#define BJ_CSV_MATRIX_MAX 1024u

/* '#' begins a comment, blank lines are skipped, one header line may come first, columns after those that are asked for
 * are ignored; LF or CRLF, a byte order mark is passed over. All numbers must lie
 * within what an analysis takes (data/number.h). "-" is standard input. Errors say FILE:LINE. */
bj_status bj_cli_read_csv(const char *path, bj_csv_kind kind, bj_csv_rows *rows, bj_error *error) BJ_WARN_UNUSED;
/* The same from text; `name` stands for the file in errors. */
bj_status bj_cli_parse_csv(const char *name, const char *text, size_t length, bj_csv_kind kind, bj_csv_rows *rows,
                           bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_csv(bj_csv_rows *rows);
