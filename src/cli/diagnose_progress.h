/* What `diagnose` says on standard error while it runs its trials. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    bool quiet, terminal; /* a terminal: a number that is written over; else a line now and then */
    char doing[64];
    int percent;                /* that was told */
    uint64_t begun_ns, told_ns; /* the trials; the last line */
} bj_cli_diagnose_progress;

void bj_cli_open_trials(bj_cli_diagnose_progress *progress, bool quiet);
/* The next ones, by the name that they are told with. */
void bj_cli_begin_trials(bj_cli_diagnose_progress *progress, const char *doing);
/* For bj_diagnose_request.report, with the above as context. */
bool bj_cli_report_trials(void *context, double fraction);
/* Takes the number away. */
void bj_cli_end_trials(bj_cli_diagnose_progress *progress);
