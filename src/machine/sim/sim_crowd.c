/* Threads that the simulated scheduler puts where it likes. A balancing one gives each the same share of what there
 * is; a sticky one deals them out once and leaves them there. Units that SMT siblings share count once a core.
 *
 * A thread that waits for others on its cpu sees a gap of a slot each; interrupts come as a Poisson process does, so
 * many a slot, and take an exponential time. Noise is drawn once for a crowd, whose threads run at the same time, and
 * once for a gap. */
#include <math.h>
#include <string.h>

#include "machine/machine_check.h"
#include "machine/sim/sim_machine.h"

/* Of one division where a divider is kept busy. */
static const double DIVISION_CYCLES = 6;
/* Of the times that a thread waits, those when somebody else's thread wants the cpu as well. */
static const double CROWDED_SHARE = 0.1;

static bool is_shared(const bj_sim_spec *spec, bj_work work) {
    static const char *const names[BJ_WORK_COUNT] = {"int", "fp", "memory"};
    for (size_t i = 0; i < spec->shared_unit_count; i++)
        if (strcmp(spec->shared_units[i], names[work]) == 0)
            return true;
    return false;
}

/* Execution contexts among the cpus: cores that any of them belongs to where siblings share the units, else cpus. */
static bj_status count_contexts(const bj_sim_machine *self, const int *cpus, size_t cpu_count, bool shared,
                                size_t *contexts, bj_error *error) {
    const bj_sim_spec *spec = self->spec;
    bool seen[BJ_SIM_MAX_CPUS] = {false};
    *contexts = 0;
    for (size_t i = 0; i < cpu_count; i++) {
        size_t position;
        BJ_TRY(bj_sim_find_cpu(self, cpus[i], &position, error));
        size_t unit = shared ? position / spec->smt : position;
        *contexts += !seen[unit];
        seen[unit] = true;
    }
    if (*contexts == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "threads on no cpu of %s", self->where);
    return BJ_OK;
}

bj_status bj_sim_run_crowd(bj_machine *machine, const bj_crowd *crowd, double *ns, bj_taken *taken, bj_error *error) {
    bj_sim_machine *self = machine->self;
    const bj_sim_spec *spec = self->spec;
    size_t contexts = 0;
    BJ_TRY(bj_machine_check_crowd(crowd->threads, crowd->cpu_count, error));
    bj_machine_clear_samples(ns, crowd->threads);
    *taken = (bj_taken){NAN, NAN};
    BJ_TRY(count_contexts(self, crowd->cpus, crowd->cpu_count, is_shared(spec, crowd->work), &contexts, error));
    double step = crowd->work == BJ_WORK_MEMORY ? spec->caches[0].latency_cycles : DIVISION_CYCLES;
    double alone = bj_sim_add_noise(&self->noise, (double)crowd->steps * step / spec->clock_ghz, self->clock_s);
    double longest = 0;
    for (size_t i = 0; i < crowd->threads; i++) {
        /* Dealt out in turn, the first contexts get one thread more than the last. */
        size_t beside = (crowd->threads - i % contexts - 1) / contexts + 1;
        double balanced = fmax(1, (double)crowd->threads / (double)contexts);
        ns[i] = alone * (spec->balance == BJ_SIM_STICKY ? (double)beside : balanced);
        longest = fmax(longest, ns[i]);
    }
    self->clock_s += longest * 1e-9;
    *taken = (bj_taken){0};
    return BJ_OK;
}

typedef struct {
    double *gaps_ns;
    size_t count, room;
    double least_ns;
} gap_list;

static void add_gap(gap_list *list, double ns) {
    if (ns > list->least_ns && list->count < list->room)
        list->gaps_ns[list->count++] = ns;
}

static double draw_exponential(bj_random *random, double mean) {
    return -mean * log1p(-bj_random_unit(random));
}

/* What a thread sees that shares its cpu with `others`: it runs for a slot, then each of them does. */
static void watch_thread(bj_sim_machine *self, double length_ns, size_t others, gap_list *list) {
    const bj_sim_spec *spec = self->spec;
    bj_random *random = &self->noise.random;
    double slot_ns = spec->slot_ms * 1e6, interrupt_ns = spec->interrupt_us * 1e3;
    double seen_per_slot = interrupt_ns > 0 ? spec->interrupts_per_slot * exp(-list->least_ns / interrupt_ns) : 0;
    for (double now = slot_ns * bj_random_unit(random); now < length_ns && list->count < list->room;) {
        /* Only interrupts longer than the least gap are drawn. An exponential time has no memory: by how much they are
         * longer is distributed as the whole length is. Their number is Poisson's: exponential times are taken off
         * until nothing is left. */
        for (double left = seen_per_slot + draw_exponential(random, -1); left > 0 && list->count < list->room;
             left += draw_exponential(random, -1))
            add_gap(list, list->least_ns + draw_exponential(random, interrupt_ns));
        size_t waits = others;
        if (others > 0 && bj_random_unit(random) < CROWDED_SHARE)
            waits++;
        double gap = waits > 0 ? bj_sim_add_noise(&self->noise, (double)waits * slot_ns, self->clock_s) : 0;
        add_gap(list, gap);
        now += slot_ns + gap;
    }
}

bj_status bj_sim_run_watch(bj_machine *machine, const bj_watch *watch, double *gaps_ns, size_t *gap_counts,
                           bj_taken *taken, bj_error *error) {
    bj_sim_machine *self = machine->self;
    size_t cpus = 0;
    BJ_TRY(bj_machine_check_crowd(watch->threads, watch->cpu_count, error));
    memset(gap_counts, 0, watch->threads * sizeof *gap_counts);
    *taken = (bj_taken){NAN, NAN};
    BJ_TRY(count_contexts(self, watch->cpus, watch->cpu_count, false, &cpus, error));
    for (size_t i = 0; i < watch->threads; i++) {
        size_t others = (watch->threads - i % cpus - 1) / cpus;
        gap_list list = {.gaps_ns = gaps_ns + i * watch->room, .room = watch->room, .least_ns = watch->least_gap_ns};
        watch_thread(self, watch->seconds * 1e9, others, &list);
        gap_counts[i] = list.count;
    }
    self->clock_s += watch->seconds;
    *taken = (bj_taken){0};
    return BJ_OK;
}
