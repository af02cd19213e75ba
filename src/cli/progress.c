#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "platform/clock.h"

/* Often enough to look alive; drawing must not become work between two measurements. */
#define DRAW_EVERY_NS 200000000u
#define BAR_WIDTH 30
#define LINE_PATIENCE_MS 1000
#define STEP_ROOM 80

void bj_cli_start_progress(bj_cli_progress *progress, bool quiet, const volatile sig_atomic_t *stop) {
    const char *terminal = getenv("TERM");
    *progress = (bj_cli_progress){.quiet = quiet, .stop = stop};
    progress->terminal = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void bj_cli_format_duration(double seconds, char *text, size_t room) {
    if (!(seconds < 1e9))
        snprintf(text, room, "a long time");
    else if (seconds < 1)
        snprintf(text, room, "1 s");
    else if (seconds < 100)
        snprintf(text, room, "%.0f s", seconds);
    else if (seconds < 100 * 60)
        snprintf(text, room, "%.0f min", seconds / 60);
    else
        snprintf(text, room, "%.0f h %.0f min", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
}

/* "tlb (8 of 13)", or "late rounds (1 of 3)" of all probes. */
static void name_step(const bj_progress *news, char *text, size_t room) {
    if (news->late_round > 0)
        snprintf(text, room, "late rounds (%u of %u)", news->late_round, news->late_rounds);
    else
        snprintf(text, room, "%s (%zu of %zu)", news->probe, news->index + 1, news->count);
}

static void draw_bar(bj_cli_progress *progress, const bj_progress *news) {
    uint64_t now = bj_platform_read_ns();
    if (progress->bar_shown && now - progress->drawn_ns < DRAW_EVERY_NS)
        return;
    if (!bj_cli_await_reader(0))
        return;
    progress->drawn_ns = now;
    progress->bar_shown = true;
    double whole = news->elapsed_s + news->remaining_s;
    double share = whole > 0 ? news->elapsed_s / whole : 0;
    int filled = (int)(share * BAR_WIDTH);
    char bar[BAR_WIDTH + 1], left[40], step[STEP_ROOM];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    bj_cli_format_duration(news->remaining_s, left, sizeof left);
    name_step(news, step, sizeof step);
    fprintf(stderr, "\r[%s] %3.0f%%  %s, about %s left\x1b[K", bar, floor(share * 100), step, left);
    fflush(stderr);
}

/* Whether this is the first news of a probe, or of a late round. */
static bool begin_step(bj_cli_progress *progress, const bj_progress *news) {
    bool is_late = news->late_round > 0;
    size_t position = is_late ? news->late_round : news->index + 1;
    size_t *told = is_late ? &progress->late_rounds : &progress->probes;
    if (position <= *told)
        return false;
    *told = position;
    progress->started_s = news->elapsed_s;
    return true;
}

static void print_line(bj_cli_progress *progress, const bj_progress *news) {
    bool begins = begin_step(progress, news);
    if ((!begins && !news->probe_done) || !bj_cli_await_reader(LINE_PATIENCE_MS))
        return;
    char left[40], step[STEP_ROOM];
    name_step(news, step, sizeof step);
    if (news->probe_done && news->outcome == BJ_ANSWER_UNDETERMINED) {
        fprintf(stderr, "blackjack: %s: no time left, not measured\n", step);
    } else if (news->probe_done && news->outcome != BJ_ANSWER_OK) {
        fprintf(stderr, "blackjack: %s: %s, %.200s\n", step, bj_data_name_status(news->outcome), news->reason);
    } else if (news->probe_done) {
        fprintf(stderr, "blackjack: %s: done in %.1f s\n", step, news->elapsed_s - progress->started_s);
    } else {
        bj_cli_format_duration(news->remaining_s, left, sizeof left);
        fprintf(stderr, "blackjack: %s: begins, about %s left in all\n", step, left);
    }
}

bool bj_cli_report_progress(void *context, const bj_progress *news) {
    bj_cli_progress *progress = context;
    if (!progress->quiet && progress->terminal)
        draw_bar(progress, news);
    else if (!progress->quiet)
        print_line(progress, news);
    return *progress->stop != 0;
}

void bj_cli_end_progress(bj_cli_progress *progress) {
    if (progress->bar_shown && bj_cli_await_reader(LINE_PATIENCE_MS))
        fputs("\r\x1b[K", stderr);
    progress->bar_shown = false;
}
