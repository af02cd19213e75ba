#include "cli/stop.h"

#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t stop_signal;
static struct timespec first_interrupt;

/* SIGXCPU is the warning of `ulimit -t` before it kills. */
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { STOP_SIGNALS = sizeof stop_signals / sizeof stop_signals[0] };

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
    }
}

void bj_cli_catch_signals(void) {
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        /* SA_RESTART: a signal must not break the writing of a journal. */
        struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, old;
        sigemptyset(&action.sa_mask);
        if (stop_signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        sigaction(stop_signals[i], &action, NULL);
    }
}

void bj_cli_release_signals(void) {
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
