/* A probe's curves drawn in a terminal, with the answers that were found in them. */
#pragma once

#include "profile/profile.h"
#include "report/terminal.h"

/* `what` is a probe, whose most telling curves are drawn, or the id of one curve; about 24 lines. Each point is the
 * median of its rounds; answers stand at their x, or at the right at their y. Without UTF-8 all of it is ASCII.
 * BJ_ERR_FAILED: there is nothing that could be drawn. Write errors are the caller's to find on `out`. */
bj_status bj_report_plot(FILE *out, const bj_profile *profile, const char *what, const bj_terminal_style *style,
                         bj_error *error) BJ_WARN_UNUSED;
