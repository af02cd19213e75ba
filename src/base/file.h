/* Files: read whole with a limit, write atomically. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Whether the path names a stream that is open already, such as /dev/stdout or /dev/fd/3. */
bool bj_base_is_stream(const char *path);
/* Writes all to an open file; 0, or the errno. */
int bj_base_write_all(int descriptor, const char *bytes, size_t length);
/* The whole file, NUL-terminated; *text is the caller's to free. Refuses folders, named pipes and more than
 * max_bytes. */
bj_status bj_base_read_file(const char *path, size_t max_bytes, char **text, size_t *length,
                            bj_error *error) BJ_WARN_UNUSED;
/* Temporary file in the same folder, fsync, rename: a reader sees the old file or the new one, never half.
 * Links are followed, and stay. Where the path is not a regular file (/dev/null, an open pipe), writes it directly;
 * refuses named pipes. A writer that is killed may leave ".blackjack-….tmp" in the folder. */
bj_status bj_base_write_file_atomically(const char *path, const char *text, size_t length,
                                        bj_error *error) BJ_WARN_UNUSED;
/* Before work whose result is to be written to the regular or new file `path`: tries whether its folder takes a file
 * of so many bytes, and removes what killed writers of that very file left there. */
bj_status bj_base_prepare_path(const char *path, size_t bytes, bj_error *error) BJ_WARN_UNUSED;
