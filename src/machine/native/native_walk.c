/* Walks on the real machine, each on its own pinned thread. */
#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_mix.h"
#include "platform/clock.h"

/* A batch covers at least this many loads, so that one interrupt is a small part of it. */
#define MIN_BATCH_ACCESSES 16384u

typedef struct {
    bj_native_job job;
    const bj_walk *walk;
    const bj_walk_effort *effort;
    double batch_ns;
    double *ns_per_access;
    unsigned chains;
    void *at[BJ_WALK_CHAINS_MAX]; /* where each chain is */
    size_t blocks;                /* of a batch */
} walker;

/* Each place holds a pointer to the next one of its chain; the last points back to the first. Written in the order in
 * which they will be visited, chains side by side: that warms the caches as a lap does. */
static void build_chains(walker *who) {
    const bj_walk *walk = who->walk;
    char *memory = walk->arena->mapping.memory;
    size_t length = walk->count / who->chains;
    for (size_t i = 0; i < length; i++) {
        size_t next = i + 1 < length ? i + 1 : 0;
        for (size_t first = 0; first < walk->count; first += length)
            *(void **)(memory + (size_t)walk->places[first + i] * BJ_WALK_WORD_BYTES) =
                memory + (size_t)walk->places[first + next] * BJ_WALK_WORD_BYTES;
    }
    for (unsigned i = 0; i < who->chains; i++)
        who->at[i] = memory + (size_t)walk->places[i * length] * BJ_WALK_WORD_BYTES;
}

static void chase(walker *who, size_t blocks) {
    if (who->chains == 1)
        who->at[0] = bj_kernel_chase(who->at[0], blocks);
    else
        bj_kernel_chase_many(who->at, who->chains, blocks);
}

static double time_chase(walker *who, size_t blocks) {
    uint64_t start = bj_platform_read_ns();
    chase(who, blocks);
    return (double)(bj_platform_read_ns() - start);
}

static void chase_batch(bj_native_job *job) {
    walker *who = (walker *)job;
    chase(who, who->blocks);
}

static void chase_on(bj_native_job *job) {
    chase((walker *)job, 1);
}

static double accesses_of_block(const walker *who) {
    return who->chains == 1 ? BJ_KERNEL_CHASE_BLOCK : BJ_KERNEL_CHASE_STEPS * who->chains;
}

static size_t blocks_for(const walker *who, size_t accesses) {
    return (size_t)((double)accesses / accesses_of_block(who)) + 1;
}

/* How many blocks a batch needs to last batch_ns, from a first timed try that also warms the caches. */
static size_t choose_blocks(walker *who) {
    size_t least = blocks_for(who, MIN_BATCH_ACCESSES);
    size_t asked = blocks_for(who, who->effort->min_accesses);
    size_t blocks = asked > least ? asked : least;
    double per_block = time_chase(who, least) / (double)least;
    if (per_block > 0 && per_block * (double)blocks < who->batch_ns)
        blocks = (size_t)(who->batch_ns / per_block) + 1;
    return blocks;
}

static void warm_up(walker *who) {
    /* Short laps are taken several at a time: one of them is too short to be timed. */
    size_t lap_accesses = who->walk->count > MIN_BATCH_ACCESSES ? who->walk->count : MIN_BATCH_ACCESSES;
    double last = 0;
    for (unsigned lap = 0; lap < BJ_WALK_WARM_LAPS; lap++) {
        double took = time_chase(who, blocks_for(who, lap_accesses));
        if (lap > 0 && took > (1 - BJ_WALK_WARM_GAIN) * last)
            break;
        last = took;
    }
}

static bj_status walk_on_thread(bj_native_job *job, bj_error *error) {
    walker *who = (walker *)job;
    build_chains(who);
    if (who->walk->count <= BJ_WALK_WARM_PLACES)
        warm_up(who);
    who->blocks = choose_blocks(who);
    bj_native_batch batch = {chase_batch, chase_on, (double)who->blocks * accesses_of_block(who)};
    return bj_native_time_batches(job, &batch, who->effort->repetitions, who->ns_per_access, error);
}

size_t bj_native_walk_job_bytes(void) {
    return sizeof(walker);
}

bj_status bj_native_make_walk_job(bj_native_job *job, const bj_walk *walk, const bj_walk_effort *effort,
                                  double batch_ns, double *ns_per_access, bj_error *error) {
    BJ_TRY(bj_machine_check_chains(walk, error));
    *(walker *)job = (walker){.job = {.cpu = walk->cpu, .work = walk_on_thread},
                              .walk = walk,
                              .effort = effort,
                              .batch_ns = batch_ns,
                              .ns_per_access = ns_per_access,
                              .chains = bj_machine_count_chains(walk)};
    return BJ_OK;
}
