#include "platform/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/process.h"

enum { GROUPS_MOST = 256 };

/* What it is told: a group that runs (above 0) or is over (below 0); 0: all is tidied up. */
typedef int news;

static struct {
    pid_t pid; /* 0: none */
    int wire;
} guardian;

static void keep_watch(int wire, const char *folder) {
    pid_t groups[GROUPS_MOST] = {0};
    news told;
    for (ssize_t got; (got = read(wire, &told, sizeof told)) != 0;) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof told)
            break;
        if (told == 0)
            return;
        for (size_t i = 0; i < GROUPS_MOST; i++)
            if (groups[i] == (told > 0 ? 0 : -told)) {
                groups[i] = told > 0 ? told : 0;
                break;
            }
    }
    for (size_t i = 0; i < GROUPS_MOST; i++)
        if (groups[i] > 0)
            kill(-groups[i], SIGKILL);
    bj_platform_remove_folder(folder);
}

/* Of the descriptors it keeps the wire alone: a pipe that it held open would never end for its reader. */
static void be_guardian(int wire, const char *folder) {
    setsid();
    bj_platform_heed_only(wire);
    /* A folder that is named from here would be another one from there. */
    if (folder[0] != '/' || chdir("/") == 0)
        keep_watch(wire, folder);
    _exit(0);
}

void bj_platform_post_guardian(const char *folder) {
    int ends[2];
    if (guardian.pid != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        be_guardian(ends[0], folder);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return;
    }
    guardian.pid = pid;
    guardian.wire = ends[1];
}

static void tell(news told) {
    /* One that is gone must not take us with it. */
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    sigemptyset(&ignored.sa_mask);
    sigaction(SIGPIPE, &ignored, &before);
    while (write(guardian.wire, &told, sizeof told) < 0 && errno == EINTR)
        continue;
    sigaction(SIGPIPE, &before, NULL);
}

void bj_platform_tell_guardian(pid_t group, int runs) {
    if (guardian.pid != 0)
        tell(runs ? (news)group : -(news)group);
}

void bj_platform_dismiss_guardian(void) {
    if (guardian.pid == 0)
        return;
    tell(0);
    close(guardian.wire);
    while (waitpid(guardian.pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    guardian.pid = 0;
}
