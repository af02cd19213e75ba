/* Sizes that depend on n: 8*n, 4*(n+1)*n. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Whole numbers, n, + - * / and brackets. BJ_ERR_USAGE: not that, a division by zero, below zero or too large; `what`
 * is put in front. *uses_n (may be NULL) is set where n stands in it. */
bj_status bj_cli_evaluate_size(const char *what, const char *text, size_t length, uint64_t n, uint64_t *value,
                               bool *uses_n, bj_error *error) BJ_WARN_UNUSED;
