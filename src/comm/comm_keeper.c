#include "comm/comm_keeper.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "comm/comm_launcher.h"
#include "platform/child.h"

/* Launchers take seconds to start thousands of ranks. */
static const double START_LIMIT_S = 120;
/* After all is done. */
static const double END_LIMIT_S = 10;
/* Rank 0 finds out within BJ_COMM_LIMIT_S and a report, writes, and has the launcher end all. */
static const double FAREWELL_S = 24;
/* Of rank 0 itself: what it said last is passed on. */
static const double FAREWELL_OF_FIRST_S = 0.6;
/* A child that was asked to end writes its profile. */
static const double STOP_LIMIT_S = 5;
/* Time is counted in slices, so that a job that was suspended has not waited. */
static const double SLICE_S = 0.2;

typedef struct {
    bool is_end;
    int number; /* rank, or exit status */
} word;

static int to_keeper = -1;

typedef struct {
    pid_t child;
    int words; /* to read */
    int rank;  /* -1: MPI has not started yet */
    bool is_done;
    int exit_status;
    bool has_ended; /* fate is what waitpid said */
    int fate;
} keeper;

static void send_word(const word *word) {
    if (to_keeper >= 0 && write(to_keeper, word, sizeof *word) != (ssize_t)sizeof *word)
        to_keeper = -1; /* nobody listens */
}

void bj_comm_tell_started(int rank) {
    send_word(&(word){.number = rank});
}

void bj_comm_tell_done(int exit_status) {
    send_word(&(word){.is_end = true, .number = exit_status});
}

/* One slice of waiting: for a word, and for the child's end. */
static void wait_slice(keeper *keeper) {
    struct pollfd words = {.fd = keeper->words, .events = POLLIN};
    word word;
    if (poll(&words, 1, (int)(1000 * SLICE_S)) > 0) {
        if (read(keeper->words, &word, sizeof word) == (ssize_t)sizeof word) {
            keeper->is_done = keeper->is_done || word.is_end;
            *(word.is_end ? &keeper->exit_status : &keeper->rank) = word.number;
        } else {
            close(keeper->words);
            keeper->words = -1; /* poll passes over it */
        }
    }
    keeper->has_ended = keeper->has_ended || waitpid(keeper->child, &keeper->fate, WNOHANG) == keeper->child;
}

static void wait_for_end(keeper *keeper, double limit_s) {
    for (double waited_s = 0; !keeper->has_ended && waited_s < limit_s; waited_s += SLICE_S)
        wait_slice(keeper);
}

static void end_child(keeper *keeper) {
    if (!keeper->has_ended)
        kill(keeper->child, SIGKILL);
    while (!keeper->has_ended && waitpid(keeper->child, &keeper->fate, 0) != keeper->child && errno != ECHILD)
        ;
    keeper->has_ended = true;
}

static void complain(const keeper *keeper, const char *what) {
    char host[64] = "unknown", who[32] = "a rank that MPI had not started";
    (void)gethostname(host, sizeof host - 1);
    if (keeper->rank >= 0)
        snprintf(who, sizeof who, "rank %d", keeper->rank);
    bj_cli_complain("%s (host %s, process %ld) %s", who, host, (long)keeper->child, what);
}

/* Rank 0 has the launcher end all; if it does not, this rank's end does. */
static int say_farewell(keeper *keeper, const volatile sig_atomic_t *stop) {
    char name[64], what[96];
    bj_platform_name_signal(WTERMSIG(keeper->fate), name, sizeof name);
    snprintf(what, sizeof what, "was ended by %s", name);
    complain(keeper, what);
    double limit_s = keeper->rank > 0 ? FAREWELL_S : FAREWELL_OF_FIRST_S;
    for (double waited_s = 0; !*stop && waited_s < limit_s; waited_s += SLICE_S)
        poll(NULL, 0, (int)(1000 * SLICE_S));
    if (!*stop)
        bj_comm_end_job(BJ_EXIT_FAILED);
    return BJ_EXIT_FAILED;
}

static int watch(keeper *keeper, const volatile sig_atomic_t *stop) {
    double waited_s = 0;
    while (!keeper->has_ended && !keeper->is_done && !*stop) {
        wait_slice(keeper);
        waited_s += SLICE_S;
        if (keeper->rank < 0 && waited_s > START_LIMIT_S) {
            complain(keeper, "did not get through the start of MPI in time");
            end_child(keeper);
            return BJ_EXIT_FAILED;
        }
    }
    if (*stop && !keeper->has_ended)
        kill(keeper->child, *stop);
    wait_for_end(keeper, *stop ? STOP_LIMIT_S : END_LIMIT_S);
    end_child(keeper);
    if (keeper->is_done)
        return keeper->exit_status;
    if (WIFEXITED(keeper->fate))
        return WEXITSTATUS(keeper->fate);
    return *stop ? BJ_EXIT_FAILED : say_farewell(keeper, stop);
}

/* In lists of processes, and for whoever kills by name: this one is not the rank. */
static void rename_process(int count, char **words) {
    bj_platform_name_process("keeper");
    for (int i = 1; i < count; i++)
        memset(words[i], 0, strlen(words[i]));
}

bool bj_comm_keep(int count, char **words, const volatile sig_atomic_t *stop, int *exit_status) {
    int ends[2];
    pid_t parent = getpid();
    if (*stop || pipe(ends) != 0)
        return true;
    fflush(NULL);
    keeper keeper = {.child = fork(), .words = ends[0], .rank = -1};
    if (keeper.child < 0) {
        close(ends[0]);
        close(ends[1]);
        return true;
    }
    if (keeper.child > 0) {
        close(ends[1]);
        rename_process(count, words);
        *exit_status = watch(&keeper, stop);
        return false;
    }
    close(ends[0]);
    to_keeper = ends[1];
    bj_platform_end_with_parent(SIGTERM); /* a rank without its keeper is one that the launcher has given up */
    if (getppid() != parent)
        _exit(BJ_EXIT_FAILED);
    return true;
}
