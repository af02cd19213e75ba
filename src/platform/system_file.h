/* The small text files of /proc and /sys. Private to this room.
 *
 * Each takes the `root` of the callers' contracts: "" in production, a made-up tree in tests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL when it cannot be read; the text is the caller's to free. */
char *bj_platform_read_system_file(const char *root, const char *path);
/* The first line, without blanks around it; false (and "") when there is none. */
bool bj_platform_read_system_line(const char *root, const char *path, char *line, size_t room);
/* The first number after `name` at the beginning of a line, as in "MemTotal:  24 kB" or "nr_throttled 7". */
bool bj_platform_find_number(const char *text, const char *name, uint64_t *value);
