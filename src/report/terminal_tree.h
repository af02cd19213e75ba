/* A tree of cpus on a terminal. */
#pragma once

#include "profile/cpu_tree.h"
#include "report/terminal.h"

/* One line a part below `indent`, with its cpus as ranges and what separates it. Where that would be too many lines,
 * parts of one shape share one: "16 x 8 cpus: 0-7; 8-15; ...". No more than about thirty lines in any case. */
void bj_report_print_tree(FILE *out, const bj_terminal_style *style, const bj_cpu_node *tree, size_t indent);
/* A matrix with its rows named after cpus: those of `labels`, where there are as many. Where it is too wide, its range.
 */
void bj_report_print_matrix(FILE *out, const bj_terminal_style *style, const bj_cpu_matrix *matrix,
                            const bj_cpu_groups *labels, const char *unit, size_t indent);
