/* Curves for a person, and their samples for other programs. */
#pragma once

#include "report/table_text.h"

/* One row a curve: id, probe, points, rounds. */
bj_status bj_report_list_curves(FILE *out, const bj_curves *curves, const bj_terminal_style *style,
                                bj_error *error) BJ_WARN_UNUSED;
/* What the curve is, which answers cite it, and for each x what the rounds gave. */
bj_status bj_report_print_curve(FILE *out, const bj_profile *profile, const bj_curve *curve,
                                const bj_terminal_style *style, bj_error *error) BJ_WARN_UNUSED;
/* Rows "x,y,round", one a sample, by rounds from 1: the first two columns are what `analyze` reads. `y_first`: rows
 * "y,x,round", for probes whose tables have one column. */
void bj_report_write_samples(FILE *out, const bj_curve *curve, bool y_first);
