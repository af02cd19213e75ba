#include "platform/copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "platform/child.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/process.h"

enum { POLL_MS = 2, NOT_STARTED = 127, LINE_ROOM = 120 };
/* Processes that a program left behind, looked for and ended so often: each may have started another meanwhile. */
enum { SWEEPS = 20, GRACE_NS = 20000000 };

typedef struct {
    pid_t pid; /* 0: not there, or waited for */
    pid_t group;
    int errors; /* what it writes there; -1: nothing more */
    int end;    /* can be read when it has ended; -1: the system knows no such thing */
    char line[LINE_ROOM];
    size_t length;
    bool line_done;
} copy;

struct bj_copies {
    copy *items;
    size_t count;
    const char *name;
    int gate;  /* closed: they go */
    int leash; /* closed, by whatever ends us: the guard ends them */
    pid_t guard;
    bool adopts;   /* what copies leave behind becomes our child */
    pid_t *former; /* children from before: of a shell that became us, or of a container's first process */
    size_t former_count;
};

/* ---- in the child */

static char *fill_in(const char *word, size_t cpus) {
    static const char mark[] = "{cpus}";
    const size_t mark_length = sizeof mark - 1;
    char number[24];
    size_t digits = (size_t)snprintf(number, sizeof number, "%zu", cpus), room = strlen(word) + 1;
    for (const char *at = word; (at = strstr(at, mark)) != NULL; at += mark_length)
        room += digits;
    char *filled = malloc(room), *to = filled;
    if (filled == NULL)
        return NULL;
    for (const char *at = word; *at != '\0';) {
        if (strncmp(at, mark, mark_length) == 0) {
            memcpy(to, number, digits);
            to += digits;
            at += mark_length;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    return filled;
}

static char **fill_in_all(char *const *words, size_t cpus) {
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    char **filled = calloc(count + 1, sizeof *filled);
    for (size_t i = 0; filled != NULL && i < count; i++)
        if ((filled[i] = fill_in(words[i], cpus)) == NULL)
            return NULL;
    return filled;
}

/* Without a handler of ours and in a group of its own. A kernel that knows how ends it when we end. */
static void leave_home(pid_t parent) {
    setpgid(0, 0);
    bj_platform_reset_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    bj_platform_end_with_parent(SIGKILL);
    if (getppid() != parent) /* it ended before that */
        _exit(NOT_STARTED);
}

static void become_program(char *const *words, const bj_copy_cpus *cpus, int gate, int errors, pid_t parent) {
    char text[24], byte;
    bj_error error;
    leave_home(parent);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    snprintf(text, sizeof text, "%zu", cpus->count);
    setenv("OMP_NUM_THREADS", text, 1);
    char **filled = fill_in_all(words, cpus->count);
    if (filled == NULL || bj_platform_confine_thread(cpus->cpus, cpus->count, &error) != BJ_OK)
        _exit(NOT_STARTED);
    while (read(gate, &byte, 1) < 0 && errno == EINTR)
        continue;
    execvp(filled[0], filled);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(NOT_STARTED);
}

/* A process that does nothing until we are gone: then it ends the groups of the copies, whose own children the kernel
 * would leave alone. A pipe of ours that it held open would never end for its reader. */
static void become_guard(const bj_copies *copies, int leash) {
    char byte;
    setpgid(0, 0);
    bj_platform_heed_only(leash);
    while (read(leash, &byte, 1) < 0 && errno == EINTR)
        continue;
    for (size_t i = 0; i < copies->count; i++)
        kill(-copies->items[i].group, SIGKILL);
    _exit(0);
}

/* ---- in the parent */

static bj_status no_process(const bj_copies *copies, bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no process for %.60s: %s", copies->name, strerror(errno));
}

static int open_end(pid_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static bj_status hold_one(bj_copies *copies, char *const *words, const bj_copy_cpus *cpus, int gate, bj_error *error) {
    copy *c = &copies->items[copies->count];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return no_process(copies, error);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(copies->gate); /* else the gate would stay open by our own hand */
        become_program(words, cpus, gate, ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return no_process(copies, error);
    }
    setpgid(pid, pid);
    *c = (copy){.pid = pid, .group = pid, .errors = ends[0], .end = open_end(pid)};
    copies->count++;
    return BJ_OK;
}

static bj_status set_guard(bj_copies *copies, bj_error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return no_process(copies, error);
    fflush(NULL);
    copies->guard = fork();
    if (copies->guard == 0) {
        close(ends[1]);
        close(copies->gate);
        become_guard(copies, ends[0]);
    }
    close(ends[0]);
    copies->leash = ends[1];
    return copies->guard > 0 ? BJ_OK : no_process(copies, error);
}

/* What copies leave behind becomes our child, so that we can see and end it. False: refused, as by qemu-user. */
static bool adopt_orphans(bool adopt) {
#ifdef __linux__
    return prctl(PR_SET_CHILD_SUBREAPER, adopt ? 1 : 0) == 0;
#else
    (void)adopt;
    return false;
#endif
}

/* Children of all threads of this process; *pids is the caller's to free. None where the system lists none. */
static bj_status list_children(pid_t **pids, size_t *count, bj_error *error) {
    bj_status status = BJ_OK;
    size_t room = 0;
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    *pids = NULL;
    *count = 0;
    while (status == BJ_OK && tasks != NULL && (entry = readdir(tasks)) != NULL) {
        char path[300];
        int pid;
        snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
        FILE *list = fopen(path, "re");
        while (list != NULL && fscanf(list, "%d", &pid) == 1) {
            pid_t *grown = *count < room ? *pids : realloc(*pids, 2 * (room + 8) * sizeof *grown);
            if (grown == NULL) {
                status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a list of %zu children", *count);
                break;
            }
            room = *count < room ? room : 2 * (room + 8);
            *pids = grown;
            grown[(*count)++] = pid;
        }
        if (list != NULL)
            fclose(list);
    }
    if (tasks != NULL)
        closedir(tasks);
    return status;
}

bj_status bj_platform_hold_copies(char *const *words, const bj_copy_cpus *cpus, size_t count, bj_copies **held,
                                  bj_error *error) {
    int gate[2];
    bj_copies *copies = calloc(1, sizeof *copies);
    copy *items = calloc(count + 1, sizeof *items);
    pid_t *former = NULL;
    size_t former_count;
    bj_status status = copies != NULL && items != NULL
                           ? list_children(&former, &former_count, error)
                           : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu copies", count);
    if (status == BJ_OK && pipe2(gate, O_CLOEXEC) != 0)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no pipe for %zu copies: %s", count, strerror(errno));
    if (status != BJ_OK) {
        free(copies);
        free(items);
        free(former);
        return status;
    }
    *copies = (bj_copies){
        .items = items, .name = words[0], .gate = gate[1], .leash = -1, .former = former, .former_count = former_count};
    fflush(NULL); /* what is buffered must not be written twice */
    copies->adopts = adopt_orphans(true);
    for (size_t i = 0; status == BJ_OK && i < count; i++)
        status = hold_one(copies, words, &cpus[i], gate[0], error);
    close(gate[0]);
    if (status == BJ_OK)
        status = set_guard(copies, error);
    if (status != BJ_OK)
        bj_platform_end_copies(copies);
    else
        *held = copies;
    return status;
}

pid_t bj_platform_find_copy(const bj_copies *copies, size_t index) {
    return copies->items[index].pid;
}

static void take_errors(copy *c) {
    char text[1024];
    ssize_t count = read(c->errors, text, sizeof text);
    for (ssize_t i = 0; i < count && !c->line_done; i++) {
        if (text[i] == '\n' || c->length + 1 == sizeof c->line)
            c->line_done = c->length > 0;
        else
            c->line[c->length++] = text[i];
    }
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
        close(c->errors);
        c->errors = -1;
    }
}

/* Sleeps until one writes or ends, or POLL_MS are over. */
static void listen_to(bj_copies *copies, struct pollfd *polls) {
    for (size_t i = 0; i < copies->count; i++) {
        polls[2 * i] = (struct pollfd){.fd = copies->items[i].errors, .events = POLLIN};
        polls[2 * i + 1] =
            (struct pollfd){.fd = copies->items[i].pid > 0 ? copies->items[i].end : -1, .events = POLLIN};
    }
    if (poll(polls, 2 * copies->count, POLL_MS) <= 0)
        return;
    for (size_t i = 0; i < copies->count; i++)
        if (polls[2 * i].revents != 0)
            take_errors(&copies->items[i]);
}

/* None that copies left behind. */
static bool is_known(const bj_copies *copies, pid_t pid) {
    bool known = pid == copies->guard;
    for (size_t i = 0; i < copies->count; i++)
        known = known || pid == copies->items[i].pid;
    for (size_t i = 0; i < copies->former_count; i++)
        known = known || pid == copies->former[i];
    return known;
}

/* One that took other rights cannot be ended by us, and is not waited for. */
static void end_one(pid_t pid) {
    bool can = kill(pid, SIGKILL) == 0 || errno != EPERM;
    waitpid(pid, NULL, can ? 0 : WNOHANG);
}

/* Where nothing is adopted: groups whose copy has ended and that are not empty. What left its group is not seen. */
static size_t sweep_groups(bj_copies *copies, bool end_them) {
    size_t found = 0;
    for (size_t i = 0; i < copies->count; i++) {
        copy *c = &copies->items[i];
        if (c->pid == 0 && c->group > 0 && kill(-c->group, end_them ? SIGKILL : 0) == 0)
            found++;
        else if (c->pid == 0)
            c->group = 0; /* empty: the number may soon be another's */
    }
    return found;
}

/* Children of this process that came with the copies and are none of them: waits for those that have ended, and ends
 * the others where that is wanted. How many of those there were. */
static size_t sweep_once(bj_copies *copies, bool end_them) {
    pid_t *pids;
    size_t count, found = 0;
    if (!copies->adopts)
        return sweep_groups(copies, end_them);
    (void)list_children(&pids, &count, NULL); /* out of memory, what it has is enough for once */
    for (size_t i = 0; i < count; i++) {
        if (is_known(copies, pids[i]) || waitpid(pids[i], NULL, WNOHANG) != 0)
            continue;
        found++;
        if (end_them)
            end_one(pids[i]);
    }
    free(pids);
    return found;
}

/* Whether any of them left processes running, which are ended; such as end by themselves at once do not count. */
static bool sweep(bj_copies *copies) {
    if (sweep_once(copies, false) == 0)
        return false;
    nanosleep(&(struct timespec){.tv_nsec = GRACE_NS}, NULL);
    size_t left = 0, found;
    for (int i = 0; i < SWEEPS && (found = sweep_once(copies, true)) > 0; i++)
        left += found;
    return left > 0;
}

static bj_status tell_end(const bj_copies *copies, copy *c, int result, bj_error *error) {
    char name[40];
    while (c->errors >= 0 && !c->line_done) {
        struct pollfd rest = {.fd = c->errors, .events = POLLIN};
        if (poll(&rest, 1, 0) <= 0)
            break;
        take_errors(c);
    }
    c->line[c->length] = '\0';
    const char *colon = c->length > 0 ? ": " : "";
    if (WIFSIGNALED(result)) {
        bj_platform_name_signal(WTERMSIG(result), name, sizeof name);
        return bj_base_set_error(error, BJ_ERR_FAILED, "%.80s was ended by %s%s%s", copies->name, name, colon, c->line);
    }
    if (WEXITSTATUS(result) == NOT_STARTED)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%.80s could not be started%s%s", copies->name, colon, c->line);
    return bj_base_set_error(error, BJ_ERR_FAILED, "%.80s failed with status %d%s%s", copies->name, WEXITSTATUS(result),
                             colon, c->line);
}

/* Those that have ended; `alive` is what is left. */
static bj_status collect(bj_copies *copies, uint64_t begun, _Atomic uint64_t *first_end_ns, double *seconds,
                         size_t *alive, bj_error *error) {
    for (size_t i = 0; i < copies->count; i++) {
        copy *c = &copies->items[i];
        int result;
        if (c->pid == 0 || waitpid(c->pid, &result, WNOHANG) != c->pid)
            continue;
        uint64_t now = bj_platform_read_ns();
        c->pid = 0;
        --*alive;
        if (*first_end_ns == 0)
            *first_end_ns = now;
        seconds[i] = (double)(now - begun) * 1e-9;
        if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
            return tell_end(copies, c, result, error);
    }
    return BJ_OK;
}

bj_status bj_platform_run_copies(bj_copies *copies, const bj_copies_rules *rules, _Atomic uint64_t *begun_ns,
                                 _Atomic uint64_t *first_end_ns, double *seconds, bj_error *error) {
    struct pollfd *polls = calloc(2 * copies->count + 1, sizeof *polls);
    bj_status status = BJ_OK;
    size_t alive = copies->count;
    if (polls == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu copies", copies->count);
    uint64_t begun = bj_platform_read_ns();
    *begun_ns = begun;
    close(copies->gate);
    copies->gate = -1;
    while (status == BJ_OK && alive > 0) {
        listen_to(copies, polls);
        status = collect(copies, begun, first_end_ns, seconds, &alive, error);
        if (status == BJ_OK && rules->is_stopped != NULL && rules->is_stopped(rules->context))
            status = bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
        else if (status == BJ_OK && alive > 0 && (double)(bj_platform_read_ns() - begun) > rules->limit_s * 1e9)
            status =
                bj_base_set_error(error, BJ_ERR_FAILED, "%.80s was not done within %g s", copies->name, rules->limit_s);
    }
    free(polls);
    if (sweep(copies) && status == BJ_OK)
        status = bj_base_set_error(error, BJ_ERR_FAILED,
                                   "%.80s ended and left processes running; it must stay in the foreground until all "
                                   "its work is done",
                                   copies->name);
    return status;
}

void bj_platform_end_copies(bj_copies *copies) {
    if (copies == NULL)
        return;
    for (size_t i = 0; i < copies->count; i++) {
        copy *c = &copies->items[i];
        if (c->pid > 0) {
            kill(-c->group, SIGKILL);
            end_one(c->pid);
            c->pid = 0;
        }
        if (c->errors >= 0)
            close(c->errors);
        if (c->end >= 0)
            close(c->end);
    }
    if (copies->guard > 0) {
        kill(copies->guard, SIGKILL);
        waitpid(copies->guard, NULL, 0);
        copies->guard = 0;
    }
    (void)sweep(copies);
    if (copies->gate >= 0)
        close(copies->gate);
    if (copies->leash >= 0)
        close(copies->leash);
    (void)adopt_orphans(false);
    free(copies->former);
    free(copies->items);
    free(copies);
}
