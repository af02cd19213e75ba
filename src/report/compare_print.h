/* A comparison for a person, and for a program. */
#pragma once

#include "report/compare.h"
#include "report/terminal.h"

/* Write errors are the caller's to find on `out`. */
void bj_report_print_comparison(FILE *out, const bj_comparison *comparison, const bj_terminal_style *style);
/* {"verdict": "same" | "different", "compared", "profiles": [N, M], "other_machine", "differences": [...], "doubtful":
 * [...], "notes": [...]}; *text is the caller's to free. */
bj_status bj_report_comparison_to_json(const bj_comparison *comparison, char **text, bj_error *error) BJ_WARN_UNUSED;
