/* Threads on their cpus with signals blocked, and where they meet so that all are timed at once. */
#ifndef BJ_MACHINE_NATIVE_THREADS_H
#define BJ_MACHINE_NATIVE_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    atomic_uint arrived; /* counts up: the k-th meeting is over when it reaches k × parties */
    atomic_uint finished;
    _Atomic uint64_t finished_ns; /* when the last of them did */
    atomic_bool broken;           /* somebody will never come */
    _Atomic uint64_t met_ns;      /* when the last of them arrived at the last meeting */
    unsigned parties;
} bj_native_meeting;

/* One thread's work; `meeting` is NULL where it is alone. */
typedef struct {
    int cpu;
    const int *cpus; /* not NULL: free to run on any of these, `cpu` is not read */
    size_t cpu_count;
    bj_status (*work)(void *argument, bj_error *error);
    void *argument;
    bj_native_meeting *meeting;
    bj_status status;
    bj_error error;
} bj_native_job;

/* Waits until every party has arrived `rounds` times; false: the meeting is broken. */
bool bj_native_meet(bj_native_meeting *meeting, unsigned rounds) BJ_WARN_UNUSED;
/* Says that this party is done with its k-th timed batch. It has to go on with its work until all are: the batch of the
 * slowest must be contended to its end. */
void bj_native_finish(bj_native_meeting *meeting);
/* True as well when the meeting is broken, as it is when a party does not finish for long. */
bool bj_native_all_finished(bj_native_meeting *meeting, unsigned rounds);

/* Runs the work on a thread of its own and waits for it. */
bj_status bj_native_run_on_cpu(int cpu, bj_status (*work)(void *, bj_error *), void *argument,
                               bj_error *error) BJ_WARN_UNUSED;
/* Runs all jobs at once, each on a thread of its own; the error is that of the job which stopped the others. */
bj_status bj_native_run_jobs(bj_native_job *jobs, size_t count, bj_native_meeting *meeting,
                             bj_error *error) BJ_WARN_UNUSED;

#endif
