/* Timings as a table, JSON or CSV, on standard output. */
#pragma once

#include "cli/time_child.h"

bj_status bj_cli_print_timings(const bj_time_results *results, bj_error *error) BJ_WARN_UNUSED;
