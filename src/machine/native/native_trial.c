/* Trials on the real machine: copies are processes of their own, actors are pinned threads of ours. A thread that
 * nobody pins lets the copies go, waits for their ends and then stops the actors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"
#include "platform/copies.h"
#include "platform/counters.h"

#define LINE_BYTES 64u
/* Between two looks at the clock: some microseconds of work. */
#define CHASE_BLOCKS 2u
#define ADD_BLOCKS 8u
#define CHUNK_BYTES 16384u
/* One that falls behind its rate by more than this does not make up for it: it would press harder than asked. */
#define LATE_NS 200000u
#define NAP_NS 2000000u

/* What all threads of a trial look at. */
typedef struct {
    _Atomic uint64_t begun_ns;     /* of the copies, or of the time without; 0: not yet */
    _Atomic uint64_t first_end_ns; /* 0: not yet */
    atomic_bool over;
} stage;

typedef struct {
    bj_native_job job;
    const bj_actor *actor; /* NULL: the one that directs */
    stage *stage;
    double *achieved;
    bj_mapping mapping;
    void *place; /* where the walk is */
    char *arrays[BJ_STREAM_ARRAYS_MAX];
    size_t array_bytes, at;
    uint64_t due_ns; /* when the next chunk may come, at the rate asked for */
    /* Of the one that directs: */
    const bj_trial *trial;
    const bj_command *command;
    bj_copies *copies;
    double *seconds;
} player;

bj_status bj_machine_attach_command(bj_machine *native, const bj_command *command, bj_error *error) {
    bj_native_machine *self = native->self;
    if (command->words == NULL || command->words[0] == NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a command of no words");
    self->command = *command;
    if (bj_platform_has_counters(self->no_counters, sizeof self->no_counters))
        self->no_counters[0] = '\0';
    native->facts.no_counters = self->no_counters;
    return BJ_OK;
}

/* ---- actors */

static bj_status map_range(player *who, size_t bytes, bj_error *error) {
    bj_status status = bj_platform_map_pages(bytes, bj_platform_huge_bytes() > 0, &who->mapping, error);
    return status == BJ_ERR_UNSUPPORTED ? bj_platform_map_pages(bytes, false, &who->mapping, error) : status;
}

/* One cycle through all lines, in random order (Sattolo). */
static bj_status build_chain(player *who, bj_error *error) {
    size_t lines = who->mapping.bytes / LINE_BYTES;
    uint32_t *order = malloc(lines * sizeof *order);
    bj_random random;
    if (order == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk of %zu lines", lines);
    bj_random_seed(&random, (uint64_t)who->actor->cpu + 1);
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) {
        size_t j = (size_t)bj_random_below(&random, i);
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(void *)(who->mapping.memory + (size_t)order[i] * LINE_BYTES) =
            who->mapping.memory + (size_t)order[(i + 1) % lines] * LINE_BYTES;
    who->place = who->mapping.memory;
    free(order);
    return BJ_OK;
}

/* Arrays an odd number of pages apart and each a little further into its page, as those of streams (native_streams.c).
 */
static void lay_arrays(player *who) {
    const size_t page = 4096, step = 3 * LINE_BYTES, count = who->actor->places;
    size_t apart = ((who->mapping.bytes / count / page - 1) | 1) * page;
    apart -= apart * count > who->mapping.bytes ? 2 * page : 0;
    who->array_bytes = count > 1 ? (apart - page) / LINE_BYTES * LINE_BYTES : who->mapping.bytes;
    for (size_t i = 0; i < count; i++)
        who->arrays[i] = who->mapping.memory + (count > 1 ? i * apart + i * step % page : 0);
}

static bj_status prepare(player *who, bj_error *error) {
    if (who->actor->act == BJ_ACT_NOTHING)
        return BJ_OK;
    BJ_TRY(map_range(who, who->actor->bytes, error));
    if (who->actor->act == BJ_ACT_WALK)
        return build_chain(who, error);
    lay_arrays(who);
    return BJ_OK;
}

/* A chunk of work, in accesses or bytes. */
static double press(player *who) {
    static volatile uint32_t sum;
    switch (who->actor->act) {
    case BJ_ACT_WALK:
        who->place = bj_kernel_chase(who->place, CHASE_BLOCKS);
        return CHASE_BLOCKS * BJ_KERNEL_CHASE_BLOCK;
    case BJ_ACT_LINES: {
        size_t count = who->actor->places, each = CHUNK_BYTES / count / LINE_BYTES * LINE_BYTES;
        each = each > 0 ? each : LINE_BYTES;
        if (who->at + each > who->array_bytes)
            who->at = 0;
        bj_kernel_write_arrays_past(who->arrays, count, who->at, each);
        who->at += each;
        return (double)(each * count);
    }
    default:
        sum = bj_kernel_add_int32(sum, 1, ADD_BLOCKS);
        return 1;
    }
}

/* When the chunk counts as done: at the rate asked for, also where the trial is over before. */
static uint64_t keep_rate(player *who, double bytes) {
    uint64_t now = bj_platform_read_ns();
    if (who->actor->act != BJ_ACT_LINES || !(who->actor->gbs > 0))
        return now;
    who->due_ns += (uint64_t)(bytes / who->actor->gbs);
    if (who->due_ns + LATE_NS < now)
        who->due_ns = now;
    volatile uint32_t sum = 0;
    while ((now = bj_platform_read_ns()) < who->due_ns && !atomic_load(&who->stage->over))
        sum = bj_kernel_add_int32(sum, 1, 1);
    return now > who->due_ns ? now : who->due_ns;
}

/* Also once more where all was over before one looked, which a thread that was off its cpu does late. */
static bool goes_on(const player *who, bool told) {
    if (atomic_load(&who->job.meeting->broken))
        return false;
    return !atomic_load(&who->stage->over) || (!told && atomic_load(&who->stage->first_end_ns) != 0);
}

static bj_status act_on_thread(bj_native_job *job, bj_error *error) {
    player *who = (player *)job;
    double done = 0;
    uint64_t first_ns = 0;
    bool told = false;
    BJ_TRY(prepare(who, error));
    if (!bj_native_meet(job->meeting, 1))
        return bj_base_set_error(error, BJ_ERR_FAILED, "a thread did not start with the others");
    uint64_t now = bj_platform_read_ns();
    while (goes_on(who, told)) {
        uint64_t before = now;
        double chunk = press(who);
        now = keep_rate(who, chunk);
        if (told || atomic_load(&who->stage->begun_ns) == 0)
            continue;
        bool ended = atomic_load(&who->stage->first_end_ns) != 0;
        if (first_ns == 0 && !ended) {
            first_ns = now;
            continue;
        }
        done += chunk;
        if (!ended)
            continue;
        /* A chunk that took longer than the trial is all there is to go by. */
        double elapsed = (double)(now - (first_ns != 0 ? first_ns : before));
        *who->achieved = who->actor->act == BJ_ACT_WALK    ? elapsed / done
                         : who->actor->act == BJ_ACT_LINES ? done / elapsed
                                                           : NAN;
        told = true;
    }
    return BJ_OK;
}

/* ---- the one that directs */

static bj_status wait_without_copies(const player *who, bj_error *error) {
    uint64_t begun = bj_platform_read_ns(), until = begun + (uint64_t)(who->trial->seconds * 1e9);
    const struct timespec nap = {.tv_nsec = NAP_NS};
    atomic_store(&who->stage->begun_ns, begun);
    while (bj_platform_read_ns() < until) {
        nanosleep(&nap, NULL);
        if (who->command->is_stopped != NULL && who->command->is_stopped(who->command->context))
            return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
    }
    atomic_store(&who->stage->first_end_ns, bj_platform_read_ns());
    nanosleep(&nap, NULL); /* so that all have seen it */
    return BJ_OK;
}

static bj_status direct_on_thread(bj_native_job *job, bj_error *error) {
    player *who = (player *)job;
    bj_status status = BJ_OK;
    if (!bj_native_meet(job->meeting, 1))
        return bj_base_set_error(error, BJ_ERR_FAILED, "a thread did not start with the others");
    if (who->copies == NULL) {
        status = wait_without_copies(who, error);
    } else {
        const bj_copies_rules rules = {who->command->limit_s, who->command->is_stopped, who->command->context};
        const struct timespec nap = {.tv_nsec = NAP_NS};
        status = bj_platform_run_copies(who->copies, &rules, &who->stage->begun_ns, &who->stage->first_end_ns,
                                        who->seconds, error);
        nanosleep(&nap, NULL);
    }
    atomic_store(&who->stage->over, true);
    return status;
}

static bj_status play(bj_native_machine *self, const bj_trial *trial, bj_copies *copies, double *seconds,
                      double *achieved, bj_error *error) {
    stage scene = {0};
    size_t count = trial->actor_count + 1;
    player *players = calloc(count, sizeof *players);
    if (players == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", count);
    for (size_t i = 0; i < trial->actor_count; i++)
        players[i] = (player){.job = {.cpu = trial->actors[i].cpu, .work = act_on_thread},
                              .actor = &trial->actors[i],
                              .stage = &scene,
                              .achieved = &achieved[i]};
    players[count - 1] = (player){.job = {.cpus = self->cpus, .cpu_count = self->cpu_count, .work = direct_on_thread},
                                  .stage = &scene,
                                  .trial = trial,
                                  .command = &self->command,
                                  .copies = copies,
                                  .seconds = seconds};
    bj_status status = bj_native_run_jobs(players, sizeof *players, count, error);
    for (size_t i = 0; i < trial->actor_count; i++)
        bj_platform_unmap_pages(&players[i].mapping);
    free(players);
    return status;
}

static void take_counts(const bj_counters *counters, double *counts) {
    bj_counter_values values = bj_platform_read_counters(counters);
    counts[BJ_COUNT_CYCLES] = values.cycles;
    counts[BJ_COUNT_INSTRUCTIONS] = values.instructions;
    counts[BJ_COUNT_LOADS] = values.loads;
    counts[BJ_COUNT_MISSES] = values.misses;
}

bj_status bj_native_run_trial(bj_machine *machine, const bj_trial *trial, double *seconds, double *achieved,
                              bj_trial_notes *notes, bj_error *error) {
    bj_native_machine *self = machine->self;
    bj_copies *copies = NULL;
    bj_status status = BJ_OK;
    bj_machine_clear_samples(seconds, trial->copy_count);
    bj_machine_clear_samples(achieved, trial->actor_count);
    bj_machine_clear_notes(notes);
    BJ_TRY(bj_machine_check_trial(trial, error));
    if (trial->copy_count > 0 && self->command.words == NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no program is attached to the machine");
    if (trial->copy_count > 0) {
        bj_copy_cpus *cpus = calloc(trial->copy_count, sizeof *cpus);
        if (cpus == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu copies", trial->copy_count);
        for (size_t i = 0; i < trial->copy_count; i++)
            cpus[i] = (bj_copy_cpus){trial->copies[i].cpus, trial->copies[i].cpu_count};
        status = bj_platform_hold_copies(self->command.words, cpus, trial->copy_count, &copies, error);
        free(cpus);
    }
    bj_counters *counters = NULL;
    if (status == BJ_OK && copies != NULL && notes != NULL && self->no_counters[0] == '\0')
        counters = bj_platform_open_counters(bj_platform_find_copy(copies, 0));
    if (status == BJ_OK)
        status = play(self, trial, copies, seconds, achieved, error);
    if (status == BJ_OK && counters != NULL)
        take_counts(counters, notes->counts);
    bj_platform_close_counters(counters);
    bj_platform_end_copies(copies);
    return status;
}
