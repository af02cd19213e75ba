/* Walks on a simulated machine, in the steps of a real one: the chain is written in visiting order (a lap that warms
 * the caches), short walks go round once more, then come the timed batches, each going on where the last stopped.
 * Several walks take turns, access by access.
 *
 * Two shortcuts, which do not change the samples:
 * - When two laps of a short walk hit alike, all later ones will. Batches are then added up from the costs of one lap.
 *   Where only the nearer levels have settled, the others are simulated for what these let through.
 * - The building lap of a long walk misses everywhere. Only its end is simulated; of the rest, the outcome is written
 *   down (cold_lap.h). */
#include <math.h>
#include <stdlib.h>

#include "machine/machine_check.h"
#include "machine/sim/cold_lap.h"
#include "machine/sim/sim_machine.h"

enum {
    BATCH_ACCESSES = 20000,
    SHORT_WALK = 65536,
    WARM_WALK = BJ_WALK_WARM_PLACES / 2, /* since simulated laps are dear */
    RECORDED_LAPS_MAX = 4,               /* exclusive levels take a lap or two more than the others to settle */
    PIECE = 32                           /* accesses whose cost is recorded together */
};

/* Hits of the first level do not wait for each other, but no core starts more than two loads a cycle. */
static const double LOAD_CYCLES = 0.5;

/* What all later laps have in common, once the TLBs and the nearest levels have settled. */
typedef struct {
    double *cycles; /* in settled levels and TLBs from the start of the lap to each piece, and to its end; NULL: none */
    size_t settled; /* number of settled levels; memory counts as one */
    /* Places that the settled levels let through, and how many of them come before each piece. */
    uint32_t *passing;
    size_t *passing_before;
} record;

typedef struct {
    const bj_walk *walk;
    const uint32_t *places; /* in visiting order: a step of each chain in turn */
    uint32_t *interleaved;  /* what they are kept in, unless in the walk */
    bj_sim_cpu *cpu;
    const bj_sim_mapping *mapping;
    double memory_cycles; /* local or remote */
    double chains;        /* side by side: what overlaps */
    bj_sim_lap_plan building;
    size_t next; /* where the next access is */
    record lap;
} walker;

/* How many of the loads that miss the first level wait at once. */
static double overlap_of(const bj_sim_spec *spec, const walker *who) {
    return fmin(who->chains, (double)spec->misses_in_flight);
}

static double count_tlb_cycles(const bj_sim_spec *spec, const walker *who, const bj_sim_counts *from) {
    const bj_sim_counts *to = &who->cpu->counts;
    double cycles = 0;
    /* The first level's look-up is part of the load-to-use latency. */
    for (size_t i = 1; i < spec->tlb_count; i++)
        cycles += (double)(to->tlb_hits[i] - from->tlb_hits[i]) * spec->tlbs[i].latency_cycles;
    if (spec->tlb_count > 0)
        cycles += (double)(to->tlb_hits[spec->tlb_count] - from->tlb_hits[spec->tlb_count]) * spec->page_walk_cycles;
    return cycles / overlap_of(spec, who);
}

static double cycles_at(const bj_sim_spec *spec, const walker *who, size_t level) {
    if (level == 0 && who->chains > 1)
        return fmax(spec->caches[0].latency_cycles / who->chains, LOAD_CYCLES);
    double latency = level < spec->cache_count ? spec->caches[level].latency_cycles : who->memory_cycles;
    return level == 0 ? latency : latency / overlap_of(spec, who);
}

static double count_cycles(const bj_sim_spec *spec, const walker *who, const bj_sim_counts *from) {
    const bj_sim_counts *to = &who->cpu->counts;
    double cycles = count_tlb_cycles(spec, who, from);
    for (size_t i = 0; i <= spec->cache_count; i++)
        cycles += (double)(to->hits[i] - from->hits[i]) * cycles_at(spec, who, i);
    return cycles;
}

static void advance(bj_sim_machine *self, walker *who, size_t accesses) {
    while (accesses > 0) {
        size_t left = who->walk->count - who->next;
        size_t now = accesses < left ? accesses : left;
        bj_sim_visit_places(&self->memory, who->cpu, who->mapping, who->places + who->next, now, NULL);
        who->next = now == left ? 0 : who->next + now;
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

static bj_status check_places(const bj_walk *walk, bj_error *error) {
    uint64_t highest = 0, words = walk->arena->bytes / BJ_WALK_WORD_BYTES;
    for (size_t i = 0; i < walk->count; i++)
        highest = walk->places[i] > highest ? walk->places[i] : highest;
    if (highest >= words)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a walk leaves its arena of %llu bytes",
                                 (unsigned long long)walk->arena->bytes);
    return BJ_OK;
}

/* The places of several chains in visiting order. */
static bj_status interleave_chains(walker *who, size_t chains, bj_error *error) {
    const bj_walk *walk = who->walk;
    size_t length = walk->count / chains, at = 0;
    who->interleaved = malloc(walk->count * sizeof *who->interleaved);
    if (who->interleaved == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk of %zu places", walk->count);
    for (size_t i = 0; i < length; i++)
        for (size_t first = 0; first < walk->count; first += length)
            who->interleaved[at++] = walk->places[first + i];
    who->places = who->interleaved;
    return BJ_OK;
}

static bj_status prepare_walker(bj_sim_machine *self, const bj_walk *walks, size_t walk_count, size_t index,
                                walker *who, bj_error *error) {
    const bj_sim_spec *spec = self->spec;
    const bj_walk *walk = &walks[index];
    unsigned chains = bj_machine_count_chains(walk);
    size_t position = 0;
    *who = (walker){.walk = walk, .places = walk->places, .mapping = walk->arena->mapping, .chains = chains};
    for (size_t i = 0; i < index; i++)
        if (walks[i].cpu == walk->cpu)
            return bj_base_set_error(error, BJ_ERR_USAGE, "two walks at once on cpu %d", walk->cpu);
    bj_status status = bj_machine_check_chains(walk, error);
    if (status == BJ_OK)
        status = bj_sim_find_cpu(self, walk->cpu, &position, error);
    if (status == BJ_OK)
        status = check_places(walk, error);
    if (status == BJ_OK && chains > 1)
        status = interleave_chains(who, chains, error);
    if (status == BJ_OK)
        status = bj_sim_get_cpu(&self->memory, position, &who->cpu, error);
    bool local = bj_sim_node_of(spec, position) == walk->arena->node;
    who->memory_cycles = local ? spec->memory_latency_cycles : spec->memory_remote_latency_cycles;
    if (status == BJ_OK && walk_count == 1)
        who->building = bj_sim_plan_lap(spec, who->places, walk->count);
    return status;
}

/* The longest walk that needs more than one lap to settle; 0: all levels are LRU. Four times the largest level that is
 * not LRU: of longer walks, less than one line in fifty stays there from lap to lap. */
static size_t find_longest_settling(const bj_sim_spec *spec) {
    size_t lines = 0;
    for (size_t i = 0; i < spec->cache_count; i++) {
        const bj_sim_cache_spec *cache = &spec->caches[i];
        if (cache->replacement != BJ_SIM_LRU && cache->sets * cache->ways > lines)
            lines = cache->sets * cache->ways;
    }
    return 4 * lines < WARM_WALK ? 4 * lines : WARM_WALK;
}

/* Laps until one is hardly faster than the one before, as on a real machine; long walks take none. Under LRU one is
 * enough. Returns the cycles of all; `before` is left at the start of the last. */
static double warm_up(bj_sim_machine *self, walker *walkers, size_t count, size_t *accesses, bj_sim_counts *before) {
    size_t settling = find_longest_settling(self->spec), longest = settling > SHORT_WALK ? settling : SHORT_WALK;
    unsigned most = settling == 0 ? 1 : BJ_WALK_WARM_LAPS;
    double all = 0, last = 0;
    for (unsigned n = 0; n < most; n++) {
        double lap = 0;
        for (size_t i = 0; i < count; i++) {
            before[i] = walkers[i].cpu->counts;
            accesses[i] = walkers[i].walk->count <= longest ? walkers[i].walk->count : 0;
        }
        advance_all(self, walkers, count, accesses);
        for (size_t i = 0; i < count; i++)
            lap = fmax(lap, count_cycles(self->spec, &walkers[i], &before[i]));
        all += lap;
        if (n > 0 && lap > (1 - BJ_WALK_WARM_GAIN) * last)
            break;
        last = lap;
    }
    return all;
}

/* Writes the chains and warms up; charges the clock. */
static bj_status build(bj_sim_machine *self, walker *walkers, size_t count, size_t *accesses, bj_sim_counts *before,
                       bj_error *error) {
    double longest = 0;
    bj_sim_update_neighbour(self);
    for (size_t i = 0; i < count; i++) {
        walker *who = &walkers[i];
        const bj_sim_lap_plan *plan = &who->building;
        if (plan->simulated_from > 0) {
            BJ_TRY(bj_sim_write_cold_lap(&self->memory, who->cpu, who->mapping, who->places, plan, error));
        }
        before[i] = who->cpu->counts;
        who->next = plan->simulated_from;
        accesses[i] = who->walk->count - plan->simulated_from;
    }
    advance_all(self, walkers, count, accesses);
    for (size_t i = 0; i < count; i++) {
        double each = count_cycles(self->spec, &walkers[i], &before[i]) / (double)accesses[i];
        longest = fmax(longest, each * (double)walkers[i].walk->count);
    }
    double laps = warm_up(self, walkers, count, accesses, before);
    self->clock_s += (longest + laps) / self->spec->clock_ghz * 1e-9;
    return BJ_OK;
}

/* Whether a level whose last two laps were alike will stay so. LRU does. Random replacement does if no load goes beyond
 * the level, since nothing is replaced then. A level that the neighbour shares does if no load gets there. */
static bool stays_settled(const bj_sim_spec *spec, size_t level, uint64_t seen, uint64_t beyond) {
    if (level == spec->cache_count)
        return true;
    if (spec->neighbour > 0 && level + 1 == spec->cache_count)
        return seen == 0;
    return spec->caches[level].replacement != BJ_SIM_RANDOM || beyond == 0;
}

/* Two laps, from the first counts to the second and from there to now: how many of the nearest levels hit alike. */
static size_t count_settled(const bj_sim_machine *self, const walker *who, const bj_sim_counts *first,
                            const bj_sim_counts *second) {
    const bj_sim_counts *now = &who->cpu->counts;
    size_t levels = self->spec->cache_count + 1, settled = 0;
    uint64_t seen = who->walk->count;
    for (; settled < levels; settled++) {
        uint64_t hits = now->hits[settled] - second->hits[settled];
        if (hits != second->hits[settled] - first->hits[settled] ||
            !stays_settled(self->spec, settled, seen, seen - hits))
            break;
        seen -= hits;
    }
    /* While a further level has not settled, alike counts prove it only for LRU. */
    for (size_t i = 0; i < settled && settled < levels; i++) {
        if (self->spec->caches[i].replacement != BJ_SIM_LRU)
            return i;
    }
    return settled;
}

static bool tlbs_settled(const walker *who, const bj_sim_counts *first, const bj_sim_counts *second) {
    bool alike = true;
    for (size_t i = 0; i <= BJ_SIM_MAX_TLBS; i++)
        alike = alike && who->cpu->counts.tlb_hits[i] - second->tlb_hits[i] == second->tlb_hits[i] - first->tlb_hits[i];
    return alike;
}

static void free_record(record *lap) {
    free(lap->cycles);
    free(lap->passing);
    free(lap->passing_before);
    *lap = (record){0};
}

/* One lap; `levels` receives where it hit, lap->cycles the TLBs' part. */
static void go_round_recording(bj_sim_machine *self, walker *who, uint8_t *levels) {
    size_t count = who->walk->count, piece = 0;
    bj_sim_counts start = who->cpu->counts;
    for (size_t at = 0; at < count; at += PIECE, piece++) {
        who->lap.cycles[piece] = count_tlb_cycles(self->spec, who, &start);
        bj_sim_visit_places(&self->memory, who->cpu, who->mapping, who->places + at,
                            count - at < PIECE ? count - at : PIECE, levels + at);
    }
    who->lap.cycles[piece] = count_tlb_cycles(self->spec, who, &start);
}

/* The loads of the lap, by where they hit: into the cycles, or into the list of those to be simulated. */
static void split_lap(const bj_sim_spec *spec, walker *who, const uint8_t *levels) {
    size_t count = who->walk->count, passing = 0, piece = 0;
    double cycles = 0, each[BJ_SIM_MAX_CACHES + 1];
    for (size_t i = 0; i <= spec->cache_count; i++)
        each[i] = cycles_at(spec, who, i);
    for (size_t i = 0; i < count; i++) {
        if (i % PIECE == 0) {
            who->lap.passing_before[piece] = passing;
            who->lap.cycles[piece++] += cycles;
        }
        if (levels[i] < who->lap.settled)
            cycles += each[levels[i]];
        else
            who->lap.passing[passing++] = who->places[i];
    }
    who->lap.passing_before[piece] = passing;
    who->lap.cycles[piece] += cycles;
}

/* After the laps of a lone short walk, the counts of the last having begun at `before`: goes round until laps are alike
 * and keeps the record of one. */
static bj_status record_lap(bj_sim_machine *self, walker *who, const bj_sim_counts *before, bj_error *error) {
    size_t count = who->walk->count, pieces = (count + PIECE - 1) / PIECE;
    uint8_t *levels = malloc(count);
    who->lap.cycles = malloc((pieces + 1) * sizeof *who->lap.cycles);
    who->lap.passing = malloc(count * sizeof *who->lap.passing);
    who->lap.passing_before = malloc((pieces + 1) * sizeof *who->lap.passing_before);
    if (!levels || !who->lap.cycles || !who->lap.passing || !who->lap.passing_before) {
        free(levels);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to simulate a walk of %zu places", count);
    }
    bj_sim_counts first, second = *before;
    /* A part of the levels can only be left alone where the others do not act on it. */
    bool divisible = self->memory.independent && self->spec->prefetchers == 0;
    bool known = false;
    for (unsigned lap = 0; lap < RECORDED_LAPS_MAX && !known; lap++) {
        first = second;
        second = who->cpu->counts;
        go_round_recording(self, who, levels);
        who->lap.settled = count_settled(self, who, &first, &second);
        known = tlbs_settled(who, &first, &second) && (who->lap.settled > self->spec->cache_count || divisible);
    }
    if (known)
        split_lap(self->spec, who, levels);
    else
        free_record(&who->lap);
    free(levels);
    return BJ_OK;
}

/* The piece of a recorded lap that a place is in; *within: places before it there, of the *length that there are. */
static size_t find_piece(const walker *who, size_t place, size_t *within, size_t *length) {
    size_t count = who->walk->count, piece = place < count ? place / PIECE : (count - 1) / PIECE;
    *within = place - piece * PIECE;
    *length = count - piece * PIECE < PIECE ? count - piece * PIECE : PIECE;
    return piece;
}

/* From the start of a recorded lap to a place in it, within a piece evenly. */
static double cycles_up_to(const walker *who, size_t place) {
    size_t within, length, piece = find_piece(who, place, &within, &length);
    double part = (double)within / (double)length;
    return who->lap.cycles[piece] * (1 - part) + who->lap.cycles[piece + 1] * part;
}

static size_t passing_up_to(const walker *who, size_t place) {
    size_t within, length, piece = find_piece(who, place, &within, &length);
    size_t here = who->lap.passing_before[piece + 1] - who->lap.passing_before[piece];
    return who->lap.passing_before[piece] + here * within / length;
}

/* Goes on along a recorded lap, simulating what its settled levels let through; returns the cycles of those. */
static double replay(bj_sim_machine *self, walker *who, size_t accesses) {
    size_t count = who->walk->count, end = who->next + accesses;
    double laps = (double)(end / count);
    double cycles = laps * cycles_up_to(who, count) + cycles_up_to(who, end % count) - cycles_up_to(who, who->next);
    for (; end > 0; end -= end < count ? end : count) {
        size_t from = passing_up_to(who, who->next), to = passing_up_to(who, end < count ? end : count);
        bj_sim_visit_far_levels(&self->memory, who->cpu, who->mapping, who->lap.passing + from, to - from,
                                who->lap.settled);
        who->next = end < count ? end : 0;
    }
    return cycles;
}

static void run_batch(bj_sim_machine *self, walker *walkers, size_t count, size_t *accesses, bj_sim_counts *before,
                      double *samples, unsigned repetitions) {
    size_t batch = accesses[0];
    double longest_ns = 0;
    bj_sim_update_neighbour(self);
    for (size_t i = 0; i < count; i++)
        before[i] = walkers[i].cpu->counts;
    double settled_cycles = 0;
    if (walkers[0].lap.cycles != NULL)
        settled_cycles = replay(self, walkers, batch);
    else
        advance_all(self, walkers, count, accesses);
    for (size_t i = 0; i < count; i++) {
        double cycles = settled_cycles + count_cycles(self->spec, &walkers[i], &before[i]);
        double ns = bj_sim_add_noise(&self->noise, cycles / (double)batch / self->spec->clock_ghz, self->clock_s);
        samples[i * repetitions] = ns;
        longest_ns = fmax(longest_ns, ns * (double)batch);
    }
    self->clock_s += longest_ns * 1e-9;
}

bj_status bj_sim_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort,
                           double *ns_per_access, bj_error *error) {
    bj_machine_clear_samples(ns_per_access, walk_count * effort->repetitions);
    bj_sim_machine *self = machine->self;
    if (walk_count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no walks to run");
    size_t batch = effort->min_accesses > BATCH_ACCESSES ? effort->min_accesses : BATCH_ACCESSES;
    walker *walkers = calloc(walk_count, sizeof *walkers);
    size_t *accesses = calloc(walk_count, sizeof *accesses);
    bj_sim_counts *before = calloc(walk_count, sizeof *before);
    bj_status status = BJ_OK;
    if (walkers == NULL || accesses == NULL || before == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", walk_count);
    for (size_t i = 0; status == BJ_OK && i < walk_count; i++)
        status = prepare_walker(self, walks, walk_count, i, &walkers[i], error);
    if (status == BJ_OK)
        status = build(self, walkers, walk_count, accesses, before, error);
    if (status == BJ_OK && walk_count == 1 && walks[0].count <= SHORT_WALK &&
        walks[0].count < batch * effort->repetitions / 2)
        status = record_lap(self, walkers, before, error);
    for (size_t i = 0; status == BJ_OK && i < walk_count; i++)
        accesses[i] = batch;
    for (unsigned i = 0; status == BJ_OK && i < effort->repetitions; i++)
        run_batch(self, walkers, walk_count, accesses, before, ns_per_access + i, effort->repetitions);
    for (size_t i = 0; walkers != NULL && i < walk_count; i++) {
        free_record(&walkers[i].lap);
        free(walkers[i].interleaved);
    }
    free(before);
    free(accesses);
    free(walkers);
    return status;
}
