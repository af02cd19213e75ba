/* What a run says on standard error while it goes on. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/runner.h"

typedef struct {
    bool quiet;
    bool terminal; /* a bar, redrawn; otherwise a line at the start and end of each probe */
    const volatile sig_atomic_t *stop;
    size_t probes, late_rounds; /* whose start was told */
    double started_s;           /* of the last one, by the run's clock */
    uint64_t drawn_ns;          /* when the bar was last drawn */
    bool bar_shown;
} bj_cli_progress;

void bj_cli_start_progress(bj_cli_progress *progress, bool quiet, const volatile sig_atomic_t *stop);
/* For bj_run_plan.report, with the above as context. */
bool bj_cli_report_progress(void *context, const bj_progress *news);
/* Takes the bar away. */
void bj_cli_end_progress(bj_cli_progress *progress);
/* "12 s", "3 min", "1 h 20 min". */
void bj_cli_format_duration(double seconds, char *text, size_t room);
