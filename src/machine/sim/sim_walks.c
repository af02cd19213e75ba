/* Walks on a simulated machine, in the steps of a real one: the chain is written in visiting order (a lap that warms
 * the caches), short walks go round once more, then come the timed batches, each going on where the last stopped.
 * Several walks take turns, access by access.
 *
 * Shortcuts leave the samples as they are. A lap with nothing but nearest hits changes nothing, so all later ones are
 * alike. The building lap of a long walk misses everywhere, so that its outcome is written down (cold_lap.h) but for
 * its end, and not even that where nothing of it would survive the end. */
#include <math.h>
#include <stdlib.h>

#include "machine/sim/cold_lap.h"
#include "machine/sim/sim_machine.h"

enum { BATCH_ACCESSES = 20000, SHORT_WALK = 65536, TAIL = 32768 };

typedef struct {
    const bj_walk *walk;
    bj_sim_cpu *cpu;
    const bj_sim_mapping *mapping;
    double memory_cycles;  /* local or remote */
    size_t cold_from;      /* the part of the building lap whose outcome is written without simulating it */
    size_t simulated_from; /* and the part that is simulated */
    bool distinct;         /* each line is visited once in a lap */
    size_t position;       /* where the next access is */
    bool settled;          /* all later laps are alike, at `settled_cycles` an access */
    double settled_cycles;
} walker;

static double count_cycles(const bj_sim_spec *spec, const walker *who, const bj_sim_counts *from) {
    const bj_sim_counts *to = &who->cpu->counts;
    double cycles = 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        cycles += (double)(to->hits[i] - from->hits[i]) * spec->caches[i].latency_cycles;
    cycles += (double)(to->hits[spec->cache_count] - from->hits[spec->cache_count]) * who->memory_cycles;
    /* The first level's look-up is part of the load-to-use latency. */
    for (size_t i = 1; i < spec->tlb_count; i++)
        cycles += (double)(to->tlb_hits[i] - from->tlb_hits[i]) * spec->tlbs[i].latency_cycles;
    if (spec->tlb_count > 0)
        cycles += (double)(to->tlb_hits[spec->tlb_count] - from->tlb_hits[spec->tlb_count]) * spec->walk_cycles;
    return cycles;
}

static void advance(bj_sim_machine *self, walker *who, size_t accesses) {
    while (accesses > 0) {
        size_t left = who->walk->count - who->position;
        size_t now = accesses < left ? accesses : left;
        bj_sim_visit_places(&self->hierarchy, who->cpu, who->mapping, who->walk->places + who->position, now);
        who->position = now == left ? 0 : who->position + now;
        accesses -= now;
    }
}

/* All walks go on by `accesses[i]`, in turns. */
static void advance_all(bj_sim_machine *self, walker *walkers, size_t count, const size_t *accesses) {
    if (count == 1) {
        advance(self, walkers, accesses[0]);
        return;
    }
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = accesses[i] > most ? accesses[i] : most;
    for (size_t step = 0; step < most; step++) {
        for (size_t i = 0; i < count; i++) {
            if (step < accesses[i])
                advance(self, &walkers[i], 1);
        }
    }
}

static void update_neighbour(bj_sim_machine *self) {
    if (self->spec->neighbour > 0)
        bj_sim_set_neighbour_share(&self->hierarchy, bj_sim_neighbour_share(&self->noise, self->clock_s));
}

/* How much of a long lone walk's building lap need not be simulated: nothing of the cold part, and nothing at all of
 * what the rest washes out. Prefetchers that take part, and lines visited several times, want the whole of what is
 * left. */
static void plan_building(const bj_sim_machine *self, walker *who, uint32_t granule_words) {
    const bj_sim_spec *spec = self->spec;
    const bj_walk *walk = who->walk;
    double granule = (double)granule_words * BJ_WALK_WORD_BYTES;
    double longest_line = (double)spec->caches[spec->cache_count - 1].line_bytes;
    double visits = fmax(longest_line / granule, 1); /* of a line, in a lap */
    who->distinct = visits == 1;
    double needed = 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        needed = fmax(needed, bj_sim_lines_to_wash_out(spec, i));
    bool asleep = bj_sim_prefetchers_sleep(spec, walk->places, walk->count);
    who->cold_from = who->simulated_from = 0;
    if (asleep && walk->count > TAIL)
        who->simulated_from = walk->count - TAIL;
    if ((double)walk->count / visits < needed)
        return;
    /* Of lines that come once in a lap nothing is left to meet; others may be met again if they come near its end. */
    size_t met_again = asleep && who->distinct ? TAIL : (size_t)(2 * needed);
    if (walk->count > met_again) {
        who->cold_from = walk->count - met_again;
        if (who->simulated_from < who->cold_from)
            who->simulated_from = who->cold_from;
    }
}

/* Checks the places and finds the largest power of two of words that all their distances are multiples of. */
static bj_status check_places(const bj_walk *walk, uint32_t *granule_words, bj_error *error) {
    uint32_t highest = 0, differing = 0;
    for (size_t i = 0; i < walk->count; i++) {
        highest = walk->places[i] > highest ? walk->places[i] : highest;
        differing |= walk->places[i] ^ walk->places[0];
    }
    if ((uint64_t)highest * BJ_WALK_WORD_BYTES + BJ_WALK_WORD_BYTES > walk->arena->bytes)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a walk leaves its arena of %llu bytes",
                                 (unsigned long long)walk->arena->bytes);
    *granule_words = differing & -differing;
    return BJ_OK;
}

static bj_status prepare_walker(bj_sim_machine *self, const bj_walk *walk, size_t walk_count, walker *who,
                                bj_error *error) {
    const bj_sim_spec *spec = self->spec;
    size_t position;
    if (!bj_sim_find_position(spec, walk->cpu, &position))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s has no cpu %d", self->where, walk->cpu);
    if (walk->count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a walk of no places");
    *who = (walker){.walk = walk, .mapping = walk->arena->mapping};
    bool local = bj_sim_node_of(spec, position) == walk->arena->node;
    who->memory_cycles = local ? spec->memory_latency_cycles : spec->memory_remote_latency_cycles;
    uint32_t granule_words = 0;
    bj_status status = check_places(walk, &granule_words, error);
    if (status == BJ_OK)
        status = bj_sim_get_cpu(&self->hierarchy, position, &who->cpu, error);
    /* Short walks and those in company are simulated from the first access on. */
    if (status == BJ_OK && walk_count == 1 && walk->count > SHORT_WALK)
        plan_building(self, who, granule_words);
    return status;
}

/* Writes the chains and warms up; charges the clock. */
static bj_status build(bj_sim_machine *self, walker *walkers, size_t count, size_t *accesses, bj_sim_counts *before,
                       bj_error *error) {
    double longest = 0;
    update_neighbour(self);
    for (size_t i = 0; i < count; i++) {
        walker *who = &walkers[i];
        if (who->simulated_from > 0) {
            bj_status status =
                bj_sim_write_cold_lap(&self->hierarchy, who->cpu, who->mapping, who->walk->places + who->cold_from,
                                      who->simulated_from - who->cold_from, who->distinct, error);
            if (status != BJ_OK)
                return status;
        }
        before[i] = who->cpu->counts;
        who->position = who->simulated_from;
        accesses[i] = who->walk->count - who->simulated_from;
    }
    advance_all(self, walkers, count, accesses);
    for (size_t i = 0; i < count; i++) {
        double each = count_cycles(self->spec, &walkers[i], &before[i]) / (double)accesses[i];
        longest = fmax(longest, each * (double)walkers[i].walk->count);
    }
    double lap = 0;
    for (size_t i = 0; i < count; i++) {
        before[i] = walkers[i].cpu->counts;
        accesses[i] = walkers[i].walk->count <= SHORT_WALK ? walkers[i].walk->count : 0;
    }
    advance_all(self, walkers, count, accesses);
    for (size_t i = 0; i < count; i++)
        lap = fmax(lap, count_cycles(self->spec, &walkers[i], &before[i]));
    self->clock_s += (longest + lap) / self->spec->clock_ghz * 1e-9;
    return BJ_OK;
}

/* After the second lap of a lone short walk: were all of its accesses the nearest hits? */
static void see_whether_settled(const bj_sim_machine *self, walker *who, const bj_sim_counts *before) {
    const bj_sim_spec *spec = self->spec;
    const bj_sim_counts *now = &who->cpu->counts;
    bool watched = (spec->prefetchers & (BJ_SIM_STRIDE | BJ_SIM_REGION)) != 0;
    who->settled = !watched && spec->neighbour == 0 && who->walk->count <= SHORT_WALK &&
                   now->hits[0] - before->hits[0] == who->walk->count &&
                   now->tlb_hits[0] - before->tlb_hits[0] == who->walk->count;
    who->settled_cycles = spec->caches[0].latency_cycles;
}

static void run_batch(bj_sim_machine *self, walker *walkers, size_t count, size_t *accesses, bj_sim_counts *before,
                      double *samples, unsigned repetitions) {
    size_t batch = accesses[0];
    double longest_ns = 0;
    update_neighbour(self);
    for (size_t i = 0; i < count; i++)
        before[i] = walkers[i].cpu->counts;
    if (!walkers[0].settled)
        advance_all(self, walkers, count, accesses);
    for (size_t i = 0; i < count; i++) {
        double cycles = walkers[i].settled ? walkers[i].settled_cycles
                                           : count_cycles(self->spec, &walkers[i], &before[i]) / (double)batch;
        double ns = bj_sim_add_noise(&self->noise, cycles / self->spec->clock_ghz, self->clock_s);
        samples[i * repetitions] = ns;
        longest_ns = fmax(longest_ns, ns * (double)batch);
    }
    self->clock_s += longest_ns * 1e-9;
}

static bj_status check_cpus_differ(const bj_walk *walks, size_t walk_count, bj_error *error) {
    for (size_t i = 0; i < walk_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (walks[i].cpu == walks[j].cpu)
                return bj_base_set_error(error, BJ_ERR_USAGE, "two walks at once on cpu %d", walks[i].cpu);
        }
    }
    return BJ_OK;
}

bj_status bj_sim_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort,
                           double *ns_per_access, bj_error *error) {
    bj_sim_machine *self = machine->self;
    if (walk_count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no walks to run");
    walker *walkers = calloc(walk_count, sizeof *walkers);
    size_t *accesses = calloc(walk_count, sizeof *accesses);
    bj_sim_counts *before = calloc(walk_count, sizeof *before);
    bj_status status = check_cpus_differ(walks, walk_count, error);
    if (walkers == NULL || accesses == NULL || before == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", walk_count);
    for (size_t i = 0; status == BJ_OK && i < walk_count; i++)
        status = prepare_walker(self, &walks[i], walk_count, &walkers[i], error);
    if (status != BJ_OK)
        goto done;
    status = build(self, walkers, walk_count, accesses, before, error);
    if (status != BJ_OK)
        goto done;
    if (walk_count == 1)
        see_whether_settled(self, walkers, before);
    for (size_t i = 0; i < walk_count; i++)
        accesses[i] = effort->min_accesses > BATCH_ACCESSES ? effort->min_accesses : BATCH_ACCESSES;
    for (unsigned i = 0; i < effort->repetitions; i++)
        run_batch(self, walkers, walk_count, accesses, before, ns_per_access + i, effort->repetitions);
done:
    free(before);
    free(accesses);
    free(walkers);
    return status;
}
