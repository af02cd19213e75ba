#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/place.h"

static bj_status fail(bj_error *error, const char *path, const char *doing, int number) {
    return bj_base_fail_file(error, path, doing, number);
}

static bj_status fail_memory(bj_error *error, const char *path) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: out of memory", path);
}

/* Whether the path names a stream that is open already, such as /dev/stdout or /dev/fd/3. */
static bool is_stream(const char *path) {
    return bj_base_own_descriptor(path) >= 0;
}

/* Never waits: opening a named pipe would, for as long as nobody is at its other end, and reading some devices and
 * files of /proc would for ever. */
static int open_existing(const char *path, int flags) {
    int own = bj_base_own_descriptor(path);
    if (own >= 0)
        return fcntl(own, F_DUPFD_CLOEXEC, 0);
    return open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* A pipe that is open already (a shell's "<(…)", standard input) is somebody's plan; one that only has a name may
 * never be fed. */
static bool is_named_pipe(const char *path, const struct stat *about) {
    return S_ISFIFO(about->st_mode) && !is_stream(path);
}

static bj_status refuse_pipe(const char *path, const char *instead, bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_INPUT, "%s: is a named pipe, which may wait for ever; %s", path, instead);
}

static bj_status read_all(int descriptor, const char *path, size_t max_bytes, size_t expected, char **text,
                          size_t *length, bj_error *error) {
    /* One byte more than expected, so that the end of a regular file is seen without growing. */
    size_t room = (expected < max_bytes ? expected : max_bytes) + 2, used = 0;
    char *buffer = malloc(room);
    if (buffer == NULL)
        return fail_memory(error, path);
    bj_status status = BJ_OK;
    for (ssize_t got = 1; got != 0 && status == BJ_OK;) {
        if (used + 1 == room) {
            room *= 2;
            char *grown = realloc(buffer, room);
            if (grown == NULL) {
                status = fail_memory(error, path);
                break;
            }
            buffer = grown;
        }
        got = read(descriptor, buffer + used, room - used - 1);
        used += got > 0 ? (size_t)got : 0;
        if (got < 0 && errno == EAGAIN && !is_stream(path))
            status = bj_base_set_error(error, BJ_ERR_INPUT, "%s: has nothing to read now, and may never have", path);
        else if (got < 0 && errno == EAGAIN) /* a stream that somebody opened so: until it has something */
            (void)poll(&(struct pollfd){.fd = descriptor, .events = POLLIN}, 1, -1);
        else if (got < 0 && errno != EINTR)
            status = fail(error, path, "cannot read", errno);
        else if (used > max_bytes)
            status = bj_base_set_error(error, BJ_ERR_INPUT, "%s: larger than %zu bytes", path, max_bytes);
    }
    if (status != BJ_OK) {
        free(buffer);
        return status;
    }
    buffer[used] = '\0';
    *text = buffer;
    if (length != NULL)
        *length = used;
    return BJ_OK;
}

bj_status bj_base_read_file(const char *path, size_t max_bytes, char **text, size_t *length, bj_error *error) {
    *text = NULL;
    if (length != NULL)
        *length = 0;
    if (max_bytes > SIZE_MAX / 4)
        max_bytes = SIZE_MAX / 4;
    int descriptor = open_existing(path, O_RDONLY);
    if (descriptor < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return bj_base_set_error(error, BJ_ERR_INPUT, "%s: no such file", path);
        return fail(error, path, "cannot open", errno);
    }
    bj_status status;
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        status = fail(error, path, "cannot read", errno);
    else if (S_ISDIR(about.st_mode))
        status = bj_base_set_error(error, BJ_ERR_INPUT, "%s: is a folder, not a file", path);
    else if (is_named_pipe(path, &about))
        status = refuse_pipe(path, "redirect standard input from it", error);
    else if (S_ISREG(about.st_mode) && about.st_size > 0 && (uintmax_t)about.st_size > max_bytes)
        status = bj_base_set_error(error, BJ_ERR_INPUT, "%s: larger than %zu bytes", path, max_bytes);
    else /* files of /proc and /sys say size 0 or a page: the size is a hint only */
        status = read_all(descriptor, path, max_bytes, about.st_size > 0 ? (size_t)about.st_size : 4096, text, length,
                          error);
    close(descriptor);
    return status;
}

int bj_base_write_all(int descriptor, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t put = write(descriptor, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        if (put == 0) /* POSIX leaves it open; going on could spin for ever */
            return EIO;
        bytes += put;
        length -= (size_t)put;
    }
    return 0;
}
