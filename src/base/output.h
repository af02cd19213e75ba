/* Files that are written: the one way for all writers.
 *
 * Opening finds the place (base/place.h) and whether it may be written, before any work is done; writing puts a new
 * file there whole, by a temporary one beside it, fsync and rename: a reader sees the old file or the new one, never
 * half. What is not to be replaced is not replaced either when it appears between the two. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct bj_output bj_output;

typedef struct {
    bool replace;          /* what is there; otherwise it is refused */
    const char *otherwise; /* what the user can do about an existing file, for messages; NULL: nothing */
    size_t trial_bytes;    /* tries whether the folder takes a file of that size; 0: no trial */
    bool is_alone;         /* the file is written again and again: a second writer is refused as long as it is open */
} bj_output_rules;

/* BJ_ERR_USAGE: it exists and is not to be replaced, or is a folder. Named pipes are refused, since they may wait for
 * ever; other things that are no regular files (/dev/null, an open pipe) are written directly, block devices only with
 * `replace`. With a trial, also removes what killed writers of that very file left. */
bj_status bj_base_open_output(const char *path, const bj_output_rules *rules, bj_output **output,
                              bj_error *error) BJ_WARN_UNUSED;
/* Whether it is a regular file or becomes one, which may be written again. */
bool bj_base_output_is_file(const bj_output *output);
const char *bj_base_output_path(const bj_output *output);
/* A new file gets the mode that the umask gives, one that replaces another that one's owner and mode; until all is
 * written it is ours alone (0600). Refuses to replace what another writer has put there since. A writer that is killed
 * may leave ".blackjack-….tmp" in the folder. */
bj_status bj_base_write_output(bj_output *output, const char *text, size_t length, bj_error *error) BJ_WARN_UNUSED;
/* NULL does nothing. */
void bj_base_close_output(bj_output *output);
/* All three, replacing what is there. */
bj_status bj_base_write_file_atomically(const char *path, const char *text, size_t length,
                                        bj_error *error) BJ_WARN_UNUSED;
