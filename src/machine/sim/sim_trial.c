/* Trials on a simulated machine: copies of a load, and actors that are loads of one kind each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_check.h"
#include "machine/sim/load_model.h"

/* A program is so much of the load's work as takes it this long alone. */
static const double PROGRAM_NS = 1e9;
/* Of a siblings' core, the units that all programs compute with. */
static const char *const COMPUTE_UNITS[] = {"int", "fp"};

bj_status bj_machine_attach_load(bj_machine *simulated, const char *path, size_t *threads, bj_error *error) {
    bj_sim_machine *self = simulated->self;
    BJ_TRY(bj_sim_read_load(path, &self->load, error));
    self->has_load = true;
    simulated->facts.no_counters = "a simulated machine has none";
    if (threads != NULL)
        *threads = (size_t)self->load.threads;
    return BJ_OK;
}

static bool siblings_compete(const bj_sim_spec *spec) {
    for (size_t i = 0; i < spec->shared_unit_count; i++)
        for (size_t j = 0; j < 2; j++)
            if (strcmp(spec->shared_units[i], COMPUTE_UNITS[j]) == 0)
                return true;
    return false;
}

static bj_status place_worker(bj_sim_machine *self, int cpu, bj_sim_worker *worker, bj_error *error) {
    bj_sim_cpu *found = NULL;
    BJ_TRY(bj_sim_find_cpu(self, cpu, &worker->position, error));
    BJ_TRY(bj_sim_get_cpu(&self->memory, worker->position, &found, error));
    worker->cpu = found;
    worker->most_gbs = INFINITY;
    return BJ_OK;
}

/* Of a copy: one a cpu, but no more than the load has. */
static size_t count_threads(const bj_sim_load *load, const bj_copy *copy) {
    return load->threads > 1 && copy->cpu_count > load->threads ? (size_t)load->threads : copy->cpu_count;
}

/* The work of one of so many threads of a copy. */
static void take_load(const bj_sim_load *load, double threads, bj_sim_worker *worker) {
    worker->compute_ns = load->compute_ns / threads;
    worker->reuse_bytes = (double)load->reuse.bytes / threads;
    worker->accesses = (double)load->reuse.accesses / threads;
    worker->stream_bytes = (double)load->stream.bytes / threads;
    worker->arrays = (double)load->stream.arrays;
}

static void take_act(const bj_actor *actor, bj_sim_worker *worker) {
    double line = (double)worker->cpu->spec->caches[0].line_bytes;
    worker->compute_ns = actor->act == BJ_ACT_NOTHING ? 1 : 0;
    if (actor->act == BJ_ACT_WALK) {
        worker->reuse_bytes = (double)actor->bytes;
        worker->accesses = 1;
    } else if (actor->act == BJ_ACT_LINES) {
        worker->stream_bytes = line;
        worker->arrays = actor->places;
        worker->past_caches = true;
        worker->most_gbs = actor->gbs > 0 ? actor->gbs : INFINITY;
    }
}

/* All that runs beside each other: threads of the copies one after the other, then the actors. */
typedef struct {
    bj_sim_worker *workers;
    size_t count, actors_from;
} troupe;

static bj_status gather(bj_sim_machine *self, const bj_trial *trial, troupe *all, bj_error *error) {
    size_t room = trial->actor_count;
    for (size_t i = 0; i < trial->copy_count; i++)
        room += count_threads(&self->load, &trial->copies[i]);
    *all = (troupe){.workers = calloc(room, sizeof *all->workers)};
    if (all->workers == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu loads", room);
    for (size_t i = 0; i < trial->copy_count; i++) {
        size_t threads = count_threads(&self->load, &trial->copies[i]);
        for (size_t t = 0; t < threads; t++) {
            bj_sim_worker *worker = &all->workers[all->count++];
            BJ_TRY(place_worker(self, trial->copies[i].cpus[t], worker, error));
            take_load(&self->load, (double)threads, worker);
        }
    }
    all->actors_from = all->count;
    for (size_t i = 0; i < trial->actor_count; i++) {
        bj_sim_worker *worker = &all->workers[all->count++];
        BJ_TRY(place_worker(self, trial->actors[i].cpu, worker, error));
        take_act(&trial->actors[i], worker);
    }
    for (size_t i = 0; siblings_compete(self->spec) && i < all->count; i++) {
        double busy = 0;
        for (size_t j = 0; j < all->count; j++)
            busy += all->workers[j].position / self->spec->smt == all->workers[i].position / self->spec->smt;
        all->workers[i].compute_ns *= busy;
    }
    return BJ_OK;
}

/* Units of work of the whole program. */
static bj_status count_units(bj_sim_machine *self, int cpu, double *units, bj_error *error) {
    bj_sim_worker alone = {0};
    *units = self->load.units;
    if (*units > 0)
        return BJ_OK;
    BJ_TRY(place_worker(self, cpu, &alone, error));
    take_load(&self->load, 1, &alone);
    BJ_TRY(bj_sim_time_workers(self, &alone, 1, NULL, error));
    *units = PROGRAM_NS / alone.unit_ns;
    return BJ_OK;
}

static void sample_all(bj_sim_machine *self, const bj_trial *trial, const troupe *all, double units, double *seconds,
                       double *achieved) {
    const bj_sim_worker *worker = all->workers;
    double longest = trial->copy_count > 0 ? 0 : trial->seconds;
    for (size_t i = 0; i < trial->copy_count; i++) {
        double ns = 0; /* the copy's slowest thread */
        for (size_t t = 0; t < count_threads(&self->load, &trial->copies[i]); t++, worker++)
            ns = fmax(ns, worker->unit_ns);
        seconds[i] = bj_sim_add_noise(&self->noise, ns * units, self->clock_s) * 1e-9;
        longest = fmax(longest, seconds[i]);
    }
    for (size_t i = 0; i < trial->actor_count; i++, worker++) {
        double ns = bj_sim_add_noise(&self->noise, worker->unit_ns, self->clock_s);
        achieved[i] = trial->actors[i].act == BJ_ACT_WALK    ? ns
                      : trial->actors[i].act == BJ_ACT_LINES ? worker->stream_bytes / ns
                                                             : NAN;
    }
    self->clock_s += longest;
}

bj_status bj_sim_run_trial(bj_machine *machine, const bj_trial *trial, double *seconds, double *achieved,
                           bj_trial_notes *notes, bj_error *error) {
    bj_sim_machine *self = machine->self;
    troupe all = {0};
    double units = 1;
    bj_machine_clear_samples(seconds, trial->copy_count);
    bj_machine_clear_samples(achieved, trial->actor_count);
    bj_machine_clear_notes(notes);
    BJ_TRY(bj_machine_check_trial(trial, error));
    if (trial->copy_count > 0 && !self->has_load)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: no load is attached", self->where);
    if (trial->copy_count > 0)
        BJ_TRY(count_units(self, trial->copies[0].cpus[0], &units, error));
    bj_status status = gather(self, trial, &all, error);
    if (status == BJ_OK)
        status = bj_sim_time_workers(self, all.workers, all.count, notes != NULL ? &notes->row_hits : NULL, error);
    if (status == BJ_OK)
        sample_all(self, trial, &all, units, seconds, achieved);
    free(all.workers);
    return status;
}
