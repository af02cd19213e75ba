#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/system/file_system.h"

/* As many hops as the kernel follows before it says ELOOP. */
enum { MAX_LINKS = 40 };

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

bj_status bj_base_fail_file(bj_error *error, const char *path, const char *doing, int number) {
    return bj_base_set_error(error, status_of_errno(number), "%s: %s: %s", path, doing, strerror(number));
}

int bj_base_own_descriptor(const char *path) {
    if (strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    return bj_platform_name_descriptor(path);
}

typedef struct {
    const char *path; /* as it was given, for errors */
    bj_error *error;
    char *rest;       /* what is still to be gone through; from malloc() */
    const char *next; /* in it */
    int folder, links;
} walk;

static bj_status fail(const walk *walk, int number) {
    return bj_base_fail_file(walk->error, walk->path, "cannot write", number);
}

static int begin_at(const char *path) {
    return bj_platform_hold_folder(AT_FDCWD, path[0] == '/' ? "/" : ".", true);
}

/* Puts what the link says in front of the rest. */
static bj_status follow(walk *walk, const char *name, const char *after, char *text, size_t length) {
    struct stat folder, link;
    text[length] = '\0';
    if (++walk->links > MAX_LINKS)
        return fail(walk, ELOOP);
    if (fstat(walk->folder, &folder) != 0 || fstatat(walk->folder, name, &link, AT_SYMLINK_NOFOLLOW) != 0)
        return fail(walk, errno);
    bool is_everybodys = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    if (is_everybodys && link.st_uid != geteuid() && link.st_uid != folder.st_uid)
        return bj_base_set_error(walk->error, BJ_ERR_PERMISSION,
                                 "%s: '%.60s' in it is a link of another user, in a folder where everybody may make "
                                 "some: it is not followed",
                                 walk->path, name);
    char *rest = NULL;
    if (asprintf(&rest, "%s%s", text, after) < 0)
        return bj_base_set_error(walk->error, BJ_ERR_RESOURCE, "%s: out of memory", walk->path);
    free(walk->rest);
    walk->rest = rest;
    walk->next = rest;
    if (rest[0] != '/')
        return BJ_OK;
    close(walk->folder);
    walk->folder = begin_at(rest);
    return walk->folder >= 0 ? BJ_OK : fail(walk, errno);
}

static bj_status enter(walk *walk, const char *name) {
    struct stat about;
    bool by_kernel = fstat(walk->folder, &about) == 0 && bj_platform_has_system_links(&about);
    int entered = bj_platform_hold_folder(walk->folder, name, by_kernel);
    if (entered < 0)
        return fail(walk, errno);
    close(walk->folder);
    walk->folder = entered;
    return BJ_OK;
}

/* One name further; *done when the place is found. */
static bj_status step(walk *walk, bj_place *place, bool *done) {
    char link[PATH_MAX];
    /* A whole path names one, not what is left of it: ./dev/stdout is a file. */
    place->stream = walk->next == walk->rest ? bj_base_own_descriptor(walk->next) : -1;
    *done = place->stream >= 0;
    if (*done)
        return BJ_OK;
    const char *begin = walk->next + strspn(walk->next, "/");
    size_t length = strcspn(begin, "/");
    const char *after = begin + length;
    if (length > NAME_MAX)
        return fail(walk, ENAMETOOLONG);
    /* A path that ends in a slash is a folder's. */
    snprintf(place->name, sizeof place->name, "%.*s", length > 0 ? (int)length : 1, length > 0 ? begin : ".");
    struct stat folder;
    bool by_kernel = *after != '\0' && fstat(walk->folder, &folder) == 0 && bj_platform_has_system_links(&folder);
    ssize_t said = by_kernel ? -1 : readlinkat(walk->folder, place->name, link, sizeof link - 1);
    if (said >= 0)
        return follow(walk, place->name, after, link, (size_t)said);
    *done = *after == '\0';
    walk->next = after;
    return *done ? BJ_OK : enter(walk, place->name);
}

bj_status bj_base_find_place(const char *path, bj_place *place, bj_error *error) {
    walk walk = {.path = path, .error = error};
    *place = (bj_place){.folder = -1, .stream = -1};
    if (path[0] == '\0')
        return bj_base_fail_file(error, "\"\"", "cannot write", ENOENT);
    walk.rest = strdup(path);
    if (walk.rest == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: out of memory", path);
    walk.next = walk.rest;
    walk.folder = begin_at(path);
    bj_status status = walk.folder >= 0 ? BJ_OK : fail(&walk, errno);
    for (bool done = false; status == BJ_OK && !done;)
        status = step(&walk, place, &done);
    free(walk.rest);
    if (status == BJ_OK && place->stream < 0)
        place->folder = walk.folder;
    else if (walk.folder >= 0)
        close(walk.folder);
    return status;
}

void bj_base_leave_place(bj_place *place) {
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}
