/* Which curves are drawn, and their points. */
#pragma once

#include "profile/profile.h"

enum { BJ_PLOT_SERIES = 4 };

typedef struct {
    const bj_curve *curve;
    double *x, *y; /* medians of the rounds, where there are any; ascending in x */
    size_t count;
    bool scatters; /* no line, but a cloud of points */
} bj_plot_series;

typedef struct {
    bj_plot_series items[BJ_PLOT_SERIES]; /* all with the same axes */
    size_t count;
    size_t left_out; /* other curves of the probe that could be drawn */
} bj_plot_choice;

/* Of a probe: the curve that most answers cite, with others that are cited and have the same axes; where there are more
 * than can be told apart, the one alone that changes most. BJ_ERR_FAILED: nothing has two points. On failure nothing is
 * left to free. */
bj_status bj_report_choose_series(const bj_profile *profile, const char *what, bj_plot_choice *choice,
                                  bj_error *error) BJ_WARN_UNUSED;
void bj_report_free_series(bj_plot_choice *choice);
/* Whether the answer says that it was found in that curve. */
bool bj_report_cites(const bj_answer *answer, const bj_curve *curve);
