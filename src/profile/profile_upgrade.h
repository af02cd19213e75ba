/* Profiles of version 0.1 in the terms of today. */
#pragma once

#include "profile/profile.h"

/* Version 0.1 had neither the probe of an answer nor attributes of curves: some facts stood in names and in samples.
 * Gives each answer its probe and those curves their attributes. A profile of a later version stays as it is. */
bj_status bj_profile_upgrade(bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
