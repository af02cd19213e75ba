/* Work in a child process that may crash, hang or exit: it sends messages, and its end is told by name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/* Messages are sent whole or not at all, and are at most so long. */
enum { BJ_CHILD_MESSAGE_MOST = 4096 };

typedef enum {
    BJ_CHILD_DONE,   /* the work returned */
    BJ_CHILD_EXITED, /* something in it called exit */
    BJ_CHILD_KILLED, /* by a signal */
    BJ_CHILD_SILENT, /* no message within the limit: it was ended */
    BJ_CHILD_STOPPED /* is_stopped said so: it was ended */
} bj_child_end;

typedef struct {
    bj_child_end end;
    int number;      /* exit status or signal */
    bool has_fault;  /* a fault at an address: */
    int fault_range; /* the watched range that it was in; -1: none */
} bj_child_fate;

typedef struct {
    /* In the child, whose standard output goes to standard error. */
    void (*work)(void *context, int parent);
    /* In the parent, for every message. */
    void (*take)(void *context, const void *message, size_t bytes);
    bool (*is_stopped)(void *context); /* asked several times a second; NULL: never */
    void *context;
    const double *limit_s; /* of silence; `take` may change it */
} bj_child_task;

/* Forks. The child and all that it starts are gone when this returns. BJ_ERR_RESOURCE: there was no process. */
bj_status bj_platform_run_child(const bj_child_task *task, bj_child_fate *fate, bj_error *error) BJ_WARN_UNUSED;
/* In the child. False: nobody listens. */
bool bj_platform_tell_parent(int parent, const void *message, size_t bytes);

typedef struct {
    const char *begin, *end;
} bj_address_range;
/* In the child: from now on a fault is told with the range that it is in, before it kills. At most 64; they are copied.
 */
void bj_platform_watch_faults(int parent, const bj_address_range *ranges, size_t count);
/* In a process just forked: from now on this signal comes when the parent ends, where the system can do that. */
void bj_platform_end_with_parent(int signal_number);
/* How lists of processes call this one (at most 15 characters), where the system can do that. */
void bj_platform_name_process(const char *name);
/* How lists of processes call that one, and its parent; false: it is not known, or the system cannot tell. */
bool bj_platform_look_up_process(pid_t process, char *name, size_t room, pid_t *parent);
/* "a segmentation fault", "signal 16". */
void bj_platform_name_signal(int number, char *text, size_t room);
