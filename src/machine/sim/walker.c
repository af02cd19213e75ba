#include "machine/sim/walker.h"

#include <math.h>
#include <stdlib.h>

#include "machine/machine_check.h"

enum { WARM_WALK = BJ_WALK_WARM_PLACES / 2 /* since simulated laps are dear */ };

/* Hits of the first level do not wait for each other, but no core starts more than two loads a cycle. */
static const double LOAD_CYCLES = 0.5;

/* How many of the loads that miss the first level wait at once. */
static double overlap_of(const bj_sim_walker *who) {
    return fmin(who->chains, (double)who->cpu->spec->misses_in_flight);
}

double bj_sim_count_tlb_cycles(const bj_sim_walker *who, const bj_sim_counts *from) {
    const bj_sim_spec *spec = who->cpu->spec;
    const bj_sim_counts *to = &who->cpu->counts;
    double cycles = 0;
    /* The first level's look-up is part of the load-to-use latency. */
    for (size_t i = 1; i < spec->tlb_count; i++)
        cycles += (double)(to->tlb_hits[i] - from->tlb_hits[i]) * spec->tlbs[i].latency_cycles;
    if (spec->tlb_count > 0)
        cycles += (double)(to->tlb_hits[spec->tlb_count] - from->tlb_hits[spec->tlb_count]) * spec->page_walk_cycles;
    return cycles / overlap_of(who);
}

double bj_sim_cycles_at(const bj_sim_walker *who, size_t level) {
    const bj_sim_spec *spec = who->cpu->spec;
    if (level == 0 && who->chains > 1)
        return fmax(spec->caches[0].latency_cycles / who->chains, LOAD_CYCLES);
    double latency = level < spec->cache_count ? spec->caches[level].latency_cycles : who->memory_cycles;
    return level == 0 ? latency : latency / overlap_of(who);
}

double bj_sim_count_cycles(const bj_sim_walker *who, const bj_sim_counts *from) {
    const bj_sim_counts *to = &who->cpu->counts;
    double cycles = bj_sim_count_tlb_cycles(who, from);
    for (size_t i = 0; i <= who->cpu->spec->cache_count; i++)
        cycles += (double)(to->hits[i] - from->hits[i]) * bj_sim_cycles_at(who, i);
    return cycles;
}

void bj_sim_advance_walker(bj_sim_machine *self, bj_sim_walker *who, size_t accesses) {
    while (accesses > 0) {
        size_t left = who->walk->count - who->next;
        size_t now = accesses < left ? accesses : left;
        bj_sim_visit_places(&self->memory, who->cpu, who->mapping, who->places + who->next, now, NULL);
        who->next = now == left ? 0 : who->next + now;
        accesses -= now;
    }
}

/* The cache that most cpus share with this one. NULL: a nearer one is not within it, so that no cache tells who may
 * meet whom. */
static const bj_sim_cache *find_widest(const bj_sim_cpu *cpu) {
    const bj_sim_spec *spec = cpu->spec;
    size_t widest = 0;
    for (size_t i = 1; i < spec->cache_count; i++)
        widest = spec->caches[i].shared_by >= spec->caches[widest].shared_by ? i : widest;
    for (size_t i = 0; i < spec->cache_count; i++)
        if (spec->caches[widest].shared_by % spec->caches[i].shared_by != 0)
            return NULL;
    return cpu->caches[widest];
}

bool bj_sim_may_meet(const bj_sim_cpu *a, const bj_sim_cpu *b) {
    const bj_sim_cache *of_a = find_widest(a), *of_b = find_widest(b);
    return of_a == NULL || of_b == NULL || of_a == of_b;
}

static void find_meetings(bj_sim_walker *walkers, size_t count) {
    bool all_meet = false;
    for (size_t i = 0; i < count; i++) {
        all_meet = all_meet || find_widest(walkers[i].cpu) == NULL;
        for (walkers[i].meets = 0; !bj_sim_may_meet(walkers[walkers[i].meets].cpu, walkers[i].cpu);)
            walkers[i].meets++;
    }
    for (size_t i = 0; all_meet && i < count; i++)
        walkers[i].meets = 0;
}

/* Those that meet the first, in turns. */
static void advance_meeting(bj_sim_machine *self, bj_sim_walker *walkers, size_t first, size_t count,
                            const size_t *accesses) {
    size_t most = 0;
    for (size_t i = first; i < count; i++)
        most = walkers[i].meets == first && accesses[i] > most ? accesses[i] : most;
    for (size_t done = 0; done < most; done += BJ_SIM_TURN) {
        for (size_t i = first; i < count; i++) {
            size_t left = accesses[i] > done ? accesses[i] - done : 0;
            if (walkers[i].meets == first && left > 0)
                bj_sim_advance_walker(self, &walkers[i], left < BJ_SIM_TURN ? left : BJ_SIM_TURN);
        }
    }
}

/* Walks that meet in no cache go one after the other, since nothing tells the difference: the host then needs the
 * tables of one widest cache at a time, which its own caches hold. */
void bj_sim_advance_walkers(bj_sim_machine *self, bj_sim_walker *walkers, size_t count, const size_t *accesses) {
    if (count == 1) {
        bj_sim_advance_walker(self, walkers, accesses[0]);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (walkers[i].meets == i)
            advance_meeting(self, walkers, i, count, accesses);
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
static bj_status interleave_chains(bj_sim_walker *who, size_t chains, bj_error *error) {
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

bj_status bj_sim_prepare_walker(bj_sim_machine *self, const bj_walk *walk, bj_sim_walker *who, bj_error *error) {
    unsigned chains = bj_machine_count_chains(walk);
    size_t position = 0;
    *who = (bj_sim_walker){.walk = walk, .places = walk->places, .mapping = walk->arena->mapping, .chains = chains};
    BJ_TRY(bj_machine_check_chains(walk, error));
    BJ_TRY(bj_sim_find_cpu(self, walk->cpu, &position, error));
    BJ_TRY(check_places(walk, error));
    if (chains > 1)
        BJ_TRY(interleave_chains(who, chains, error));
    BJ_TRY(bj_sim_get_cpu(&self->memory, position, &who->cpu, error));
    const bj_sim_spec *spec = who->cpu->spec;
    bool local = bj_sim_node_of(spec, position) == walk->arena->node;
    who->memory_cycles = local ? spec->memory_latency_cycles : spec->memory_remote_latency_cycles;
    return BJ_OK;
}

void bj_sim_leave_alone(bj_sim_walker *who) {
    who->building = bj_sim_plan_lap(who->cpu->spec, who->places, who->walk->count);
}

void bj_sim_close_walker(bj_sim_walker *who) {
    free(who->lap.cycles);
    free(who->lap.passing);
    free(who->lap.passing_before);
    free(who->interleaved);
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

static double count_ns(const bj_sim_walker *who, const bj_sim_counts *from) {
    return bj_sim_count_cycles(who, from) / who->cpu->spec->clock_ghz;
}

/* Laps until one is hardly faster than the one before, as on a real machine; long walks take none. Under LRU one is
 * enough. Returns the ns of all; `before` is left at the start of the last. */
static double warm_up(bj_sim_machine *self, bj_sim_walker *walkers, size_t count, size_t *accesses,
                      bj_sim_counts *before) {
    size_t settling = find_longest_settling(self->spec),
           longest = settling > BJ_SIM_SHORT_WALK ? settling : BJ_SIM_SHORT_WALK;
    unsigned most = settling == 0 ? 1 : BJ_WALK_WARM_LAPS;
    double all = 0, last = 0;
    for (unsigned n = 0; n < most; n++) {
        double lap = 0;
        for (size_t i = 0; i < count; i++) {
            before[i] = walkers[i].cpu->counts;
            accesses[i] = walkers[i].walk->count <= longest ? walkers[i].walk->count : 0;
        }
        bj_sim_advance_walkers(self, walkers, count, accesses);
        for (size_t i = 0; i < count; i++)
            lap = fmax(lap, count_ns(&walkers[i], &before[i]));
        all += lap;
        if (n > 0 && lap > (1 - BJ_WALK_WARM_GAIN) * last)
            break;
        last = lap;
    }
    return all;
}

bj_status bj_sim_build_walks(bj_sim_machine *self, bj_sim_walker *walkers, size_t count, size_t *accesses,
                             bj_sim_counts *before, bj_error *error) {
    double longest = 0;
    bj_sim_update_neighbour(self);
    find_meetings(walkers, count);
    for (size_t i = 0; i < count; i++) {
        bj_sim_walker *who = &walkers[i];
        const bj_sim_lap_plan *plan = &who->building;
        if (plan->simulated_from > 0) {
            BJ_TRY(bj_sim_write_cold_lap(&self->memory, who->cpu, who->mapping, who->places, plan, error));
        }
        before[i] = who->cpu->counts;
        who->next = plan->simulated_from;
        accesses[i] = who->walk->count - plan->simulated_from;
    }
    bj_sim_advance_walkers(self, walkers, count, accesses);
    for (size_t i = 0; i < count; i++) {
        double each = count_ns(&walkers[i], &before[i]) / (double)accesses[i];
        longest = fmax(longest, each * (double)walkers[i].walk->count);
    }
    double laps = warm_up(self, walkers, count, accesses, before);
    self->clock_s += (longest + laps) * 1e-9;
    return BJ_OK;
}
