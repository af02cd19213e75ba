/* Where a file is to be written, found once: its folder is held open, and nothing that happens to the path afterwards
 * leads elsewhere. */
#pragma once

#include <limits.h>

#include "base/status.h"

typedef struct {
    int folder;              /* open for looking up; -1: the path names a stream */
    int stream;              /* the number of the open descriptor; -1: the path names a file */
    char name[NAME_MAX + 1]; /* in the folder, no link when it was looked at; "." where the path names a folder */
} bj_place;

/* The number of the open descriptor that a name like /dev/stdout stands for, else -1. These are used as they
 * are: opening the name anew would start at offset 0 over what was printed before, fails on sockets, and a
 * rename would leave the open descriptor with the old file. */
int bj_base_own_descriptor(const char *path);
/* Goes through the path name by name. Links are followed, also one that leads to a file which is not there yet, but for
 * those that somebody else may have planted: in a folder where everybody may make files (sticky, as /tmp), a link
 * counts if it is ours or of the folder's owner, as Linux has it with fs.protected_symlinks. */
bj_status bj_base_find_place(const char *path, bj_place *place, bj_error *error) BJ_WARN_UNUSED;
void bj_base_leave_place(bj_place *place);
/* The errno as a status, with the path and what was being done. */
bj_status bj_base_fail_file(bj_error *error, const char *path, const char *doing, int number);
