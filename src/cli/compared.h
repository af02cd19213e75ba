/* The two profiles of `compare` where fewer than two are named: the default one, and the newest of those before it. */
#pragma once

#include "cli/cli.h"

typedef struct {
    bj_cli_arguments arguments; /* those that were given, with both operands */
    const char *operands[2];
    char *found[2]; /* owned */
} bj_cli_compared;

/* One operand is compared with the default profile; with none it is the newest profile before it. More stay as they
 * are. Lives as long as `given` and until it is freed, also after a failure. */
bj_status bj_cli_complete_compared(const bj_cli_arguments *given, bj_cli_compared *compared,
                                   bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_compared(bj_cli_compared *compared);
