#include "machine/native/native_walk.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "platform/clock.h"
#include "platform/cpu.h"

/* A batch covers at least this many loads, so that one interrupt is a small part of it. */
#define MIN_BATCH_ACCESSES 16384u
/* Building the chain in visiting order is a lap by itself. Further ones settle the replacement state where the walk may
 * fit a cache: one that replaces at random finds room for all lines only after several. Beyond 16 MiB of 64-byte lines
 * they would cost more time than they change. */
#define WARM_LAP_MAX_PLACES (256u * 1024u)
#define WARM_LAPS_MAX 4u
/* A lap that saves less than this over the one before is the last. */
#define WARM_LAP_GAIN 0.03
/* No batch takes this long; a thread that never arrives at the barrier (killed, starved) must not hang the run. */
#define BARRIER_LIMIT_NS 30000000000u

typedef struct {
    atomic_uint arrived; /* counts up: the k-th meeting is over when it reaches k × parties */
    atomic_uint finished;
    atomic_bool broken;
    unsigned parties;
} meeting;

typedef struct {
    const bj_walk *walk;
    const bj_walk_effort *effort;
    double batch_ns;
    double *ns_per_access;
    meeting *meeting;
} walk_job;

/* Runs one function on a thread of its own pinned to a cpu, with signals blocked. */
typedef struct {
    int cpu;
    bj_status (*work)(void *argument, bj_error *error);
    void *argument;
    atomic_bool *broken; /* set when it fails, so that others do not wait for it; or NULL */
    bj_status status;
    bj_error error;
} pinned_job;

static void *run_pinned(void *argument) {
    pinned_job *job = argument;
    bj_platform_block_signals();
    job->status = bj_platform_pin_thread(job->cpu, &job->error);
    if (job->status == BJ_OK)
        job->status = job->work(job->argument, &job->error);
    if (job->status != BJ_OK && job->broken != NULL)
        atomic_store(job->broken, true);
    return NULL;
}

static bj_status run_on_cpu(int cpu, bj_status (*work)(void *, bj_error *), void *argument, bj_error *error) {
    pinned_job job = {.cpu = cpu, .work = work, .argument = argument};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_pinned, &job) != 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "cannot start a thread for cpu %d", cpu);
    pthread_join(thread, NULL);
    if (job.status != BJ_OK && error != NULL)
        *error = job.error;
    return job.status;
}

/* Waits until every party has arrived `rounds` times. */
static bool meet(meeting *at, atomic_uint *counter, unsigned rounds) {
    uint64_t start = bj_platform_read_ns();
    atomic_fetch_add(counter, 1);
    for (unsigned spins = 0; atomic_load(counter) < rounds * at->parties; spins++) {
        if (atomic_load(&at->broken))
            return false;
        /* Yield now and then: with fewer cpus than walks the others need this one to get here at all. */
        if (spins % 256 == 255) {
            sched_yield();
            if (bj_platform_read_ns() - start > BARRIER_LIMIT_NS)
                atomic_store(&at->broken, true);
        }
    }
    return true;
}

/* Each place holds a pointer to the next one; the last points back to the first. */
static void *build_chain(const bj_walk *walk) {
    char *memory = walk->arena->mapping.memory;
    for (size_t i = 0; i < walk->count; i++) {
        size_t next = i + 1 < walk->count ? i + 1 : 0;
        *(void **)(memory + (size_t)walk->places[i] * BJ_WALK_WORD_BYTES) =
            memory + (size_t)walk->places[next] * BJ_WALK_WORD_BYTES;
    }
    return memory + (size_t)walk->places[0] * BJ_WALK_WORD_BYTES;
}

static size_t blocks_for(double accesses) {
    size_t blocks = (size_t)(accesses / BJ_KERNEL_CHASE_BLOCK) + 1;
    return blocks;
}

/* How many blocks a batch needs to last batch_ns, from a first timed try that also warms the caches. */
static size_t choose_blocks(const walk_job *job, void **position) {
    size_t blocks = blocks_for(job->effort->min_accesses > MIN_BATCH_ACCESSES ? (double)job->effort->min_accesses
                                                                              : MIN_BATCH_ACCESSES);
    uint64_t start = bj_platform_read_ns();
    *position = bj_kernel_chase(*position, blocks_for(MIN_BATCH_ACCESSES));
    double took = (double)(bj_platform_read_ns() - start);
    double per_block = took / (double)blocks_for(MIN_BATCH_ACCESSES);
    if (per_block > 0 && per_block * (double)blocks < job->batch_ns)
        blocks = (size_t)(job->batch_ns / per_block) + 1;
    return blocks;
}

static void *warm_up(const bj_walk *walk, void *position) {
    /* Short laps are taken several at a time: one of them is too short to be timed. */
    size_t blocks = blocks_for(walk->count > MIN_BATCH_ACCESSES ? (double)walk->count : MIN_BATCH_ACCESSES);
    double last = 0;
    for (unsigned lap = 0; lap < WARM_LAPS_MAX; lap++) {
        uint64_t start = bj_platform_read_ns();
        position = bj_kernel_chase(position, blocks);
        double took = (double)(bj_platform_read_ns() - start);
        if (lap > 0 && took > (1 - WARM_LAP_GAIN) * last)
            break;
        last = took;
    }
    return position;
}

static bj_status walk_on_thread(void *argument, bj_error *error) {
    walk_job *job = argument;
    void *position = build_chain(job->walk);
    if (job->walk->count <= WARM_LAP_MAX_PLACES)
        position = warm_up(job->walk, position);
    size_t blocks = choose_blocks(job, &position);

    for (unsigned i = 0; i < job->effort->repetitions; i++) {
        if (!meet(job->meeting, &job->meeting->arrived, i + 1))
            return bj_base_set_error(error, BJ_ERR_FAILED, "a walk did not start with the others");
        uint64_t start = bj_platform_read_ns();
        position = bj_kernel_chase(position, blocks);
        uint64_t stop = bj_platform_read_ns();
        job->ns_per_access[i] = (double)(stop - start) / ((double)blocks * BJ_KERNEL_CHASE_BLOCK);
        /* Go on walking until the slowest is done: its batch must be contended to its end. */
        atomic_fetch_add(&job->meeting->finished, 1);
        while (atomic_load(&job->meeting->finished) < (i + 1) * job->meeting->parties &&
               !atomic_load(&job->meeting->broken))
            position = bj_kernel_chase(position, 1);
    }
    /* Storing the end keeps the whole chase alive for the optimiser. */
    *(void *volatile *)&position = position;
    return BJ_OK;
}

static bj_status start_all(pinned_job *jobs, meeting *at, size_t count, bj_error *error) {
    pthread_t *threads = calloc(count, sizeof *threads);
    if (threads == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", count);
    size_t started = 0;
    while (started < count && pthread_create(&threads[started], NULL, run_pinned, &jobs[started]) == 0)
        started++;
    if (started < count)
        atomic_store(&at->broken, true);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    if (started < count)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "only %zu of %zu threads could be started", started, count);
    return BJ_OK;
}

/* Walks that only waited for another say BJ_ERR_FAILED; what stopped that one says more. */
static bj_status first_cause(const pinned_job *jobs, size_t count, bj_error *error) {
    const pinned_job *cause = NULL;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].status != BJ_OK && (cause == NULL || cause->status == BJ_ERR_FAILED))
            cause = &jobs[i];
    if (cause == NULL)
        return BJ_OK;
    if (error != NULL)
        *error = cause->error;
    return cause->status;
}

bj_status bj_native_run_walks(const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort, double batch_ns,
                              double *ns_per_access, bj_error *error) {
    meeting at = {.parties = (unsigned)walk_count};
    walk_job *walk_jobs = calloc(walk_count, sizeof *walk_jobs);
    pinned_job *jobs = calloc(walk_count, sizeof *jobs);
    bj_status status = BJ_OK;
    if (walk_jobs == NULL || jobs == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", walk_count);
        goto done;
    }
    for (size_t i = 0; i < walk_count; i++) {
        walk_jobs[i] = (walk_job){.walk = &walks[i],
                                  .effort = effort,
                                  .batch_ns = batch_ns,
                                  .ns_per_access = ns_per_access + i * effort->repetitions,
                                  .meeting = &at};
        jobs[i] =
            (pinned_job){.cpu = walks[i].cpu, .work = walk_on_thread, .argument = &walk_jobs[i], .broken = &at.broken};
    }
    status = start_all(jobs, &at, walk_count, error);
    if (status == BJ_OK)
        status = first_cause(jobs, walk_count, error);
done:
    free(jobs);
    free(walk_jobs);
    return status;
}

typedef struct {
    size_t bytes;
    bj_pages pages;
    bj_arena *arena;
} arena_job;

static bj_status map_on_cpu(void *argument, bj_error *error) {
    arena_job *job = argument;
    return bj_platform_map_pages(job->bytes, job->pages == BJ_PAGES_HUGE, &job->arena->mapping, error);
}

bj_status bj_native_open_arena(size_t bytes, bj_pages pages, int cpu, bj_arena **arena, bj_error *error) {
    bj_arena *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for an arena");
    /* Touched from the cpu that will walk it: memory comes from the node that touches it first. */
    arena_job job = {.bytes = bytes, .pages = pages, .arena = opened};
    bj_status status = run_on_cpu(cpu, map_on_cpu, &job, error);
    if (status != BJ_OK) {
        free(opened);
        return status;
    }
    *arena = opened;
    return BJ_OK;
}

typedef struct {
    unsigned repetitions;
    double batch_ns;
    double *ns_per_operation;
} chain_job;

static bj_status add_on_cpu(void *argument, bj_error *error) {
    (void)error;
    chain_job *job = argument;
    volatile uint32_t start = 1, addend = 3;
    size_t blocks = 64;
    for (;;) {
        uint64_t begin = bj_platform_read_ns();
        start = bj_kernel_add_int32(start, addend, blocks);
        if ((double)(bj_platform_read_ns() - begin) >= job->batch_ns)
            break;
        blocks *= 2;
    }
    for (unsigned i = 0; i < job->repetitions; i++) {
        uint64_t begin = bj_platform_read_ns();
        start = bj_kernel_add_int32(start, addend, blocks);
        uint64_t once = bj_platform_read_ns();
        start = bj_kernel_add_int32(start, addend, 2 * blocks);
        uint64_t twice = bj_platform_read_ns();
        /* Twice the work less once: what does not grow with the work (call, clock) cancels. */
        double difference = (double)(twice - once) - (double)(once - begin);
        job->ns_per_operation[i] = difference / ((double)blocks * BJ_KERNEL_ADD_BLOCK);
    }
    return BJ_OK;
}

bj_status bj_native_run_chain(const bj_chain *chain, unsigned repetitions, double batch_ns, double *ns_per_operation,
                              bj_error *error) {
    if (strcmp(chain->type, "int32") != 0 || strcmp(chain->operation, "add") != 0 || chain->streams != 1)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no kernel for %u streams of %s %s", chain->streams,
                                 chain->type, chain->operation);
    chain_job job = {.repetitions = repetitions, .batch_ns = batch_ns, .ns_per_operation = ns_per_operation};
    return run_on_cpu(chain->cpu, add_on_cpu, &job, error);
}

static bj_status spin_on_cpu(void *argument, bj_error *error) {
    (void)error;
    uint64_t until = bj_platform_read_ns() + (uint64_t)(*(const double *)argument * 1e9);
    volatile uint32_t sum = 1;
    while (bj_platform_read_ns() < until)
        sum = bj_kernel_add_int32(sum, sum, 64);
    return BJ_OK;
}

bj_status bj_native_warm_cpu(int cpu, double seconds, bj_error *error) {
    return run_on_cpu(cpu, spin_on_cpu, &seconds, error);
}
