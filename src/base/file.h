/* Files: read whole with a limit. They are written by base/output.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Writes all to an open file; 0, or the errno. */
int bj_base_write_all(int descriptor, const char *bytes, size_t length);
/* The whole file, NUL-terminated; *text is the caller's to free. Refuses folders, named pipes and more than
 * max_bytes. */
bj_status bj_base_read_file(const char *path, size_t max_bytes, char **text, size_t *length,
                            bj_error *error) BJ_WARN_UNUSED;
