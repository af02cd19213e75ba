#include "cli/stop.h"

#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t stop_signal;
static struct timespec first_interrupt;
static const char *last_words;

/* SIGXCPU is the warning of `ulimit -t` before it kills. */
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { STOP_SIGNALS = sizeof stop_signals / sizeof stop_signals[0], PATIENCE_S = 1 };

/* What was to end did not: a thread hangs, or a clock stands still. Journals are always whole. */
static void end_at_once(int number) {
    (void)number;
    if (bj_cli_await_reader(0))
        (void)!write(STDERR_FILENO, last_words, strlen(last_words));
    _exit(BJ_EXIT_INTERRUPTED);
}

/* A second SIGINT at once may be a key held down, or timeout(1) signalling process and group; two seconds later it ends
 * us, which loses nothing: journals are always whole. */
static void note_signal(int number) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (number == SIGINT && stop_signal && now.tv_sec - first_interrupt.tv_sec >= 2) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    if (!stop_signal) {
        first_interrupt = now;
        stop_signal = number;
        if (last_words != NULL)
            alarm(PATIENCE_S);
    }
}

void bj_cli_catch_signals(void) {
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        /* SA_RESTART: a signal must not break the writing of a journal. */
        struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, old;
        sigemptyset(&action.sa_mask);
        /* What we were started to ignore (nohup, a shell's &) stays ignored. */
        if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        sigaction(stop_signals[i], &action, NULL);
    }
}

void bj_cli_end_soon(const char *words) {
    struct sigaction action = {.sa_handler = end_at_once};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    last_words = words;
}

void bj_cli_release_signals(void) {
    if (last_words != NULL) {
        alarm(0);
        signal(SIGALRM, SIG_DFL);
        last_words = NULL;
    }
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        struct sigaction old;
        if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler == note_signal)
            signal(stop_signals[i], SIG_DFL);
    }
}

const volatile sig_atomic_t *bj_cli_stop_flag(void) {
    return &stop_signal;
}

bool bj_cli_is_stopped(void *context) {
    (void)context;
    return stop_signal != 0;
}
