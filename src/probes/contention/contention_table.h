/* Somebody's table of rates (`blackjack analyze contention`). */
#pragma once

#include "data/answer.h"
#include "data/curve.h"

#define CONTENTION_TABLE "contention.table"

/* The rows of a table as samples of the probe; none where nothing says what a cpu gets alone: neither the diagonal nor
 * memory.read_gbs among the earlier answers. */
bj_status bj_contention_file_table(const bj_curves *rows, const bj_answers *earlier, bj_curves *samples,
                                   bj_error *error) BJ_WARN_UNUSED;
