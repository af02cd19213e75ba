/* What a profile says of the run before anything is measured: tool, arguments, system, what may disturb. */
#ifndef BJ_CLI_RUN_HEADER_H
#define BJ_CLI_RUN_HEADER_H

#include "cli/cli.h"
#include "machine/machine.h"
#include "profile/profile.h"
#include "runner/runner.h"

/* Replaces tool, run and environment of the profile, and leaves what was measured. For a simulated machine nothing
 * depends on this one or on the time, so that profiles of one seed are byte-identical. */
bj_status bj_cli_fill_header(const bj_cli_arguments *arguments, const bj_machine *machine, const bj_run_plan *plan,
                             bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
const char *bj_cli_effort_name(bj_effort effort);

#endif
