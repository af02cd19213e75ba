#include "cli/diagnose_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "platform/clock.h"

/* A log gets a line at each tenth of the trials, but none of what is over at once. */
enum { TENTH = 10, BLANKS = 60 };
static const uint64_t LINE_EVERY_NS = 2000000000u;

void bj_cli_open_trials(bj_cli_diagnose_progress *progress, bool quiet) {
    *progress = (bj_cli_diagnose_progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1};
}

void bj_cli_begin_trials(bj_cli_diagnose_progress *progress, const char *doing) {
    snprintf(progress->doing, sizeof progress->doing, "%s", doing);
    progress->percent = 0;
    progress->begun_ns = progress->told_ns = bj_platform_read_ns();
}

bool bj_cli_report_trials(void *context, double fraction) {
    bj_cli_diagnose_progress *progress = context;
    int percent = (int)(100 * fraction);
    uint64_t now = bj_platform_read_ns();
    char left[40];
    bool due = progress->terminal
                   ? percent != progress->percent
                   : percent / TENTH > progress->percent / TENTH && now - progress->told_ns >= LINE_EVERY_NS;
    if (!progress->quiet && due) {
        double seconds = (double)(now - progress->begun_ns) * 1e-9;
        bj_cli_format_duration(seconds * (1 / fraction - 1), left, sizeof left);
        fprintf(stderr, progress->terminal ? "\r%s: %d%%, about %s left   " : "blackjack: %s: %d%%, about %s left\n",
                progress->doing, percent, left);
        progress->percent = percent;
        progress->told_ns = now;
    }
    return bj_cli_is_stopped(NULL);
}

void bj_cli_end_trials(bj_cli_diagnose_progress *progress) {
    if (progress->terminal && !progress->quiet)
        fprintf(stderr, "\r%*s\r", BLANKS, "");
}
