/* Signals that ask a command to end in good order: to keep what it has, and to leave no child and no folder behind. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* From here on SIGINT, SIGTERM, SIGHUP and SIGXCPU only raise the flag; one that we were started to ignore (nohup, &)
 * stays so. */
void bj_cli_catch_signals(void);
/* They end us again, also while we wait for a reader of our output. */
void bj_cli_release_signals(void);
/* Until then, a signal to stop that is not followed within a second ends the process with these words, a whole line,
 * and BJ_EXIT_INTERRUPTED. They must stay where they are. */
void bj_cli_end_soon(const char *words);
/* The number of the first signal, 0 before. The pointer is for whoever looks often. */
const volatile sig_atomic_t *bj_cli_stop_flag(void);
/* The same as a callback; `context` is not used. */
bool bj_cli_is_stopped(void *context);
