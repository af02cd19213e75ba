#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/place.h"
#include "platform/system/file_system.h"

enum { MAX_TRIES = 100, PREFIX_ROOM = 40, TEMPORARY_ROOM = 96 };

struct bj_output {
    char *path;
    bj_output_rules rules;
    bj_place place;
    int held;     /* the file that is there, with our lock on it, or what is written directly; -1: neither */
    bool is_file; /* regular, or absent yet */
    bool is_known;
    struct stat known; /* what is there, as it was opened or as we put it there */
};

static bj_status fail(const bj_output *output, bj_error *error, const char *doing, int number) {
    return bj_base_fail_file(error, output->path, doing, number);
}

/* ---- the temporary file */

/* What the names of all temporary files for this name on this host begin with, so that those of killed writers can be
 * told from other names' and other hosts'. A hash, since the name may be as long as names can be. */
static void name_prefix(const char *name, char *prefix, size_t room) {
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    const char *const parts[] = {host, "/", name};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *at = parts[i]; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    snprintf(prefix, room, ".blackjack-%016llx-", (unsigned long long)hash);
}

/* Nobody is to guess the name and stand in its way. The clock serves where the kernel has no random bytes yet: O_EXCL
 * keeps a guess from doing more than that. */
static uint64_t draw_number(void) {
    uint64_t drawn = 0;
    struct timespec now = {0};
    if (bj_platform_draw_bytes(&drawn, sizeof drawn))
        return drawn;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u + (uint64_t)now.tv_sec;
}

/* 0600, whatever the umask. */
static int create_temporary(const bj_place *place, char name[TEMPORARY_ROOM]) {
    char prefix[PREFIX_ROOM];
    name_prefix(place->name, prefix, sizeof prefix);
    for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
        snprintf(name, TEMPORARY_ROOM, "%s%ld-%016llx.tmp", prefix, (long)getpid(), (unsigned long long)draw_number());
        int descriptor = openat(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (descriptor >= 0)
            return descriptor;
        if (errno != EEXIST)
            break;
    }
    name[0] = '\0';
    return -1;
}

/* Temporary files for this name whose writer is gone: it was killed between creating and renaming. */
static void remove_leftovers(const bj_place *place) {
    char prefix[PREFIX_ROOM];
    name_prefix(place->name, prefix, sizeof prefix);
    int readable = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = readable >= 0 ? fdopendir(readable) : NULL;
    if (folder == NULL) {
        if (readable >= 0)
            close(readable);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        char *end = NULL;
        long writer = strtol(entry->d_name + strlen(prefix), &end, 10);
        if (writer <= 0 || writer > INT_MAX || *end != '-')
            continue;
        if (kill((pid_t)writer, 0) != 0 && errno == ESRCH)
            (void)unlinkat(place->folder, entry->d_name, 0);
    }
    closedir(folder);
}

/* What a new file is to get. Where the system does not tell the umask, an empty file shows it. */
static mode_t mode_of_new(const bj_place *place) {
    char name[TEMPORARY_ROOM + 8];
    mode_t mask;
    if (bj_platform_read_umask(&mask))
        return 0666 & ~mask;
    char prefix[PREFIX_ROOM];
    struct stat about = {.st_mode = 0600};
    name_prefix(place->name, prefix, sizeof prefix);
    snprintf(name, sizeof name, "%s%ld-%016llx.mode.tmp", prefix, (long)getpid(), (unsigned long long)draw_number());
    int shown = openat(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (shown >= 0) {
        if (fstat(shown, &about) != 0)
            about.st_mode = 0600;
        close(shown);
        (void)unlinkat(place->folder, name, 0);
    }
    return about.st_mode & 0666;
}

/* Some file systems find out that they are full only here. */
static int sync_file(int descriptor) {
    return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
}

static int sync_folder(const bj_place *place) {
    int descriptor = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder that may be written but not listed cannot be opened, and some file systems sync no folders:
     * the file is in place then, only its survival of a power cut is not promised. */
    if (descriptor < 0)
        return 0;
    int number = fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
    close(descriptor);
    return number;
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

static bj_status try_folder(const bj_output *output, bj_error *error) {
    char name[TEMPORARY_ROOM];
    remove_leftovers(&output->place);
    int descriptor = create_temporary(&output->place, name);
    int number = descriptor < 0 ? errno : write_blanks(descriptor, output->rules.trial_bytes);
    if (number == 0)
        number = sync_file(descriptor);
    if (descriptor >= 0 && close(descriptor) != 0 && number == 0 && errno != EINTR)
        number = errno;
    if (descriptor >= 0)
        (void)unlinkat(output->place.folder, name, 0);
    return number == 0 ? BJ_OK : fail(output, error, "cannot write", number);
}

/* ---- opening */

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int look(const bj_output *output, struct stat *about) {
    return fstatat(output->place.folder, output->place.name, about, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

static bj_status refuse(const bj_output *output, const char *why, bj_error *error) {
    const char *otherwise = output->rules.otherwise;
    return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: %s%s%s", output->path, why, otherwise != NULL ? "; " : "",
                             otherwise != NULL ? otherwise : "");
}

static bj_status check_kind(const bj_output *output, const struct stat *about, bj_error *error) {
    if (S_ISDIR(about->st_mode))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: is a folder, expected a file", output->path);
    if (S_ISFIFO(about->st_mode))
        return bj_base_set_error(error, BJ_ERR_INPUT,
                                 "%.200s: is a named pipe, which may wait for ever; redirect standard output to it",
                                 output->path);
    if (S_ISLNK(about->st_mode))
        return bj_base_set_error(error, BJ_ERR_IO, "%.200s: became a link while it was looked at", output->path);
    if (S_ISREG(about->st_mode) && !output->rules.replace)
        return refuse(output, "exists already", error);
    if (S_ISBLK(about->st_mode) && !output->rules.replace)
        return refuse(output, "is a block device, and what it holds would be lost", error);
    return BJ_OK;
}

/* Whose lock it is. File systems without locks get none. */
static bool is_locked_by_other(int descriptor) {
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* Without truncating: the questions are what it is, whether we may write it, and whether another does. */
static bj_status hold_existing(bj_output *output, bj_error *error) {
    for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
        struct stat there;
        int number = look(output, &there);
        if (number == ENOENT)
            return BJ_OK;
        if (number != 0)
            return fail(output, error, "cannot write", number);
        BJ_TRY(check_kind(output, &there, error));
        /* Never waits: opening some devices would. */
        output->held =
            openat(output->place.folder, output->place.name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
        if (output->held < 0 && errno == ENOENT)
            continue;
        if (output->held < 0 || fstat(output->held, &output->known) != 0)
            return fail(output, error, "cannot write", errno);
        (void)fcntl(output->held, F_SETFL, fcntl(output->held, F_GETFL) & ~O_NONBLOCK);
        output->is_file = S_ISREG(output->known.st_mode);
        output->is_known = true;
        if (output->is_file && output->rules.is_alone && is_locked_by_other(output->held))
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "%.200s: another run is writing it", output->path);
        /* The one that was opened may have been replaced before it was locked. */
        if (look(output, &there) == 0 && is_same(&there, &output->known))
            return BJ_OK;
        close(output->held);
        output->held = -1;
        output->is_known = false;
    }
    return bj_base_set_error(error, BJ_ERR_IO, "%.200s: is replaced again and again by somebody else", output->path);
}

static bj_status open_place(bj_output *output, bj_error *error) {
    BJ_TRY(bj_base_find_place(output->path, &output->place, error));
    output->is_file = output->place.stream < 0;
    if (!output->is_file) {
        output->held = fcntl(output->place.stream, F_DUPFD_CLOEXEC, 0);
        return output->held >= 0 ? BJ_OK : fail(output, error, "cannot write", errno);
    }
    BJ_TRY(hold_existing(output, error));
    return output->is_file && output->rules.trial_bytes > 0 ? try_folder(output, error) : BJ_OK;
}

bj_status bj_base_open_output(const char *path, const bj_output_rules *rules, bj_output **output, bj_error *error) {
    bj_output *made = calloc(1, sizeof *made);
    char *copy = strdup(path);
    *output = NULL;
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%.200s: out of memory", path);
    }
    *made = (bj_output){.path = copy, .rules = *rules, .place = {.folder = -1, .stream = -1}, .held = -1};
    bj_status status = open_place(made, error);
    if (status == BJ_OK)
        *output = made;
    else
        bj_base_close_output(made);
    return status;
}

bool bj_base_output_is_file(const bj_output *output) {
    return output->is_file;
}

const char *bj_base_output_path(const bj_output *output) {
    return output->path;
}

void bj_base_close_output(bj_output *output) {
    if (output == NULL)
        return;
    if (output->held >= 0)
        close(output->held);
    bj_base_leave_place(&output->place);
    free(output->path);
    free(output);
}

/* ---- writing */

/* Gives the file its name where nothing has it; 0 or the errno, EEXIST among them. */
static int put_new(const bj_place *place, const char *temporary) {
    int number = bj_platform_rename_to_new(place->folder, temporary, place->name);
    if (number != EINVAL && number != ENOSYS)
        return number;
    /* This file system, or the system, knows no such renaming. */
    if (linkat(place->folder, temporary, place->folder, place->name, 0) == 0)
        return unlinkat(place->folder, temporary, 0) == 0 ? 0 : errno;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    /* Nor links: an empty file of ours takes the place first. */
    int first = openat(place->folder, place->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (first < 0)
        return errno;
    close(first);
    return renameat(place->folder, temporary, place->folder, place->name) == 0 ? 0 : errno;
}

/* What came between is another writer's, unless whoever comes last is to win. */
static bj_status put_in_place(const bj_output *output, const char *temporary, bj_error *error) {
    static const char doing[] = "cannot put the new file in its place";
    bool last_wins = output->rules.replace && !output->rules.is_alone;
    struct stat there;
    int number = look(output, &there);
    if (number == ENOENT) {
        number = put_new(&output->place, temporary);
        if (number == 0)
            return BJ_OK;
        if (number == EEXIST)
            number = look(output, &there);
    }
    if (number != 0)
        return fail(output, error, doing, number);
    bool is_ours = output->is_known && is_same(&there, &output->known);
    if (!is_ours && !(last_wins && S_ISREG(there.st_mode)))
        return refuse(output, "somebody else has put another file there meanwhile, which is left as it is", error);
    if (renameat(output->place.folder, temporary, output->place.folder, output->place.name) != 0)
        return fail(output, error, doing, errno);
    return BJ_OK;
}

/* Owner and mode as writing in place would leave them. Handing a file to its former owner is root's alone; the content
 * matters more than that, so a refusal is no failure. */
static void dress(const bj_output *output, int descriptor) {
    int ignored = 0;
    if (output->is_known)
        ignored = fchown(descriptor, output->known.st_uid, output->known.st_gid);
    ignored = fchmod(descriptor, output->is_known ? output->known.st_mode & 0777 : mode_of_new(&output->place));
    (void)ignored;
}

static bj_status write_new(bj_output *output, const char *text, size_t length, bj_error *error) {
    char temporary[TEMPORARY_ROOM];
    int descriptor = create_temporary(&output->place, temporary);
    if (descriptor < 0)
        return fail(output, error, "cannot create a temporary file in its folder", errno);
    int number = bj_base_write_all(descriptor, text, length);
    if (number == 0) {
        dress(output, descriptor);
        number = sync_file(descriptor);
    }
    struct stat made;
    if (number == 0 && fstat(descriptor, &made) != 0)
        number = errno;
    if (number == 0 && output->rules.is_alone)
        (void)flock(descriptor, LOCK_EX | LOCK_NB);
    bj_status status =
        number == 0 ? put_in_place(output, temporary, error) : fail(output, error, "cannot write", number);
    if (status != BJ_OK) {
        (void)unlinkat(output->place.folder, temporary, 0);
        close(descriptor);
        return status;
    }
    if (output->held >= 0)
        close(output->held);
    output->held = descriptor;
    output->known = made;
    output->is_known = true;
    number = sync_folder(&output->place);
    return number == 0 ? BJ_OK : fail(output, error, "cannot sync its folder", number);
}

bj_status bj_base_write_output(bj_output *output, const char *text, size_t length, bj_error *error) {
    if (output->is_file)
        return write_new(output, text, length, error);
    int number = bj_base_write_all(output->held, text, length);
    return number == 0 ? BJ_OK : fail(output, error, "cannot write", number);
}

bj_status bj_base_write_file_atomically(const char *path, const char *text, size_t length, bj_error *error) {
    bj_output_rules rules = {.replace = true};
    bj_output *output;
    BJ_TRY(bj_base_open_output(path, &rules, &output, error));
    bj_status status = bj_base_write_output(output, text, length, error);
    bj_base_close_output(output);
    return status;
}
