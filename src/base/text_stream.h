/* A stream that writes into memory. Unlike open_memstream(), which drops what it finds no memory for, it says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

typedef struct {
    FILE *out;
    char *text;
    size_t length, room;
    bool failed;
} bj_text_stream;

/* `stream` must stay where it is until it is closed. */
bj_status bj_base_open_text_stream(bj_text_stream *stream, bj_error *error) BJ_WARN_UNUSED;
/* The text, NUL-terminated, is the caller's to free; NULL after a failure. */
bj_status bj_base_close_text_stream(bj_text_stream *stream, char **text, size_t *length,
                                    bj_error *error) BJ_WARN_UNUSED;
