/* compare --table: machines beside each other. */
#pragma once

#include "cli/cli.h"

bj_status bj_cli_print_machine_table(const bj_cli_arguments *arguments, bj_error *error) BJ_WARN_UNUSED;
