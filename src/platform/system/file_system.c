#include "platform/system/file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/syscall.h>
#endif

#ifndef O_PATH /* elsewhere a folder must be readable to be held */
#define O_PATH O_RDONLY
#endif

int bj_platform_name_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
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

int bj_platform_hold_folder(int folder, const char *path, bool follows) {
    return openat(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
}

bool bj_platform_has_system_links(const struct stat *folder) {
    struct stat proc;
    return stat("/proc", &proc) == 0 && proc.st_dev == folder->st_dev;
}

bool bj_platform_read_umask(mode_t *mask) {
    char text[256];
    unsigned read_mask;
    int status = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = status >= 0 ? read(status, text, sizeof text - 1) : 0;
    if (status >= 0)
        close(status);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "\nUmask:");
    if (line == NULL || sscanf(line, "\nUmask: %o", &read_mask) != 1)
        return false;
    *mask = (mode_t)read_mask;
    return true;
}

bool bj_platform_draw_bytes(void *bytes, size_t count) {
#ifdef __linux__
    return getrandom(bytes, count, GRND_NONBLOCK) == (ssize_t)count;
#else
    return getentropy(bytes, count) == 0;
#endif
}

/* By number: not every C library of Linux has a function for it. */
int bj_platform_rename_to_new(int folder, const char *from, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
    const unsigned no_replace = 1;
    return syscall(SYS_renameat2, folder, from, folder, to, no_replace) == 0 ? 0 : errno;
#else
    (void)folder, (void)from, (void)to;
    return ENOSYS;
#endif
}

FILE *bj_platform_open_writer(bj_stream_writer *write, void *context) {
    return fopencookie(context, "w", (cookie_io_functions_t){.write = write});
}

bool bj_platform_is_trusted(void) {
#ifdef __linux__
    return getauxval(AT_SECURE) == 0;
#else
    return issetugid() == 0;
#endif
}

const char *bj_platform_read_variable(const char *name) {
    return bj_platform_is_trusted() ? getenv(name) : NULL;
}
