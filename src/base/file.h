/* Files: read whole with a limit, write atomically. */
#ifndef BJ_BASE_FILE_H
#define BJ_BASE_FILE_H

#include <stddef.h>

#include "base/status.h"

/* The whole file, NUL-terminated; *text is the caller's to free. Refuses directories and more than max_bytes. */
bj_status bj_base_read_file(const char *path, size_t max_bytes, char **text, size_t *length,
                            bj_error *error) BJ_WARN_UNUSED;
/* Temporary file in the same folder, fsync, rename: a reader sees the old file or the new one, never half.
 * Where the path is not a regular file (/dev/null, a pipe), writes it directly. */
bj_status bj_base_write_file_atomically(const char *path, const char *text, size_t length,
                                        bj_error *error) BJ_WARN_UNUSED;

#endif
