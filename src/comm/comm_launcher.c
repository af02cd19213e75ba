#include "comm/comm_launcher.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/child.h"

static const double ABORT_S = 2;
/* A launcher on a busy machine reads within this. */
static const double READ_LIMIT_S = 3;
/* What it read it passes on to another process. */
static const double PASS_ON_S = 0.1;
/* Launchers that end by themselves have done so by then; together with the wait for the lost rank it is half of what a
 * lost rank may take. */
static const double LAUNCHER_LIMIT_S = 8;
/* Open MPI's takes two interrupts within five seconds for being meant. */
static const double BETWEEN_INTERRUPTS_S = 1;
static const double SLICE_S = 0.05;
/* Between a rank and its launcher there are a keeper and a daemon of the launcher. */
enum { ANCESTORS_MOST = 4, DESCRIPTORS_MOST = 1024 };

static void pause_s(double seconds) {
    poll(NULL, 0, (int)(1000 * seconds));
}

/* In PMI's own words, as MPI_Abort has them: without these MPICH's launcher kills the others and calls that the status.
 * Launchers that are not spoken to in this way take the end of the keeper for it. */
void bj_comm_end_job(int exit_status) {
    const char *text = getenv("PMI_FD");
    char *end = NULL;
    long descriptor = text != NULL ? strtol(text, &end, 10) : -1;
    if (descriptor <= 0 || descriptor > INT_MAX || *end != '\0')
        return;
    if (dprintf((int)descriptor, "cmd=abort exitcode=%d\n", exit_status) > 0)
        pause_s(ABORT_S); /* for the launcher to hear it before it sees us go */
}

void bj_comm_let_launcher_read(void) {
    struct stat kind;
    int unread = 0;
    fflush(NULL);
    if (fstat(STDERR_FILENO, &kind) != 0 || !S_ISFIFO(kind.st_mode))
        return;
    for (double waited_s = 0; waited_s < READ_LIMIT_S; waited_s += SLICE_S) {
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0)
            break;
        pause_s(SLICE_S);
    }
    pause_s(PASS_ON_S);
}

static bool is_launcher(pid_t process, pid_t *parent) {
    static const char *const beginnings[] = {"mpirun", "mpiexec", "orterun", "prterun"};
    char name[64];
    if (!bj_platform_look_up_process(process, name, sizeof name, parent)) {
        *parent = 0;
        return false;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static pid_t find_launcher(void) {
    pid_t process = getppid(), parent = 0;
    for (unsigned i = 0; i < ANCESTORS_MOST && process > 1; i++) {
        if (is_launcher(process, &parent))
            return process;
        process = parent;
    }
    return 0;
}

void bj_comm_press_launcher(void) {
    int ends[2];
    char nothing;
    pid_t launcher = find_launcher(), parent;
    if (launcher <= 1 || pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child != 0) {
        close(ends[1]);
        while (child > 0 && read(ends[0], &nothing, 1) < 0) /* until it is out of what the launcher kills */
            ;
        close(ends[0]);
        return;
    }
    setsid();
    for (int i = 0; i < DESCRIPTORS_MOST; i++)
        close(i); /* it waits for the end of our output */
    signal(SIGTERM, SIG_IGN);
    for (double waited_s = 0; waited_s < LAUNCHER_LIMIT_S; waited_s += SLICE_S) {
        if (kill(launcher, 0) != 0)
            _exit(0);
        pause_s(SLICE_S);
    }
    /* Its number may be somebody else's once it has ended. */
    for (unsigned times = 0; times < 2 && is_launcher(launcher, &parent); times++) {
        kill(launcher, SIGINT);
        pause_s(BETWEEN_INTERRUPTS_S);
    }
    _exit(0);
}
