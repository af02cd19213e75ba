/* Threads on their cpus with signals blocked, and where they meet so that all are timed at once. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Where the threads of one experiment wait for each other. */
typedef struct {
    atomic_uint arrived; /* counts up: the k-th meeting is over when it reaches k × parties */
    atomic_uint finished;
    _Atomic uint64_t finished_ns; /* when the last of them did */
    atomic_bool broken;           /* somebody will never come */
    _Atomic uint64_t met_ns;      /* when the last of them arrived at the last meeting */
    unsigned parties;
} bj_native_meeting;

/* One thread's work. It is the first member of a struct with all that the work needs. */
typedef struct bj_native_job {
    bj_status (*work)(struct bj_native_job *job, bj_error *error);
    int cpu;
    const int *cpus; /* not NULL: free to run on any of these, `cpu` is not read */
    size_t cpu_count;
    /* Set by bj_native_run_jobs. */
    bj_native_meeting *meeting;
    bj_status status;
    bj_error error;
} bj_native_job;

/* Waits until every party has arrived `rounds` times; false: the meeting is broken. */
bool bj_native_meet(bj_native_meeting *meeting, unsigned rounds) BJ_WARN_UNUSED;

/* A batch of work that can be repeated. */
typedef struct {
    void (*run)(bj_native_job *job);
    void (*go_on)(bj_native_job *job); /* a little of the same work */
    double steps;                      /* of a batch: accesses, bytes, … */
} bj_native_batch;

/* Times `repetitions` batches, each of which all threads start together: ns[i] is the time of a step. A thread that is
 * done goes on a little at a time until all are, since the batch of the slowest must be contended to its end. */
bj_status bj_native_time_batches(bj_native_job *job, const bj_native_batch *batch, unsigned repetitions, double *ns,
                                 bj_error *error) BJ_WARN_UNUSED;

/* Runs all jobs at once, each on a thread of its own, and waits for them. `jobs` are `count` structs of job_bytes that
 * begin with a bj_native_job. The error is that of the job which stopped the others. */
bj_status bj_native_run_jobs(void *jobs, size_t job_bytes, size_t count, bj_error *error) BJ_WARN_UNUSED;
