/* What systems do with files and with programs of more rights than POSIX has words for.
 *
 * Includes nothing of ours, not even base, which stands on it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The descriptor of ours that such a path means ("/dev/fd/3"), or -1. */
int bj_platform_name_descriptor(const char *path);
/* The folder of that path below `folder` (or AT_FDCWD), held to look things up in it, if it must not be listed; a link
 * at its end is followed or refused. -1 and errno. */
int bj_platform_hold_folder(int folder, const char *path, bool follows);
/* Whether links in that folder are no texts to go by, since the system itself leads through them. */
bool bj_platform_has_system_links(const struct stat *folder);
/* The umask, which POSIX lets nobody read without setting it for all threads. False: the system does not tell. */
bool bj_platform_read_umask(mode_t *mask);
/* Bytes that nobody can guess; false: there are none yet. */
bool bj_platform_draw_bytes(void *bytes, size_t count);
/* Renames within the folder unless the new name is taken: 0 or the errno; ENOSYS where the system has no such call. */
int bj_platform_rename_to_new(int folder, const char *from, const char *to);

/* Takes what is written to a stream; less than `count` is an error. */
typedef ssize_t bj_stream_writer(void *context, const char *bytes, size_t count);
/* A stream whose text goes to that function; NULL: no memory. */
FILE *bj_platform_open_writer(bj_stream_writer *write, void *context);

/* Whether who started us has all the rights that we have: else no environment of his and no folder is to be trusted. */
bool bj_platform_is_trusted(void);
/* A variable of the environment; NULL: not set, or not to be trusted. */
const char *bj_platform_read_variable(const char *name);
