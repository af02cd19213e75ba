/* Folders of profiles, one of each machine. */
#pragma once

#include "profile/profile.h"

/* Names of the files in it that are called as profiles are, *.json and *.json.gz, in their order. The caller frees, in
 * any case. */
bj_status bj_cli_list_profiles(const char *folder, bj_strings *names, bj_error *error) BJ_WARN_UNUSED;
/* What becomes of one file: its profile without samples, or why there is none (BJ_OK: there is one). Other than BJ_OK
 * ends the reading. */
typedef bj_status bj_cli_take_profile(void *context, const char *name, const bj_profile *profile, bj_status status,
                                      bj_error *error);
/* All of them, read by several threads and taken by the caller's in the order of their names. */
bj_status bj_cli_read_profiles(const char *folder, bj_cli_take_profile *take, void *context,
                               bj_error *error) BJ_WARN_UNUSED;
