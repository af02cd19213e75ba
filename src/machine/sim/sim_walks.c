/* Walks on a simulated machine, alone, several, and beside streams. All take turns and share what domains give: the
 * misses of each walk are traffic too. Where the bytes of a stream come from is settled before the walks begin. */
#include <math.h>
#include <stdlib.h>

#include "machine/machine_check.h"
#include "machine/sim/streamer.h"
#include "machine/sim/walker.h"

/* Accesses of a sample: of a walk alone; of several, which all see the same caches, so many together but each so many
 * at least, where chance moves a share of misses by less than one in a hundred. */
enum { BATCH_ACCESSES = 20000, BATCH_OF_SEVERAL = 40000, BATCH_LEAST = 4000 };

typedef struct {
    bj_sim_machine *self;
    bj_sim_walker *walkers;
    size_t count;
    size_t *accesses; /* of each walk in a batch */
    double *ns;       /* of each walk, for its batch */
    bj_sim_streamer *streamers;
    size_t stream_count;
    bool *disturbs;         /* of each stream: some walk may meet it in a cache */
    bj_sim_counts *before;  /* of each walk, at the start of a batch; then scratch of the streams */
    bj_sim_demand *demands; /* of walks, then of streams */
    size_t line;            /* of their passes that the streams have come to */
} party;

/* Who meets whom in a cache. Chains are written before the streams begin. */
static void find_meetings(party *all) {
    for (size_t i = 0; i < all->count; i++) {
        bool meets = false;
        for (size_t j = 0; j < all->count && !meets; j++)
            meets = i != j && bj_sim_may_meet(all->walkers[i].cpu, all->walkers[j].cpu);
        for (size_t j = 0; j < all->stream_count; j++)
            all->disturbs[j] = all->disturbs[j] || bj_sim_may_meet(all->walkers[i].cpu, all->streamers[j].cpu);
        if (!meets)
            bj_sim_leave_alone(&all->walkers[i]);
    }
}

static bj_status open_party(bj_sim_machine *self, const bj_mix *mix, party *all, bj_error *error) {
    size_t walks = mix->walk_count, streams = mix->stream_count;
    *all = (party){.self = self,
                   .walkers = calloc(walks, sizeof *all->walkers),
                   .accesses = calloc(walks, sizeof *all->accesses),
                   .ns = calloc(walks, sizeof *all->ns),
                   .streamers = calloc(streams + 1, sizeof *all->streamers),
                   .stream_count = streams,
                   .disturbs = calloc(streams + 1, sizeof *all->disturbs),
                   .before = calloc(walks + streams, sizeof *all->before),
                   .demands = calloc(walks + streams, sizeof *all->demands)};
    if (!all->walkers || !all->accesses || !all->ns || !all->streamers || !all->disturbs || !all->before ||
        !all->demands)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks and %zu streams", walks, streams);
    BJ_TRY(bj_sim_prepare_streams(self, mix->streams, streams, all->streamers, error));
    for (; all->count < walks; all->count++)
        BJ_TRY(bj_sim_prepare_walker(self, &mix->walks[all->count], &all->walkers[all->count], error));
    find_meetings(all);
    return BJ_OK;
}

static void close_party(party *all) {
    for (size_t i = 0; all->walkers != NULL && i < all->count; i++)
        bj_sim_close_walker(&all->walkers[i]);
    free(all->walkers);
    free(all->accesses);
    free(all->ns);
    free(all->streamers);
    free(all->disturbs);
    free(all->before);
    free(all->demands);
}

/* Who wants more than its share of a domain takes as long as the domain needs for its lines. */
static bj_status share_domains(party *all, bj_error *error) {
    const bj_sim_spec *spec = all->self->spec;
    size_t memory = spec->cache_count;
    double line_bytes = (double)spec->caches[memory - 1].line_bytes;
    for (size_t i = 0; i < all->count; i++) {
        const bj_sim_cpu *cpu = all->walkers[i].cpu;
        double bytes = (double)(cpu->counts.hits[memory] - all->before[i].hits[memory]) * line_bytes;
        /* A random walk goes through all the rows of its range. */
        double rows = (double)all->walkers[i].walk->count * line_bytes / (double)spec->dram.row_bytes;
        all->demands[i] = (bj_sim_demand){.position = cpu->position, .places = rows, .wanted_gbs = bytes / all->ns[i]};
    }
    for (size_t i = 0; i < all->stream_count; i++)
        all->demands[all->count + i] = bj_sim_demand_of_stream(&all->streamers[i]);
    BJ_TRY(bj_sim_share_domains(spec, all->demands, all->count + all->stream_count, error));
    for (size_t i = 0; i < all->count; i++)
        if (all->demands[i].gbs > 0)
            all->ns[i] *= all->demands[i].wanted_gbs / all->demands[i].gbs;
    for (size_t i = 0; i < all->stream_count; i++)
        all->streamers[i].memory_gbs = all->demands[all->count + i].gbs;
    return BJ_OK;
}

/* The next lines of a stream's pass, which goes round. */
static void visit_next(const party *all, const bj_sim_streamer *who, size_t count) {
    size_t lines = bj_sim_count_visited_lines(all->self, who);
    for (size_t at = all->line; lines > 0 && count > 0;) {
        size_t first = at % lines, now = lines - first < count ? lines - first : count;
        bj_sim_visit_stream(all->self, who, first, now);
        at += now;
        count -= now;
    }
}

/* The walks' accesses of a batch, and a line of each stream with every one of them, in turns. */
static void advance_all(party *all) {
    if (all->stream_count == 0) {
        bj_sim_advance_walkers(all->self, all->walkers, all->count, all->accesses);
        return;
    }
    for (size_t done = 0; done < all->accesses[0]; done += BJ_SIM_TURN, all->line += BJ_SIM_TURN) {
        size_t left = all->accesses[0] - done, now = left < BJ_SIM_TURN ? left : BJ_SIM_TURN;
        for (size_t i = 0; i < all->count; i++)
            bj_sim_advance_walker(all->self, &all->walkers[i], now);
        for (size_t i = 0; i < all->stream_count; i++)
            if (all->disturbs[i])
                visit_next(all, &all->streamers[i], now);
    }
}

static void sample_streams(const party *all, double *gbs, unsigned repetitions) {
    bj_sim_machine *self = all->self;
    for (size_t i = 0; i < all->stream_count; i++) {
        double ns = bj_sim_add_noise(&self->noise, bj_sim_time_pass(&all->streamers[i]), self->clock_s);
        gbs[i * repetitions] = (double)all->streamers[i].stream->bytes / ns;
    }
}

static bj_status run_batch(party *all, double *samples, double *gbs, unsigned repetitions, bj_error *error) {
    bj_sim_machine *self = all->self;
    double settled_cycles = 0, longest_ns = 0;
    bj_sim_update_neighbour(self);
    for (size_t i = 0; i < all->count; i++)
        all->before[i] = all->walkers[i].cpu->counts;
    if (all->walkers[0].lap.cycles != NULL)
        settled_cycles = bj_sim_replay_lap(self, all->walkers, all->accesses[0]);
    else
        advance_all(all);
    for (size_t i = 0; i < all->count; i++)
        all->ns[i] = (settled_cycles + bj_sim_count_cycles(&all->walkers[i], &all->before[i])) /
                     all->walkers[i].cpu->spec->clock_ghz;
    if (all->count + all->stream_count > 1)
        BJ_TRY(share_domains(all, error));
    for (size_t i = 0; i < all->count; i++) {
        double ns = all->ns[i] / (double)all->accesses[i];
        samples[i * repetitions] = bj_sim_add_noise(&self->noise, ns, self->clock_s);
        longest_ns = fmax(longest_ns, samples[i * repetitions] * (double)all->accesses[i]);
    }
    sample_streams(all, gbs, repetitions);
    self->clock_s += longest_ns * 1e-9;
    return BJ_OK;
}

static size_t find_batch(const party *all, const bj_walk_effort *effort) {
    size_t batch = all->count == 1 ? BATCH_ACCESSES : BATCH_OF_SEVERAL / all->count;
    batch = batch > BATCH_LEAST ? batch : BATCH_LEAST;
    return effort->min_accesses > batch ? effort->min_accesses : batch;
}

static bj_status run_party(party *all, const bj_walk_effort *effort, double *ns_per_access, double *gbs,
                           bj_error *error) {
    size_t batch = find_batch(all, effort);
    if (all->stream_count > 0)
        bj_sim_find_sources(all->self, all->streamers, all->stream_count, all->before);
    BJ_TRY(bj_sim_build_walks(all->self, all->walkers, all->count, all->accesses, all->before, error));
    size_t places = all->walkers[0].walk->count;
    if (all->count + all->stream_count == 1 && places <= BJ_SIM_SHORT_WALK && places < batch * effort->repetitions / 2)
        BJ_TRY(bj_sim_record_lap(all->self, all->walkers, all->before, error));
    for (size_t i = 0; i < all->count; i++)
        all->accesses[i] = batch;
    for (unsigned i = 0; i < effort->repetitions; i++)
        BJ_TRY(run_batch(all, ns_per_access + i, all->stream_count > 0 ? gbs + i : NULL, effort->repetitions, error));
    return BJ_OK;
}

bj_status bj_sim_run_mix(bj_machine *machine, const bj_mix *mix, double *ns_per_access, double *gbs, bj_error *error) {
    if (mix->walk_count == 0)
        return bj_sim_run_streams(machine, mix->streams, mix->stream_count, mix->stream_effort, gbs, error);
    bj_machine_clear_mix(mix, ns_per_access, gbs);
    BJ_TRY(bj_machine_check_mix(mix, error));
    BJ_TRY(bj_machine_check_cpus(mix, error));
    party all;
    bj_status status = open_party(machine->self, mix, &all, error);
    if (status == BJ_OK)
        status = run_party(&all, mix->walk_effort, ns_per_access, gbs, error);
    close_party(&all);
    return status;
}

bj_status bj_sim_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort,
                           double *ns_per_access, bj_error *error) {
    const bj_mix mix = {.walks = walks, .walk_count = walk_count, .walk_effort = effort};
    BJ_TRY(bj_machine_check_mix(&mix, error));
    BJ_TRY(bj_machine_check_cpus(&mix, error));
    return bj_sim_run_mix(machine, &mix, ns_per_access, NULL, error);
}
