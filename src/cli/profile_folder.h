/* Folders of profiles, one of each machine. */
#pragma once

#include "profile/profile.h"

/* Names of the files in it that are called as profiles are, *.json and *.json.gz, in their order. The caller frees, in
 * any case. */
bj_status bj_cli_list_profiles(const char *folder, bj_strings *names, bj_error *error) BJ_WARN_UNUSED;
