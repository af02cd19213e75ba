/* A profile that a run goes on with, or that is joined with another: of the same machine, or it is refused. */
#pragma once

#include "machine/machine.h"
#include "profile/profile.h"

/* Whether `former`, read from `path`, was measured where we are: processor, operating system, size of a page and, with
 * `same_cpus`, the cpus that may be used. What it does not tell is not compared. BJ_ERR_USAGE says what differs. */
bj_status bj_runner_check_former(const bj_machine *machine, const bj_profile *former, bool same_cpus, const char *path,
                                 bj_error *error) BJ_WARN_UNUSED;
/* The same of two profiles, but for the cpus. BJ_ERR_INPUT. */
bj_status bj_runner_check_same_host(const bj_profile *profile, const bj_profile *other, const char *path_of_other,
                                    bj_error *error) BJ_WARN_UNUSED;
/* Adds a warning for what the profile holds from other versions of this program. */
bj_status bj_runner_warn_of_versions(bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
