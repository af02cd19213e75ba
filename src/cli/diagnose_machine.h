/* What `diagnose` has to know of the machine before it begins. */
#pragma once

#include "cli/cli.h"
#include "cli/diagnose_output.h"
#include "machine/machine.h"

/* The chip, of the `cpus` that may be used, its peaks and its useful streams: from the profile that is named, else the
 * default one, else what is needed is measured. */
bj_status bj_cli_know_chip(const bj_cli_arguments *arguments, bj_machine *machine, const int *cpus, size_t cpu_count,
                           bj_cli_diagnosis *d, bj_error *error) BJ_WARN_UNUSED;
