/* Text on a terminal: safe, wrapped, coloured. */
#pragma once

#include "report/terminal.h"

/* Of a terminal that does not say how wide it is. */
#define BJ_TERMINAL_COLUMNS 80u

typedef enum { BJ_INK_PLAIN, BJ_INK_STRONG, BJ_INK_GOOD, BJ_INK_DOUBTFUL, BJ_INK_BAD, BJ_INK_FAINT } bj_ink;

/* Control characters become '?', and so does what is not ASCII where the terminal is not UTF-8: a profile may come
 * from anywhere. Padded with blanks to `width` columns (0: not at all). */
void bj_report_print_text(FILE *out, const bj_terminal_style *style, bj_ink ink, const char *text, size_t width);
/* How many columns the text takes. */
size_t bj_report_count_columns(const char *text);
/* The columns that the terminal has. */
size_t bj_report_find_width(const bj_terminal_style *style);
/* Wrapped between `indent` and the last column; the cursor is at `column` already. Ends with a newline. */
void bj_report_print_wrapped(FILE *out, const bj_terminal_style *style, bj_ink ink, const char *text, size_t indent,
                             size_t column);
/* How a confidence is coloured. */
bj_ink bj_report_choose_ink(bj_confidence confidence);
/* Three digits and the unit as people say it: "48 KiB", "3.71 ns", "8 ways"; text has room for 48. */
void bj_report_format_quantity(double value, const char *unit, char *text);
/* "46.8..49.5 KiB", or one number where both ends look the same; "" where there is none. */
void bj_report_format_interval(const bj_answer *answer, char *text, size_t room);
/* Two values with the unit of bytes said once where it is the same: "46.8..49.5 KiB" with ".." between. */
void bj_report_format_range(const double range[2], const char *unit, const char *between, char *text, size_t room);
