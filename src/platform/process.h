/* Other programs: started without a shell, waited for with a limit, ended with all they started. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The words of a command line as a shell splits and expands them (~, $VARIABLE, *), but no commands inside it, and what
 * a shell would do more with (|, >, ;) is refused. BJ_ERR_USAGE says what is wrong with the line. The list ends with
 * NULL and is freed with bj_platform_free_words(). */
bj_status bj_platform_split_words(const char *line, char ***words, size_t *count, bj_error *error) BJ_WARN_UNUSED;
void bj_platform_free_words(char **words);

/* In a child, before it becomes another program: as at the start of a process, but that what a terminal sends stays
 * ignored where it was (nohup, a shell's &). */
void bj_platform_reset_signals(void);
/* In a child that watches over something: no signal reaches it, and of what we have open it keeps this alone. */
void bj_platform_heed_only(int descriptor);

typedef struct {
    char *const *words; /* the first is looked for in PATH */
    bool is_done;       /* it was started and is over */
    int exit_status;    /* of a program that ended by itself; 127: it could not be started; -1: a signal ended it */
    char output[160];   /* the first line of what it wrote that says "error", else the first line */
} bj_process;

typedef struct {
    size_t jobs;        /* at a time, at least one */
    double limit_s;     /* for all together */
    bool stop_at_first; /* what fails ends the others */
    /* Asked several times a second; true: end all, with BJ_ERR_INTERRUPTED. NULL: never. */
    bool (*is_stopped)(void *context);
    void *context;
} bj_process_rules;

/* Runs them all, with nothing to read and what they write kept in part. BJ_OK also where some failed: their exit status
 * says so. BJ_ERR_RESOURCE: not done within the limit, or out of processes. */
bj_status bj_platform_run_processes(bj_process *processes, size_t count, const bj_process_rules *rules,
                                    bj_error *error) BJ_WARN_UNUSED;

/* A new folder below TMPDIR, or /tmp; *path is the caller's to free. */
bj_status bj_platform_make_folder(char **path, bj_error *error) BJ_WARN_UNUSED;
/* The folder and the files in it; folders in it are left alone. */
void bj_platform_remove_folder(const char *path);
/* The folder of the program that this process runs, as it was started; *path is the caller's to free. */
bj_status bj_platform_find_own_folder(char **path, bj_error *error) BJ_WARN_UNUSED;
/* A number of the space that process numbers are counted in, the same for all in it on one host; 0: the system does not
 * tell. */
uint64_t bj_platform_read_pid_space(void);
