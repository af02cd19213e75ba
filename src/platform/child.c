#include "platform/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "platform/clock.h"
#include "platform/process.h"
#include "platform/system_file.h"

enum { POLL_MS = 50, RANGES_MOST = 64, STACK_BYTES = 64 * 1024 };
/* The first byte of what goes over the wire. */
enum { WIRE_MESSAGE = 'm', WIRE_FAULT = 'f', WIRE_DONE = 'd' };

static struct {
    int parent;
    bj_address_range ranges[RANGES_MOST];
    size_t count;
    char stack[STACK_BYTES]; /* a fault may be that the other one is full */
} watched;

static bool send_wire(int parent, char kind, const void *bytes, size_t count) {
    char wire[1 + BJ_CHILD_MESSAGE_MOST];
    if (count > BJ_CHILD_MESSAGE_MOST)
        return false;
    wire[0] = kind;
    if (count > 0)
        memcpy(wire + 1, bytes, count);
    ssize_t sent;
    do {
        sent = send(parent, wire, 1 + count, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(1 + count);
}

bool bj_platform_tell_parent(int parent, const void *message, size_t bytes) {
    return send_wire(parent, WIRE_MESSAGE, message, bytes);
}

static void note_fault(int number, siginfo_t *info, void *where) {
    (void)where;
    int32_t range = -1;
    const char *address = info->si_addr;
    for (size_t i = 0; i < watched.count; i++)
        if (address >= watched.ranges[i].begin && address < watched.ranges[i].end)
            range = (int32_t)i;
    send_wire(watched.parent, WIRE_FAULT, &range, sizeof range);
    /* Back to the instruction, which faults again and ends us under its own name. */
    signal(number, SIG_DFL);
}

void bj_platform_watch_faults(int parent, const bj_address_range *ranges, size_t count) {
    watched.parent = parent;
    watched.count = count < RANGES_MOST ? count : RANGES_MOST;
    for (size_t i = 0; i < watched.count; i++)
        watched.ranges[i] = ranges[i];
    stack_t stack = {.ss_sp = watched.stack, .ss_size = sizeof watched.stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = note_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

void bj_platform_end_with_parent(int signal_number) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, signal_number);
#else
    (void)signal_number;
#endif
}

void bj_platform_name_process(const char *name) {
#ifdef __linux__
    prctl(PR_SET_NAME, name, 0, 0, 0);
#else
    (void)name;
#endif
}

bool bj_platform_look_up_process(pid_t process, char *name, size_t room, pid_t *parent) {
    char path[40], line[256];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    bool is_read = bj_platform_read_system_line("", path, line, sizeof line);
    char *begin = is_read ? strchr(line, '(') : NULL, *end = is_read ? strrchr(line, ')') : NULL;
    if (begin == NULL || end == NULL || strlen(end) < 5)
        return false;
    *end = '\0';
    snprintf(name, room, "%s", begin + 1);
    *parent = (pid_t)strtol(end + 4, NULL, 10); /* after ") S " */
    return true;
}

static void be_child(const bj_child_task *task, int parent) {
    setpgid(0, 0);
    /* A kernel that never ends must not outlive us, however we end. */
    bj_platform_end_with_parent(SIGKILL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    struct sigaction pipe;
    sigaction(SIGPIPE, NULL, &pipe);
    bj_platform_reset_signals();
    sigaction(SIGPIPE, &pipe, NULL);
    task->work(task->context, parent);
    send_wire(parent, WIRE_DONE, NULL, 0);
    _exit(0);
}

typedef struct {
    const bj_child_task *task;
    bj_child_fate *fate;
    pid_t pid;
    int wire;
    bool done;
    uint64_t heard_ns; /* when it was heard last */
} listening;

/* False: the child closed its end. */
static bool take_message(listening *l) {
    char wire[1 + BJ_CHILD_MESSAGE_MOST];
    ssize_t count = recv(l->wire, wire, sizeof wire, 0);
    if (count < 0 && errno == EINTR)
        return true;
    if (count <= 0)
        return false;
    if (wire[0] == WIRE_DONE) {
        l->done = true;
    } else if (wire[0] == WIRE_FAULT && count == 1 + (ssize_t)sizeof(int32_t)) {
        int32_t range;
        memcpy(&range, wire + 1, sizeof range);
        l->fate->has_fault = true;
        l->fate->fault_range = range;
    } else if (wire[0] == WIRE_MESSAGE) {
        l->task->take(l->task->context, wire + 1, (size_t)count - 1);
    }
    return true;
}

/* Whether the child is to be ended: we were asked to stop, or it was silent for too long. */
static bool is_over(listening *l) {
    if (l->task->is_stopped != NULL && l->task->is_stopped(l->task->context))
        l->fate->end = BJ_CHILD_STOPPED;
    else if ((double)(bj_platform_read_ns() - l->heard_ns) > *l->task->limit_s * 1e9)
        l->fate->end = BJ_CHILD_SILENT;
    else
        return false;
    return true;
}

/* Until the child closes its end or is to be ended; true: it must be ended. */
static bool listen_to(listening *l) {
    for (;;) {
        struct pollfd ready = {.fd = l->wire, .events = POLLIN};
        int count = poll(&ready, 1, POLL_MS);
        if (count > 0) {
            if (!take_message(l))
                return false;
            l->heard_ns = bj_platform_read_ns();
        }
        if (is_over(l))
            return true;
    }
}

/* The same once nothing can be heard of it any more: work that closes all files may go on for ever. */
static bool await_end(listening *l, int *result) {
    const struct timespec nap = {.tv_nsec = 1000000};
    pid_t ended;
    while ((ended = waitpid(l->pid, result, WNOHANG)) != l->pid) {
        if (ended < 0 && errno != EINTR) /* somebody had SIGCHLD ignored */
            return false;
        if (is_over(l))
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

bj_status bj_platform_run_child(const bj_child_task *task, bj_child_fate *fate, bj_error *error) {
    int ends[2];
    *fate = (bj_child_fate){.fault_range = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no socket for a child process: %s", strerror(errno));
    fflush(NULL); /* what is buffered must not be written by both */
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(task, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no child process: %s", strerror(errno));
    }
    setpgid(pid, pid);
    listening l = {.task = task, .fate = fate, .pid = pid, .wire = ends[0], .heard_ns = bj_platform_read_ns()};
    int result = 0;
    bool ended = listen_to(&l) || await_end(&l, &result);
    if (ended) {
        kill(-pid, SIGKILL);
        while (waitpid(pid, &result, 0) < 0 && errno == EINTR)
            continue;
    }
    kill(-pid, SIGKILL); /* what it left behind */
    close(ends[0]);
    if (ended)
        return BJ_OK;
    fate->end = WIFSIGNALED(result) ? BJ_CHILD_KILLED : l.done ? BJ_CHILD_DONE : BJ_CHILD_EXITED;
    fate->number = WIFSIGNALED(result) ? WTERMSIG(result) : WEXITSTATUS(result);
    return BJ_OK;
}

void bj_platform_name_signal(int number, char *text, size_t room) {
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "a segmentation fault"},  {SIGBUS, "a bus error"}, {SIGFPE, "an arithmetic exception"},
                 {SIGILL, "an illegal instruction"}, {SIGABRT, "abort"},      {SIGKILL, "a kill"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == number) {
            snprintf(text, room, "%s", names[i].name);
            return;
        }
    snprintf(text, room, "signal %d", number);
}
