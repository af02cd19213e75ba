/* Text that is compressed as gzip does it, through zlib; a build without zlib refuses it and says why. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Whether the bytes begin as gzip's do. No JSON text does. */
bool bj_base_is_gzip(const char *bytes, size_t length);
/* Whether the name asks for it: it ends in ".gz". */
bool bj_base_names_gzip(const char *path);
/* The text, NUL-terminated, one member after the other; *text is the caller's to free. More than max_bytes of it, or
 * bytes that are cut short or damaged, are BJ_ERR_INPUT; `name` stands for the file in errors. */
bj_status bj_base_expand_gzip(const char *name, const char *bytes, size_t length, size_t max_bytes, char **text,
                              size_t *text_length, bj_error *error) BJ_WARN_UNUSED;
/* The same bytes for the same text, without a name or a date in them; *bytes is the caller's to free. */
bj_status bj_base_compress_gzip(const char *name, const char *text, size_t length, char **bytes, size_t *bytes_length,
                                bj_error *error) BJ_WARN_UNUSED;
