/* The operations of a profile as a table: three answers a line where each would take one of its own. */
#pragma once

#include "report/terminal.h"

/* Whether the key is "op.<type>.<operation>." and one of the table's columns. */
bool bj_report_is_operation(const char *key);
/* The line of that answer's operation, where it is the first of its answers; a head before the first line. */
void bj_report_print_operation(FILE *out, const bj_profile *profile, const bj_terminal_style *style, size_t answer);
