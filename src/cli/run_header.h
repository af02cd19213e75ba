/* How a run was asked for, as its profile keeps it. */
#ifndef BJ_CLI_RUN_HEADER_H
#define BJ_CLI_RUN_HEADER_H

#include "cli/cli.h"
#include "profile/profile.h"

/* Replaces the arguments of the profile's run by those that have to do with what is measured. */
bj_status bj_cli_record_arguments(const bj_cli_arguments *arguments, bj_profile *profile,
                                  bj_error *error) BJ_WARN_UNUSED;

#endif
