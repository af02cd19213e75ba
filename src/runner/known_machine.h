/* What is known of this machine: the default profile, or else a quick look at its caches. */
#pragma once

#include "profile/profile.h"
#include "runner/runner.h"

/* Reads `path`, or where that is NULL the default profile, or where there is none measures the caches and lines with
 * little effort. *measured tells. `announce` (may be NULL) is called before it measures, which takes a minute or so;
 * `report` and `context` are those of a run. The profile must be initialised. */
bj_status bj_runner_know_machine(const char *path, void (*announce)(void), bool (*report)(void *, const bj_progress *),
                                 void *context, bj_profile *profile, bool *measured, bj_error *error) BJ_WARN_UNUSED;
