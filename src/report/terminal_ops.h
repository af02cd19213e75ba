/* The operations of a profile as grids: a row a type, a column an operation, where each answer would take a line. */
#pragma once

#include "report/terminal.h"

/* Whether the key is "op.<type>.<operation>." and one of the grids' quantities. */
bool bj_report_is_operation(const char *key);
/* Latency, throughput and in flight of all operations that the probe answered for. */
void bj_report_print_operations(FILE *out, const bj_profile *profile, const bj_terminal_style *style,
                                const char *probe);
