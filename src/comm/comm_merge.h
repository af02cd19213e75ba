/* Several launches as one profile. */
#pragma once

#include "profile/profile.h"

/* Adds the rounds of `from`'s curves of the probe comm to those of `into`, as a spell of their own. The ranks must have
 * been on the same hosts and cpus. The caller analyses again. */
bj_status bj_comm_merge(const bj_profile *from, const char *name, bj_profile *into, bj_error *error) BJ_WARN_UNUSED;
