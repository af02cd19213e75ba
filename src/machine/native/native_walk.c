/* Walks on the real machine, each on its own pinned thread. */
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"

/* A batch covers at least this many loads, so that one interrupt is a small part of it. */
#define MIN_BATCH_ACCESSES 16384u

typedef struct {
    const bj_walk *walk;
    const bj_walk_effort *effort;
    double batch_ns;
    double *ns_per_access;
    bj_native_meeting *meeting;
} walk_job;

/* Where the chains of a walk are. */
typedef struct {
    unsigned chains;
    void *at[BJ_WALK_CHAINS_MAX];
} walk_position;

/* Each place holds a pointer to the next one of its chain; the last points back to the first. Written in the order in
 * which they will be visited, chains side by side: that warms the caches as a lap does. */
static void build_chains(const bj_walk *walk, walk_position *position) {
    char *memory = walk->arena->mapping.memory;
    size_t length = walk->count / position->chains;
    for (size_t i = 0; i < length; i++) {
        size_t next = i + 1 < length ? i + 1 : 0;
        for (size_t first = 0; first < walk->count; first += length)
            *(void **)(memory + (size_t)walk->places[first + i] * BJ_WALK_WORD_BYTES) =
                memory + (size_t)walk->places[first + next] * BJ_WALK_WORD_BYTES;
    }
    for (unsigned i = 0; i < position->chains; i++)
        position->at[i] = memory + (size_t)walk->places[i * length] * BJ_WALK_WORD_BYTES;
}

static void chase(walk_position *position, size_t blocks) {
    if (position->chains == 1)
        position->at[0] = bj_kernel_chase(position->at[0], blocks);
    else
        bj_kernel_chase_many(position->at, position->chains, blocks);
}

static double accesses_of_block(const walk_position *position) {
    return position->chains == 1 ? BJ_KERNEL_CHASE_BLOCK : BJ_KERNEL_CHASE_STEPS * position->chains;
}

static size_t blocks_for(const walk_position *position, size_t accesses) {
    return (size_t)((double)accesses / accesses_of_block(position)) + 1;
}

/* How many blocks a batch needs to last batch_ns, from a first timed try that also warms the caches. */
static size_t choose_blocks(const walk_job *job, walk_position *position) {
    size_t least = blocks_for(position, MIN_BATCH_ACCESSES);
    size_t asked = blocks_for(position, job->effort->min_accesses);
    size_t blocks = asked > least ? asked : least;
    uint64_t start = bj_platform_read_ns();
    chase(position, least);
    double per_block = (double)(bj_platform_read_ns() - start) / (double)least;
    if (per_block > 0 && per_block * (double)blocks < job->batch_ns)
        blocks = (size_t)(job->batch_ns / per_block) + 1;
    return blocks;
}

static void warm_up(const bj_walk *walk, walk_position *position) {
    /* Short laps are taken several at a time: one of them is too short to be timed. */
    size_t blocks = blocks_for(position, walk->count > MIN_BATCH_ACCESSES ? walk->count : MIN_BATCH_ACCESSES);
    double last = 0;
    for (unsigned lap = 0; lap < BJ_WALK_WARM_LAPS; lap++) {
        uint64_t start = bj_platform_read_ns();
        chase(position, blocks);
        double took = (double)(bj_platform_read_ns() - start);
        if (lap > 0 && took > (1 - BJ_WALK_WARM_GAIN) * last)
            break;
        last = took;
    }
}

static bj_status walk_on_thread(void *argument, bj_error *error) {
    walk_job *job = argument;
    walk_position position = {.chains = bj_machine_count_chains(job->walk)};
    build_chains(job->walk, &position);
    if (job->walk->count <= BJ_WALK_WARM_PLACES)
        warm_up(job->walk, &position);
    size_t blocks = choose_blocks(job, &position);
    double accesses = (double)blocks * accesses_of_block(&position);

    for (unsigned i = 0; i < job->effort->repetitions; i++) {
        if (!bj_native_meet(job->meeting, i + 1))
            return bj_base_set_error(error, BJ_ERR_FAILED, "a walk did not start with the others");
        uint64_t start = bj_platform_read_ns();
        chase(&position, blocks);
        uint64_t stop = bj_platform_read_ns();
        job->ns_per_access[i] = (double)(stop - start) / accesses;
        bj_native_finish(job->meeting);
        while (!bj_native_all_finished(job->meeting, i + 1))
            chase(&position, 1);
    }
    return BJ_OK;
}

bj_status bj_native_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count,
                              const bj_walk_effort *effort, double *ns_per_access, bj_error *error) {
    double batch_ns;
    bj_status status = bj_native_warm_up(machine, walks[0].cpu, &batch_ns, error);
    if (status != BJ_OK)
        return status;
    bj_native_meeting meeting = {.parties = (unsigned)walk_count};
    walk_job *walk_jobs = calloc(walk_count, sizeof *walk_jobs);
    bj_native_job *jobs = calloc(walk_count, sizeof *jobs);
    if (walk_jobs == NULL || jobs == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", walk_count);
    for (size_t i = 0; status == BJ_OK && i < walk_count; i++) {
        status = bj_machine_check_chains(&walks[i], error);
        walk_jobs[i] = (walk_job){.walk = &walks[i],
                                  .effort = effort,
                                  .batch_ns = batch_ns,
                                  .ns_per_access = ns_per_access + i * effort->repetitions,
                                  .meeting = &meeting};
        jobs[i] = (bj_native_job){.cpu = walks[i].cpu, .work = walk_on_thread, .argument = &walk_jobs[i]};
    }
    if (status == BJ_OK)
        status = bj_native_run_jobs(jobs, walk_count, &meeting, error);
    free(jobs);
    free(walk_jobs);
    return status;
}
