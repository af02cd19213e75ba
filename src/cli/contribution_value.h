/* Structured answers without names of a host: for contribution.h. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* JSON text, replaced by one that has only members and texts that probes write; `lost` counts what went. */
bj_status bj_cli_strip_value(char **structured, size_t *lost, bj_error *error) BJ_WARN_UNUSED;
