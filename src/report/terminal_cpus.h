/* What a structured answer about cpus says in detail, below its line. */
#pragma once

#include "report/terminal.h"

/* For answers that bj_report_sum_up() knows; nothing where one line says all. */
void bj_report_print_cpu_details(FILE *out, const bj_profile *profile, const bj_terminal_style *style,
                                 const bj_answer *answer, size_t indent);
