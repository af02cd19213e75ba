/* What a key's answers promise, for commands that hold answers against each other. */
#pragma once

#include "report/compare.h"

/* As the probe that provides the key says; all zero: none does. */
bj_tolerance bj_cli_find_tolerance(const char *key);
