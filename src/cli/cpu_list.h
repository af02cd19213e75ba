/* Lists of cpus as people write them: "0,2-3". */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* In the order written, repetitions once; each must be among `allowed`. *cpus is the caller's to free. */
bj_status bj_cli_parse_cpus(const char *text, const int *allowed, size_t allowed_count, int **cpus, size_t *count,
                            bj_error *error) BJ_WARN_UNUSED;
