/* What the system says of transparent huge pages. Private to this room. */
#pragma once

#include <stddef.h>

/* "always", "madvise" or "never"; "none" where the system has no transparent huge pages. */
void bj_platform_read_huge_mode(const char *root, char *mode, size_t room);
/* Bytes of one; 0 where there are none or none are granted. */
size_t bj_platform_read_huge_bytes(const char *root);
