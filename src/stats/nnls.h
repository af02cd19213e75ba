/* Non-negative least squares of a few columns: which mixture of causes, none of them negative, explains best what was
 * seen. Exact: every subset of the columns is tried (Lawson and Hanson's conditions single one of them out). */
#pragma once

#include <stddef.h>

enum { BJ_NNLS_COLUMNS = 6, BJ_NNLS_ROWS = 32 };

/* matrix: row by row. At most so many rows and columns as above, all values finite. Columns of nothing get 0. */
void bj_stats_solve_nonnegative(const double *matrix, const double *seen, size_t rows, size_t columns,
                                double *solution);
/* How much worse than the best-told mixture the worst-told one is told: the ratio of the extreme singular values, of
 * the columns scaled to the same length. INFINITY where one is a mixture of the others; 1 of a single column. */
double bj_stats_find_condition(const double *matrix, size_t rows, size_t columns);
