/* Lists of cpus as people write them: "0,2-3". */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "machine/machine.h"

/* In the order written, repetitions once; each must be among `allowed`. *cpus is the caller's to free. */
bj_status bj_cli_parse_cpus(const char *text, const int *allowed, size_t allowed_count, int **cpus, size_t *count,
                            bj_error *error) BJ_WARN_UNUSED;

/* The cpus that a command keeps a machine to. */
typedef struct {
    const int *all; /* the machine's own list, put back before it is closed */
    int *chosen;
} bj_cli_cpus;

/* `text` is the value of --cpus; NULL: all. */
bj_status bj_cli_keep_to_cpus(bj_machine *machine, const char *text, bj_cli_cpus *cpus, bj_error *error) BJ_WARN_UNUSED;
/* The machine may be NULL, and cpus not chosen yet. */
void bj_cli_close_machine(bj_machine *machine, bj_cli_cpus *cpus);
