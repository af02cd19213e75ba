/* Answers as a table: for a person on a terminal or in Markdown, for other programs as CSV. */
#pragma once

#include "data/answer.h"
#include "report/table_text.h"

/* People get quantities as they say them ("48 KiB") and the reason where the status is not ok; CSV has every number
 * whole and a column for each field. `probe`: only its answers; NULL: all. `style` as of bj_report_write_table(). */
bj_status bj_report_write_answer_table(FILE *out, const bj_answers *answers, const char *probe, bj_table_format format,
                                       const bj_terminal_style *style, bj_error *error) BJ_WARN_UNUSED;
