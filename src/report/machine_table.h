/* Machines beside each other: one row a key, one column a machine. */
#pragma once

#include "profile/profile.h"
#include "report/table_text.h"

typedef struct {
    const bj_profile *profiles;
    const char *const *names; /* of the columns */
    size_t count;
    const char *const *keys; /* or patterns as of the shell, in the order of the rows */
    size_t key_count;        /* 0: the ones that a person asks for first */
} bj_machine_table;

/* People get quantities with a mark behind those that are not `high`; a table that is wider than the terminal comes in
 * parts. CSV has every number whole and, beside each machine, how sure it is of it. BJ_ERR_USAGE: a key or pattern that
 * no profile has. `style` as of bj_report_write_table(). */
bj_status bj_report_write_machine_table(FILE *out, const bj_machine_table *machines, bj_table_format format,
                                        const bj_terminal_style *style, bj_error *error) BJ_WARN_UNUSED;
