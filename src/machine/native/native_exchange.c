/* Blocks that two cpus update in turn, on the real machine (the 2012 paper, 3.1.4).
 *
 * The partner may lose its cpu at any moment, for a scheduler's slot or for good: who waits spins for a while, then
 * gives its own cpu away between looks, and gives up after seconds. A turn that was slept through is a slow sample,
 * which the statistics know how to treat; a run that hangs is none. */
#include <sched.h>
#include <stdlib.h>

#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"

/* Long enough that starting together is a small part of it. */
#define MIN_BATCH_NS 400000.0
/* Nobody is away for so long but a thread that was pinned away or a cpu that is gone. */
#define AWAY_LIMIT_NS 5000000000u
/* Looks at the flag between two readings of the clock: some ten microseconds. */
#define LOOKS 2048u
/* Turns of the first try, from which those of a batch follow. */
#define FIRST_TURNS 8u
/* No line, and no pair of lines that are fetched together, is longer. */
#define FLAG_BYTES 512u

/* What the two sides of a pair share besides the block. */
typedef struct {
    _Alignas(FLAG_BYTES) _Atomic uint64_t turn;  /* even ones are the first side's */
    _Alignas(FLAG_BYTES) _Atomic uint64_t turns; /* of each side in a batch */
    atomic_bool given_up;
} table;

typedef struct {
    bj_native_job job;
    table *between;
    uint64_t *block;
    size_t words;
    bool first;    /* of the two sides: it times */
    uint64_t turn; /* the next of this side */
    unsigned repetitions;
    double batch_ns;
    double *ns_per_turn;
} side;

/* False: the other side has given up, or is away for too long. */
static bool await_turn(const side *who) {
    table *between = who->between;
    uint64_t start = 0;
    for (;;) {
        for (unsigned look = 0; look < LOOKS; look++)
            if (atomic_load_explicit(&between->turn, memory_order_acquire) == who->turn)
                return true;
        uint64_t now = bj_platform_read_ns();
        start = start == 0 ? now : start;
        if (now - start > AWAY_LIMIT_NS || atomic_load(&who->job.meeting->broken))
            atomic_store(&between->given_up, true);
        if (atomic_load(&between->given_up))
            return false;
        sched_yield();
    }
}

static bool take_turns(side *who, uint64_t turns) {
    for (uint64_t i = 0; i < turns; i++) {
        if (!await_turn(who))
            return false;
        bj_kernel_update_block(who->block, who->words);
        atomic_store_explicit(&who->between->turn, who->turn + 1, memory_order_release);
        who->turn += 2;
    }
    return true;
}

/* From the first side's turn to its next one after so many: both sides have taken as many. */
static bool time_turns(side *who, uint64_t turns, double *ns) {
    if (!await_turn(who))
        return false;
    uint64_t start = bj_platform_read_ns();
    if (!take_turns(who, turns) || !await_turn(who))
        return false;
    *ns = (double)(bj_platform_read_ns() - start) / (2 * (double)turns);
    return true;
}

/* A first try, which also brings the block to both; from its time the turns of a batch. */
static bool try_out(side *who) {
    double ns = 0;
    if (!who->first)
        return take_turns(who, FIRST_TURNS);
    if (!time_turns(who, FIRST_TURNS, &ns))
        return false;
    atomic_store(&who->between->turns, (uint64_t)(who->batch_ns / (2 * (ns > 1 ? ns : 1))) + 1);
    return true;
}

static bj_status exchange_on_thread(bj_native_job *job, bj_error *error) {
    side *who = (side *)job;
    bool fine = bj_native_meet(job->meeting, 1) && try_out(who) && bj_native_meet(job->meeting, 2);
    uint64_t turns = atomic_load(&who->between->turns);
    for (unsigned i = 0; i < who->repetitions && fine; i++)
        fine = who->first ? time_turns(who, turns, &who->ns_per_turn[i]) : take_turns(who, turns);
    return fine ? BJ_OK : bj_base_set_error(error, BJ_ERR_FAILED, "cpu %d waited in vain for its partner", job->cpu);
}

static void close_all(bj_machine *machine, bj_arena **arenas, size_t count) {
    for (size_t i = 0; arenas != NULL && i < count; i++)
        bj_native_close_arena(machine, arenas[i]);
    free(arenas);
}

bj_status bj_native_run_exchanges(bj_machine *machine, const bj_exchange *exchanges, size_t count, unsigned repetitions,
                                  double *ns_per_turn, bj_error *error) {
    bj_machine_clear_samples(ns_per_turn, count * repetitions);
    double batch_ns = 0;
    BJ_TRY(bj_machine_check_exchanges(exchanges, count, error));
    BJ_TRY(bj_native_warm_up(machine, exchanges[0].cpu_a, &batch_ns, error));
    bj_status status = BJ_OK;
    side *sides = calloc(2 * count, sizeof *sides);
    table *tables = aligned_alloc(FLAG_BYTES, count * sizeof *tables);
    bj_arena **arenas = calloc(count, sizeof(bj_arena *));
    if (sides == NULL || tables == NULL || arenas == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu exchanges", count);
    for (size_t i = 0; status == BJ_OK && i < count; i++) {
        const bj_exchange *pair = &exchanges[i];
        int owner = pair->touched_by_b ? pair->cpu_b : pair->cpu_a;
        tables[i] = (table){.turn = 0};
        status = bj_native_open_arena(machine, pair->bytes, BJ_PAGES_BASE, owner, &arenas[i], error);
        for (unsigned j = 0; status == BJ_OK && j < 2; j++)
            sides[2 * i + j] = (side){.job = {.cpu = j == 0 ? pair->cpu_a : pair->cpu_b, .work = exchange_on_thread},
                                      .between = &tables[i],
                                      .block = (uint64_t *)arenas[i]->mapping.memory,
                                      .words = pair->bytes / BJ_WALK_WORD_BYTES,
                                      .first = j == 0,
                                      .turn = j,
                                      .repetitions = repetitions,
                                      .batch_ns = batch_ns > MIN_BATCH_NS ? batch_ns : MIN_BATCH_NS,
                                      .ns_per_turn = ns_per_turn + i * repetitions};
    }
    if (status == BJ_OK)
        status = bj_native_run_jobs(sides, sizeof *sides, 2 * count, error);
    close_all(machine, arenas, count);
    free(tables);
    free(sides);
    return status;
}
