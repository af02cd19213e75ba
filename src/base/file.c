#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many hops as the kernel follows before it says ELOOP. */
enum { MAX_LINKS = 40, MAX_NAME_TRIES = 100, PREFIX_ROOM = 40 };

static bj_status status_of_errno(int number) {
    switch (number) {
    case EACCES:
    case EPERM:
    case EROFS:
        return BJ_ERR_PERMISSION;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
        return BJ_ERR_RESOURCE;
    default:
        return BJ_ERR_IO;
    }
}

static bj_status fail(bj_error *error, const char *path, const char *doing, int number) {
    return bj_base_set_error(error, status_of_errno(number), "%s: %s: %s", path, doing, strerror(number));
}

static bj_status fail_memory(bj_error *error, const char *path) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: out of memory", path);
}

/* The number of the open descriptor that a name like /dev/stdout stands for, else -1. These are used as they
 * are: opening the name anew would start at offset 0 over what was printed before, fails on sockets, and a
 * rename would leave the open descriptor with the old file. */
static int own_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0)
            continue;
        const char *digits = path + length;
        size_t count = strspn(digits, "0123456789");
        if (count > 0 && count < 10 && digits[count] == '\0')
            return atoi(digits);
    }
    return -1;
}

bool bj_base_is_stream(const char *path) {
    return own_descriptor(path) >= 0;
}

/* Never waits: opening a named pipe would, for as long as nobody is at its other end. */
static int open_existing(const char *path, int flags) {
    int own = own_descriptor(path);
    if (own >= 0)
        return fcntl(own, F_DUPFD_CLOEXEC, 0);
    int descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor >= 0)
        (void)fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

/* A pipe that is open already (a shell's "<(…)", standard input) is somebody's plan; one that only has a name may
 * never be fed. */
static bool is_named_pipe(const char *path, const struct stat *about) {
    return S_ISFIFO(about->st_mode) && !bj_base_is_stream(path);
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
        if (got < 0 && errno != EINTR)
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

/* Syncs and closes what was written with this errno (0: all); the first errno. Some file systems find out that they are
 * full only here. */
static int end_writing(int descriptor, int number) {
    if (number == 0 && fsync(descriptor) != 0 && errno != EINVAL)
        number = errno;
    return close(descriptor) != 0 && number == 0 && errno != EINTR ? errno : number;
}

/* Length of the folder part with its slash; 0: the current folder. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Follows links by name, so that one that dangles leads to the file to create; *target is the caller's to free. */
static bj_status follow_links(const char *path, char **target, bj_error *error) {
    if (path[0] == '\0')
        return fail(error, "\"\"", "cannot write", ENOENT);
    char *current = strdup(path);
    if (current == NULL)
        return fail_memory(error, path);
    for (int hops = 0;; hops++) {
        char link[PATH_MAX];
        ssize_t length = bj_base_is_stream(current) ? -1 : readlink(current, link, sizeof link - 1);
        if (length < 0) {
            *target = current;
            return BJ_OK;
        }
        link[length] = '\0';
        char *next = NULL;
        int printed = link[0] == '/' ? asprintf(&next, "%s", link)
                                     : asprintf(&next, "%.*s%s", (int)folder_length(current), current, link);
        free(current);
        if (printed < 0)
            return fail_memory(error, path);
        current = next;
        if (hops == MAX_LINKS) {
            free(current);
            return fail(error, path, "cannot follow", ELOOP);
        }
    }
}

/* What the names of all temporary files for this target on this host begin with, so that those of killed writers can be
 * told from other targets' and other hosts'. A hash, since the target's name may be as long as names can be. */
static void name_prefix(const char *target, char *prefix, size_t room) {
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    const char *const parts[] = {host, "/", target + folder_length(target)};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *at = parts[i]; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    snprintf(prefix, room, ".blackjack-%016llx-", (unsigned long long)hash);
}

/* A new file beside `target`. Not mkstemp: that makes it 0600, and the umask cannot be read without
 * setting it for all threads. */
static int create_temporary(const char *target, char **name) {
    char prefix[PREFIX_ROOM];
    name_prefix(target, prefix, sizeof prefix);
    for (int attempt = 0; attempt < MAX_NAME_TRIES; attempt++) {
        if (asprintf(name, "%.*s%s%ld-%d.tmp", (int)folder_length(target), target, prefix, (long)getpid(), attempt) <
            0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        int descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor >= 0)
            return descriptor;
        int number = errno;
        free(*name);
        *name = NULL;
        errno = number;
        if (number != EEXIST)
            return -1;
    }
    return -1;
}

/* The folder part, or "." for none; the caller's to free. */
static char *copy_folder(const char *target) {
    size_t length = folder_length(target);
    return length > 0 ? strndup(target, length) : strdup(".");
}

/* Temporary files for this target whose writer is gone: it was killed between creating and renaming. */
static void remove_leftovers(const char *target) {
    char prefix[PREFIX_ROOM];
    name_prefix(target, prefix, sizeof prefix);
    char *name = copy_folder(target);
    DIR *folder = name == NULL ? NULL : opendir(name);
    free(name);
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        char *end = NULL;
        long writer = strtol(entry->d_name + strlen(prefix), &end, 10);
        if (writer <= 0 || writer > INT_MAX || *end != '-')
            continue;
        if (writer == (long)getpid() || (kill((pid_t)writer, 0) != 0 && errno == ESRCH))
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

static int sync_folder(const char *target) {
    char *folder = copy_folder(target);
    if (folder == NULL)
        return ENOMEM;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    /* A folder that may be written but not listed cannot be opened, and some file systems sync no folders:
     * the file is in place then, only its survival of a power cut is not promised. */
    if (descriptor < 0)
        return 0;
    int number = fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
    close(descriptor);
    return number;
}

/* `old` is what the target was before, NULL if it was not there. */
static bj_status replace_file(const char *path, const char *target, const struct stat *old, const char *text,
                              size_t length, bj_error *error) {
    char *temporary = NULL;
    const char *doing = "cannot create a temporary file in its folder";
    int descriptor = create_temporary(target, &temporary);
    int number = descriptor < 0 ? errno : 0;
    if (number == 0) {
        doing = "cannot write";
        number = bj_base_write_all(descriptor, text, length);
        if (old != NULL) {
            /* As writing in place would leave it. Handing a file to its former owner is root's alone; the
             * content matters more than that, so a refusal is no failure. */
            int ignored = fchown(descriptor, old->st_uid, old->st_gid);
            ignored = fchmod(descriptor, old->st_mode & 0777);
            (void)ignored;
        }
        number = end_writing(descriptor, number);
    }
    if (number == 0) {
        doing = "cannot put the new file in its place";
        number = rename(temporary, target) == 0 ? 0 : errno;
    }
    if (number != 0 && temporary != NULL)
        unlink(temporary);
    free(temporary);
    if (number == 0) {
        doing = "cannot sync its folder";
        number = sync_folder(target);
    }
    return number == 0 ? BJ_OK : fail(error, path, doing, number);
}

bj_status bj_base_write_file_atomically(const char *path, const char *text, size_t length, bj_error *error) {
    char *target = NULL;
    bj_status status = follow_links(path, &target, error);
    if (status != BJ_OK)
        return status;
    /* Without truncating: the only question is what it is and whether we may write it. A rename would
     * replace a file that its owner made read-only. */
    int descriptor = open_existing(target, O_WRONLY);
    int number = descriptor < 0 ? errno : 0;
    struct stat old;
    if (number == ENOENT && !bj_base_is_stream(target)) {
        status = replace_file(path, target, NULL, text, length, error);
    } else if ((descriptor >= 0 ? fstat(descriptor, &old) : stat(target, &old)) != 0) {
        status = fail(error, path, "cannot write", number != 0 ? number : errno);
    } else if (is_named_pipe(target, &old)) {
        status = refuse_pipe(path, "redirect standard output to it", error);
    } else if (number != 0) {
        status = fail(error, path, "cannot write", number);
    } else if (S_ISREG(old.st_mode) && !bj_base_is_stream(target)) {
        status = replace_file(path, target, &old, text, length, error);
    } else {
        number = bj_base_write_all(descriptor, text, length);
        if (number != 0)
            status = fail(error, path, "cannot write", number);
    }
    if (descriptor >= 0 && close(descriptor) != 0 && errno != EINTR && status == BJ_OK)
        status = fail(error, path, "cannot write", errno);
    free(target);
    return status;
}

static int write_blanks(int descriptor, size_t length) {
    char blanks[4096];
    memset(blanks, ' ', sizeof blanks);
    int number = 0;
    for (size_t part; length > 0 && number == 0; length -= part) {
        part = length < sizeof blanks ? length : sizeof blanks;
        number = bj_base_write_all(descriptor, blanks, part);
    }
    return number;
}

bj_status bj_base_prepare_path(const char *path, size_t bytes, bj_error *error) {
    char *target = NULL, *temporary = NULL;
    BJ_TRY(follow_links(path, &target, error));
    remove_leftovers(target);
    int descriptor = create_temporary(target, &temporary);
    int number = descriptor < 0 ? errno : write_blanks(descriptor, bytes);
    if (descriptor >= 0)
        number = end_writing(descriptor, number);
    if (temporary != NULL)
        unlink(temporary);
    free(temporary);
    free(target);
    return number == 0 ? BJ_OK : fail(error, path, "cannot write", number);
}
