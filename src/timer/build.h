/* A kernel in C, compiled to a shared object. */
#pragma once

#include <stdbool.h>

#include "base/status.h"

typedef struct {
    const char *command;               /* compiler with flags, as a shell splits them; NULL: BJ_TIMER_COMPILER */
    const char *include;               /* folder that has blackjack/kernel.h; NULL: none */
    const char *folder;                /* where the object is to be */
    unsigned number;                   /* of this object in the folder */
    bool (*is_stopped)(void *context); /* NULL: never */
    void *context;
} bj_timer_build;

#define BJ_TIMER_COMPILER "cc -O2"

/* *library is the caller's to free. BJ_ERR_INPUT: what the compiler said, in one line; that `symbol` is not there; that
 * it has another signature. */
bj_status bj_timer_build_kernel(const bj_timer_build *build, const char *source, const char *symbol, char **library,
                                bj_error *error) BJ_WARN_UNUSED;
