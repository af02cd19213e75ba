#include "machine/native/native_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "platform/clock.h"
#include "platform/cpu.h"

/* No batch takes this long; a thread that never arrives at the barrier (killed, starved) must not hang the run. */
#define BARRIER_LIMIT_NS 30000000000u
/* By count as well, for a clock that stops: minutes of looks. */
#define BARRIER_LIMIT_SPINS 4000000000u
/* Stacks of hundreds of threads count against a limit of the address space; the work needs next to nothing. */
#define STACK_BYTES (256u * 1024u)

static void *run_job(void *argument) {
    bj_native_job *job = argument;
    bj_platform_block_signals();
    job->status = job->cpus != NULL ? bj_platform_confine_thread(job->cpus, job->cpu_count, &job->error)
                                    : bj_platform_pin_thread(job->cpu, &job->error);
    if (job->status == BJ_OK)
        job->status = job->work(job, &job->error);
    if (job->status != BJ_OK)
        atomic_store(&job->meeting->broken, true);
    return NULL;
}

bool bj_native_meet(bj_native_meeting *meeting, unsigned rounds) {
    /* The latest of all, and there before anybody can see that all have arrived: who came last may lose its cpu at any
     * moment. */
    uint64_t start = bj_platform_read_ns(), latest = atomic_load(&meeting->met_ns);
    while (latest < start && !atomic_compare_exchange_weak(&meeting->met_ns, &latest, start))
        ;
    atomic_fetch_add(&meeting->arrived, 1);
    for (unsigned spins = 0; atomic_load(&meeting->arrived) < rounds * meeting->parties; spins++) {
        if (atomic_load(&meeting->broken))
            return false;
        /* Yield now and then: with fewer cpus than threads the others need this one to get here at all. */
        if (spins % 256 == 255) {
            sched_yield();
            if (bj_platform_read_ns() - start > BARRIER_LIMIT_NS || spins > BARRIER_LIMIT_SPINS)
                atomic_store(&meeting->broken, true);
        }
    }
    return true;
}

static void finish(bj_native_meeting *meeting) {
    atomic_store(&meeting->finished_ns, bj_platform_read_ns());
    atomic_fetch_add(&meeting->finished, 1);
}

/* True as well when the meeting is broken, as it is when a party does not finish for long. */
static bool have_all_finished(bj_native_meeting *meeting, unsigned rounds) {
    /* Now and then: where the clock is a system call, asking it each time would be most of the work. */
    static _Thread_local unsigned calls;
    if (atomic_load(&meeting->finished) >= rounds * meeting->parties || atomic_load(&meeting->broken))
        return true;
    if (++calls % 256 == 0 && bj_platform_read_ns() - atomic_load(&meeting->finished_ns) > BARRIER_LIMIT_NS)
        atomic_store(&meeting->broken, true);
    return false;
}

bj_status bj_native_time_batches(bj_native_job *job, const bj_native_batch *batch, unsigned repetitions, double *ns,
                                 bj_error *error) {
    for (unsigned i = 0; i < repetitions; i++) {
        if (!bj_native_meet(job->meeting, i + 1))
            return bj_base_set_error(error, BJ_ERR_FAILED, "a thread did not start with the others");
        uint64_t start = bj_platform_read_ns();
        batch->run(job);
        ns[i] = (double)(bj_platform_read_ns() - start) / batch->steps;
        finish(job->meeting);
        while (!have_all_finished(job->meeting, i + 1))
            batch->go_on(job);
    }
    return BJ_OK;
}

static bj_native_job *job_at(void *jobs, size_t job_bytes, size_t i) {
    return (bj_native_job *)((char *)jobs + i * job_bytes);
}

static bool start_thread(pthread_t *thread, const pthread_attr_t *attributes, bj_native_job *job) {
    int trouble = pthread_create(thread, attributes, run_job, job);
    if (trouble == EINVAL) /* thread-local data of the program that we are part of may not fit */
        trouble = pthread_create(thread, NULL, run_job, job);
    return trouble == 0;
}

static bj_status run_threads(void *jobs, size_t job_bytes, size_t count, bj_native_meeting *meeting, bj_error *error) {
    pthread_attr_t attributes;
    pthread_t *threads = calloc(count, sizeof *threads);
    if (threads == NULL || pthread_attr_init(&attributes) != 0) {
        free(threads);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", count);
    }
    /* Where it cannot be set, the system's own is as good: only larger. */
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    size_t started = 0;
    while (started < count && start_thread(&threads[started], &attributes, job_at(jobs, job_bytes, started)))
        started++;
    pthread_attr_destroy(&attributes);
    if (started < count)
        atomic_store(&meeting->broken, true);
    /* They work on the caller's stack: nothing may take it away before they end. */
    int cancelling;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    (void)pthread_setcancelstate(cancelling, NULL);
    free(threads);
    if (started < count)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "only %zu of %zu threads could be started", started, count);
    return BJ_OK;
}

/* Threads that only waited for another say BJ_ERR_FAILED; what stopped that one says more. */
static bj_status first_cause(void *jobs, size_t job_bytes, size_t count, bj_error *error) {
    const bj_native_job *cause = NULL;
    for (size_t i = 0; i < count; i++) {
        const bj_native_job *job = job_at(jobs, job_bytes, i);
        if (job->status != BJ_OK && (cause == NULL || cause->status == BJ_ERR_FAILED))
            cause = job;
    }
    if (cause == NULL)
        return BJ_OK;
    if (error != NULL)
        *error = cause->error;
    return cause->status;
}

bj_status bj_native_run_jobs(void *jobs, size_t job_bytes, size_t count, bj_error *error) {
    bj_native_meeting meeting = {.parties = (unsigned)count};
    for (size_t i = 0; i < count; i++)
        job_at(jobs, job_bytes, i)->meeting = &meeting;
    bj_status status = run_threads(jobs, job_bytes, count, &meeting, error);
    if (status == BJ_OK)
        status = first_cause(jobs, job_bytes, count, error);
    if (status == BJ_OK && atomic_load(&meeting.broken))
        status = bj_base_set_error(error, BJ_ERR_FAILED, "a thread did not end with the others");
    return status;
}
