#include "platform/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "platform/clock.h"
#include "platform/guardian.h"
#include "platform/system/file_system.h"

enum { POLL_MS = 20, NOT_STARTED = 127 };

void bj_platform_free_words(char **words) {
    wordexp_t list = {.we_wordv = words};
    while (words != NULL && words[list.we_wordc] != NULL)
        list.we_wordc++;
    wordfree(&list);
}

bj_status bj_platform_split_words(const char *line, char ***words, size_t *count, bj_error *error) {
    wordexp_t list = {0};
    int trouble = wordexp(line, &list, WRDE_NOCMD | WRDE_UNDEF);
    if (trouble == 0) {
        *words = list.we_wordv;
        *count = list.we_wordc;
        return BJ_OK;
    }
    if (trouble == WRDE_NOSPACE) {
        wordfree(&list); /* which may hold the first words */
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a command line");
    }
    const char *why = trouble == WRDE_BADCHAR  ? "one of |&;<>(){} or a line end stands outside quotes"
                      : trouble == WRDE_BADVAL ? "a variable is not set"
                      : trouble == WRDE_CMDSUB ? "commands inside are not run"
                                               : "a quote is not closed, or a $ begins nothing that can be read";
    return bj_base_set_error(error, BJ_ERR_USAGE, "%s in '%.60s'", why, line);
}

void bj_platform_reset_signals(void) {
    for (int s = 1; s < NSIG; s++) {
        struct sigaction now;
        bool is_of_terminal = s == SIGINT || s == SIGQUIT || s == SIGHUP;
        if (is_of_terminal && sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            continue;
        signal(s, SIG_DFL);
    }
}

void bj_platform_heed_only(int descriptor) {
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    int most = (int)sysconf(_SC_OPEN_MAX);
    for (int other = 0; other < (most > 0 && most < 4096 ? most : 4096); other++)
        if (other != descriptor)
            close(other);
}

/* One that runs: its end of the pipe, and the line that it is writing. */
typedef struct {
    pid_t pid; /* 0: not running */
    int pipe;  /* -1: it wrote all */
    char line[sizeof((bj_process *)0)->output];
    size_t length;
    bool has_error;
} running;

/* Compilers take the folder from the environment, too, and hand it to their parts as a word. */
static void name_folder_whole(void) {
    char whole[PATH_MAX];
    const char *parent = getenv("TMPDIR");
    if (parent != NULL && parent[0] != '/' && realpath(parent, whole) != NULL)
        setenv("TMPDIR", whole, 1);
}

static void become(const bj_process *process, int output) {
    /* A group of its own, to be ended with all that it starts. A terminal's Ctrl-C then reaches only us, and we end it.
     */
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    bj_platform_reset_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    name_folder_whole();
    execvp(process->words[0], process->words);
    _exit(NOT_STARTED);
}

static bj_status start(const bj_process *process, running *state, bj_error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no pipe for %.60s: %s", process->words[0], strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        become(process, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no process for %.60s: %s", process->words[0],
                                 strerror(errno));
    }
    setpgid(pid, pid);
    bj_platform_tell_guardian(pid, true);
    *state = (running){.pid = pid, .pipe = ends[0]};
    return BJ_OK;
}

static void end_line(bj_process *process, running *state) {
    state->line[state->length] = '\0';
    bool is_error = strstr(state->line, "error") != NULL && !state->has_error;
    if (state->length > 0 && (is_error || process->output[0] == '\0'))
        memcpy(process->output, state->line, state->length + 1);
    state->has_error = state->has_error || is_error;
    state->length = 0;
}

static void take_output(bj_process *process, running *state) {
    char text[4096];
    ssize_t count = read(state->pipe, text, sizeof text);
    for (ssize_t i = 0; i < count; i++) {
        if (text[i] == '\n')
            end_line(process, state);
        else if (state->length + 1 < sizeof state->line)
            state->line[state->length++] = text[i];
    }
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
        end_line(process, state);
        close(state->pipe);
        state->pipe = -1;
    }
}

/* True: it is over. One whose children still hold the pipe is not waited for beyond its own end. */
static bool collect(bj_process *process, running *state) {
    int result;
    if (waitpid(state->pid, &result, WNOHANG) != state->pid)
        return false;
    struct pollfd rest = {.fd = state->pipe, .events = POLLIN};
    while (state->pipe >= 0 && poll(&rest, 1, 0) > 0)
        take_output(process, state);
    if (state->pipe >= 0)
        close(state->pipe);
    bj_platform_tell_guardian(state->pid, false);
    process->is_done = true;
    process->exit_status = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
    state->pid = 0;
    return true;
}

static void end_all(running *states, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (states[i].pid == 0)
            continue;
        kill(-states[i].pid, SIGKILL);
        waitpid(states[i].pid, NULL, 0);
        bj_platform_tell_guardian(states[i].pid, false);
        if (states[i].pipe >= 0)
            close(states[i].pipe);
        states[i].pid = 0;
    }
}

/* Sleeps until one writes or POLL_MS are over, and takes what was written. */
static void listen_to(bj_process *processes, running *states, size_t count, struct pollfd *polls) {
    for (size_t i = 0; i < count; i++)
        polls[i] = (struct pollfd){.fd = states[i].pid != 0 ? states[i].pipe : -1, .events = POLLIN};
    if (poll(polls, count, POLL_MS) <= 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (polls[i].revents != 0)
            take_output(&processes[i], &states[i]);
}

static bj_status run_all(bj_process *processes, running *states, struct pollfd *polls, size_t count,
                         const bj_process_rules *rules, bj_error *error) {
    uint64_t until = bj_platform_read_ns() + (uint64_t)(rules->limit_s * 1e9);
    size_t begun = 0, alive = 0;
    bool failed = false;
    while (alive > 0 || (begun < count && !(failed && rules->stop_at_first))) {
        while (begun < count && alive < rules->jobs && !(failed && rules->stop_at_first)) {
            BJ_TRY(start(&processes[begun], &states[begun], error));
            begun++;
            alive++;
        }
        listen_to(processes, states, begun, polls);
        for (size_t i = 0; i < begun; i++) {
            if (states[i].pid == 0 || !collect(&processes[i], &states[i]))
                continue;
            alive--;
            failed = failed || processes[i].exit_status != 0;
        }
        if (failed && rules->stop_at_first)
            return BJ_OK;
        if (rules->is_stopped != NULL && rules->is_stopped(rules->context))
            return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
        if (alive > 0 && bj_platform_read_ns() > until)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "%.60s was not done within %.0f s", processes[0].words[0],
                                     rules->limit_s);
    }
    return BJ_OK;
}

bj_status bj_platform_run_processes(bj_process *processes, size_t count, const bj_process_rules *rules,
                                    bj_error *error) {
    running *states = calloc(count + 1, sizeof *states);
    struct pollfd *polls = calloc(count + 1, sizeof *polls);
    bj_status status = BJ_OK;
    if (states == NULL || polls == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu processes", count);
    if (status == BJ_OK)
        status = run_all(processes, states, polls, count, rules, error);
    if (states != NULL)
        end_all(states, count);
    free(states);
    free(polls);
    return status;
}

bj_status bj_platform_make_folder(char **path, bj_error *error) {
    const char *parent = bj_platform_read_variable("TMPDIR");
    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    /* Whole: as a word of a compiler's command line "-folder/file.c" would be an option. */
    char whole[PATH_MAX];
    const char *named = parent;
    if (parent[0] != '/' && realpath(parent, whole) != NULL)
        parent = whole;
    size_t room = strlen(parent) + 32;
    char *made = malloc(room);
    if (made == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
    snprintf(made, room, "%s/blackjack-XXXXXX", parent);
    if (mkdtemp(made) == NULL) {
        bj_status status = bj_base_set_error(error, errno == EACCES || errno == EROFS ? BJ_ERR_PERMISSION : BJ_ERR_IO,
                                             "%.120s: no folder can be made there: %s", named, strerror(errno));
        free(made);
        return status;
    }
    bj_platform_post_guardian(made);
    *path = made;
    return BJ_OK;
}

void bj_platform_remove_folder(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
    bj_platform_dismiss_guardian();
}

bj_status bj_platform_find_own_folder(char **path, bj_error *error) {
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    *path = NULL;
    if (length <= 0)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "/proc/self/exe: %s", strerror(errno));
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    *path = slash != NULL ? strndup(program, (size_t)(slash - program)) : NULL;
    return *path != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
}

uint64_t bj_platform_read_pid_space(void) {
    struct stat space;
    return stat("/proc/self/ns/pid", &space) == 0 ? (uint64_t)space.st_ino : 0;
}
