/* Threads that the scheduler may put where it likes: crowds at the same work, and watchers of the clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"
#include "platform/environment.h"
#include "platform/limits.h"

/* Threads that start together may share a cpu while others idle. At work for so long, which is several ticks of the
 * schedulers that we know, they are spread before anything is timed. */
#define WARM_UP_NS 8000000u
/* Half of the smallest first level that we know of: siblings that share one have room for both. */
#define BLOCK_BYTES 8192u
#define LINE_BYTES 64u
#define BLOCK_LINES (BLOCK_BYTES / LINE_BYTES)
/* Blocks of work between two looks at the clock while warming up: some microseconds. */
#define WARM_BLOCKS 64u

/* What the system had taken from us at one moment: stolen time, quota throttling. */
typedef struct {
    uint64_t total, stolen, throttled;
} account;

static account read_account(const int *cpus, size_t cpu_count) {
    account now = {.throttled = bj_platform_throttled_count("")};
    bj_platform_read_steal("", cpus, cpu_count, &now.total, &now.stolen);
    return now;
}

static bj_taken taken_since(const account *then, const int *cpus, size_t cpu_count) {
    account now = read_account(cpus, cpu_count);
    bj_taken taken = {.stolen = NAN, .throttled = 0};
    if (now.total > then->total && now.stolen >= then->stolen)
        taken.stolen = (double)(now.stolen - then->stolen) / (double)(now.total - then->total);
    if (now.throttled > then->throttled)
        taken.throttled = (double)(now.throttled - then->throttled);
    return taken;
}

typedef struct {
    bj_native_job job;
    const bj_crowd *crowd;
    void **block; /* of the memory kind */
    double *ns;
} worker;

/* A chain through all lines of the block. The order matters little: all of it is in the first level. */
static void build_chain(void **block) {
    size_t words = LINE_BYTES / sizeof *block, at = 0;
    for (size_t i = 0; i < BLOCK_LINES; i++) {
        size_t next = (at + 37) % BLOCK_LINES;
        block[at * words] = &block[next * words];
        at = next;
    }
}

/* Operands come from volatile variables, so that the compiler knows nothing about them, and results go to others. */
static void work(const worker *who, size_t blocks) {
    static volatile uint32_t one = 1;
    static volatile double one_double = 1;
    volatile uint32_t sum;
    volatile double sum_double;
    void *volatile end;
    switch (who->crowd->work) {
    case BJ_WORK_INT:
        sum = bj_kernel_divide_int(&one, blocks);
        (void)sum;
        break;
    case BJ_WORK_FP:
        sum_double = bj_kernel_divide_double(&one_double, blocks);
        (void)sum_double;
        break;
    default:
        end = bj_kernel_chase(who->block, blocks);
        (void)end;
        break;
    }
}

static size_t count_blocks(const bj_crowd *crowd) {
    uint64_t block = crowd->work == BJ_WORK_MEMORY ? BJ_KERNEL_CHASE_BLOCK : BJ_KERNEL_DIVIDE_BLOCK;
    return (size_t)((crowd->steps + block - 1) / block);
}

static bj_status work_in_crowd(bj_native_job *job, bj_error *error) {
    const worker *who = (worker *)job;
    size_t blocks = count_blocks(who->crowd);
    if (who->block != NULL)
        build_chain(who->block);
    for (uint64_t start = bj_platform_read_ns(); bj_platform_read_ns() - start < WARM_UP_NS;)
        work(who, WARM_BLOCKS);
    if (!bj_native_meet(job->meeting, 1))
        return bj_base_set_error(error, BJ_ERR_FAILED, "a thread did not start with the others");
    work(who, blocks);
    /* From the common start: a thread that had to wait for its cpu was delayed as well. */
    *who->ns = (double)(bj_platform_read_ns() - atomic_load(&job->meeting->met_ns));
    return BJ_OK;
}

bj_status bj_native_run_crowd(bj_machine *machine, const bj_crowd *crowd, double *ns, bj_taken *taken,
                              bj_error *error) {
    (void)machine; /* the threads warm up by themselves, wherever they are */
    bj_status status = bj_machine_check_crowd(crowd->threads, crowd->cpu_count, error);
    if (status != BJ_OK)
        return status;
    bj_machine_clear_samples(ns, crowd->threads);
    *taken = (bj_taken){NAN, NAN};
    bool has_blocks = crowd->work == BJ_WORK_MEMORY;
    worker *workers = calloc(crowd->threads, sizeof *workers);
    char *blocks = has_blocks ? aligned_alloc(BLOCK_BYTES, crowd->threads * BLOCK_BYTES) : NULL;
    if (workers == NULL || (has_blocks && blocks == NULL))
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", crowd->threads);
    for (size_t i = 0; status == BJ_OK && i < crowd->threads; i++)
        workers[i] = (worker){.job = {.cpus = crowd->cpus, .cpu_count = crowd->cpu_count, .work = work_in_crowd},
                              .crowd = crowd,
                              .block = has_blocks ? (void **)(blocks + i * BLOCK_BYTES) : NULL,
                              .ns = &ns[i]};
    if (status == BJ_OK) {
        account before = read_account(crowd->cpus, crowd->cpu_count);
        status = bj_native_run_jobs(workers, sizeof *workers, crowd->threads, error);
        *taken = taken_since(&before, crowd->cpus, crowd->cpu_count);
    }
    free(blocks);
    free(workers);
    return status;
}

typedef struct {
    bj_native_job job;
    const bj_watch *watch;
    double *gaps_ns;
    size_t *count;
} watcher;

/* No meeting first: waiting there yields, and what the scheduler owes to threads that yielded shortens slots. */
static bj_status watch_on_thread(bj_native_job *job, bj_error *error) {
    (void)error;
    const watcher *who = (watcher *)job;
    *who->count = bj_kernel_watch_gaps((uint64_t)(who->watch->seconds * 1e9), (uint64_t)who->watch->least_gap_ns,
                                       who->gaps_ns, who->watch->room);
    return BJ_OK;
}

bj_status bj_native_run_watch(bj_machine *machine, const bj_watch *watch, double *gaps_ns, size_t *gap_counts,
                              bj_taken *taken, bj_error *error) {
    (void)machine;
    bj_status status = bj_machine_check_crowd(watch->threads, watch->cpu_count, error);
    if (status != BJ_OK)
        return status;
    memset(gap_counts, 0, watch->threads * sizeof *gap_counts);
    *taken = (bj_taken){NAN, NAN};
    watcher *watchers = calloc(watch->threads, sizeof *watchers);
    if (watchers == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", watch->threads);
    for (size_t i = 0; i < watch->threads; i++)
        watchers[i] = (watcher){.job = {.cpu = watch->cpus[i % watch->cpu_count],
                                        .cpus = watch->free ? watch->cpus : NULL,
                                        .cpu_count = watch->free ? watch->cpu_count : 0,
                                        .work = watch_on_thread},
                                .watch = watch,
                                .gaps_ns = gaps_ns + i * watch->room,
                                .count = &gap_counts[i]};
    account before = read_account(watch->cpus, watch->cpu_count);
    status = bj_native_run_jobs(watchers, sizeof *watchers, watch->threads, error);
    *taken = taken_since(&before, watch->cpus, watch->cpu_count);
    free(watchers);
    return status;
}
