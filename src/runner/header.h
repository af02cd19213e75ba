/* What a profile says of the run before anything is measured: tool, system, what may disturb. */
#pragma once

#include "machine/machine.h"
#include "profile/profile.h"
#include "runner/runner.h"

/* Replaces tool, run and environment of the profile but for the arguments, and leaves what was measured. For a
 * simulated machine nothing depends on this one or on the time, so that profiles of one seed are byte-identical. */
/* That the probe was measured now, by this version. */
void bj_runner_date_record(const bj_machine *machine, bj_probe_record *record);
bj_status bj_runner_fill_header(const bj_machine *machine, const bj_run_plan *plan, bj_profile *profile,
                                bj_error *error) BJ_WARN_UNUSED;
/* NULL beyond the last. */
const char *bj_runner_effort_name(bj_effort effort);
/* False: none has that name. */
bool bj_runner_parse_effort(const char *name, bj_effort *effort);
