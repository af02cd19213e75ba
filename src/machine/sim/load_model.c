#include "machine/sim/load_model.h"

#include <math.h>
#include <stdlib.h>

/* Times and shares depend on each other: until all are this much alike, or so often. Half of each step is taken, since
 * a cache that is just too small would swing between holding all and nothing. */
static const double ALIKE = 1e-5;
enum { ROUNDS_MOST = 80, HALVINGS = 40 };

static double stream_rate(const bj_sim_worker *who, double line_bytes) {
    return who->past_caches ? 0 : who->stream_bytes / line_bytes / who->unit_ns;
}

/* What of a worker's set competes for a level: lines, and how often any of them is wanted. */
typedef struct {
    double lines, rate, stream;
} claim;

static claim claim_of(const bj_sim_worker *who, size_t level) {
    const bj_sim_cache_spec *cache = &who->cpu->spec->caches[level];
    double line = (double)cache->line_bytes, nearer = level > 0 ? who->held[level - 1] : 0;
    claim c = {who->reuse_bytes / line, who->accesses / who->unit_ns, stream_rate(who, line)};
    if (cache->policy == BJ_SIM_EXCLUSIVE) {
        c.lines *= 1 - nearer;
        c.rate *= 1 - nearer;
    }
    return c;
}

/* Share of the claim's lines that were used within that age. */
static double share_within(const claim *c, double age_ns) {
    return c->lines > 0 ? 1 - exp(-c->rate * age_ns / c->lines) : 0;
}

static bool shares_with(const bj_sim_worker *a, const bj_sim_worker *b, size_t level) {
    return a->cpu->caches[level] == b->cpu->caches[level];
}

static double lines_within(const bj_sim_worker *workers, size_t count, size_t index, size_t level, double age_ns) {
    double lines = 0;
    for (size_t i = 0; i < count; i++)
        if (shares_with(&workers[i], &workers[index], level)) {
            claim c = claim_of(&workers[i], level);
            lines += c.lines * share_within(&c, age_ns) + c.stream * age_ns;
        }
    return lines;
}

/* The age at which the lines used since fill the cache; INFINITY: all fit. */
static double find_age(const bj_sim_machine *self, const bj_sim_worker *workers, size_t count, size_t index,
                       size_t level) {
    const bj_sim_spec *spec = workers[index].cpu->spec;
    double room = (double)(spec->caches[level].size_bytes / spec->caches[level].line_bytes);
    if (level + 1 == spec->cache_count && spec->neighbour > 0)
        room *= 1 - bj_sim_neighbour_share(&self->noise, self->clock_s);
    double low = 0, high = 1; /* logarithms of ns */
    while (lines_within(workers, count, index, level, exp(high)) < room)
        if (low = high, high *= 2, high > 40) /* as old as the world */
            return INFINITY;
    for (int i = 0; i < HALVINGS && high - low > 1e-7; i++) {
        double middle = (low + high) / 2;
        *(lines_within(workers, count, index, level, exp(middle)) < room ? &low : &high) = middle;
    }
    return exp(high);
}

/* From near to far, since what nearer levels hold decides what farther ones see. */
static void share_caches(bj_sim_machine *self, bj_sim_worker *workers, size_t count) {
    for (size_t level = 0; level < self->spec->cache_count; level++) {
        for (size_t i = 0; i < count; i++) {
            size_t first = 0;
            while (!shares_with(&workers[first], &workers[i], level))
                first++;
            workers[i].age_ns[level] =
                first < i ? workers[first].age_ns[level] : find_age(self, workers, count, i, level);
        }
        for (size_t i = 0; i < count; i++) {
            double nearer = level > 0 ? workers[i].held[level - 1] : 0;
            claim c = claim_of(&workers[i], level);
            double here = share_within(&c, workers[i].age_ns[level]);
            workers[i].held[level] = self->spec->caches[level].policy == BJ_SIM_EXCLUSIVE ? nearer + (1 - nearer) * here
                                                                                          : fmax(nearer, here);
        }
    }
}

static double access_ns(const bj_sim_worker *who) {
    const bj_sim_spec *spec = who->cpu->spec;
    double cycles = 0, nearer = 0;
    for (size_t level = 0; level < spec->cache_count; level++) {
        cycles += (who->held[level] - nearer) * spec->caches[level].latency_cycles;
        nearer = who->held[level];
    }
    return (cycles + (1 - nearer) * spec->memory_latency_cycles) / spec->clock_ghz;
}

/* Bytes of a unit that go to memory. */
static double missed_bytes(const bj_sim_worker *who) {
    const bj_sim_spec *spec = who->cpu->spec;
    return who->accesses * (1 - who->held[spec->cache_count - 1]) *
           (double)spec->caches[spec->cache_count - 1].line_bytes;
}

/* A unit if memory gave all that is wanted, and what that is. Places count by traffic, as those of all do. */
static double time_alone(bj_sim_worker *who, bj_sim_demand *demand) {
    const bj_sim_spec *spec = who->cpu->spec;
    double missed = missed_bytes(who), streamed = who->stream_bytes, all = missed + streamed;
    double rows = fmax(who->reuse_bytes / (double)(spec->dram.row_bytes > 0 ? spec->dram.row_bytes : 1), 1);
    who->access_ns = access_ns(who);
    double ns = who->compute_ns + who->accesses * who->access_ns + streamed / spec->memory_cpu_gbs;
    ns = fmax(ns, streamed / who->most_gbs);
    *demand = (bj_sim_demand){.position = who->position, .wanted_gbs = all / ns, .places = 1};
    if (all > 0)
        demand->places = all * all / (missed * missed / rows + streamed * streamed / fmax(who->arrays, 1));
    return ns;
}

static double find_row_hits(const bj_sim_machine *self, const bj_sim_demand *demands, size_t count) {
    double hits = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        hits += demands[i].gbs * bj_sim_open_share(self->spec, demands, count, demands[i].position);
        all += demands[i].gbs;
    }
    return all > 0 ? hits / all : NAN;
}

/* One round; *moved: by how much the times did. `alone` is scratch. */
static bj_status settle_once(bj_sim_machine *self, bj_sim_worker *workers, size_t count, bj_sim_demand *demands,
                             double *alone, double *moved, bj_error *error) {
    share_caches(self, workers, count);
    for (size_t i = 0; i < count; i++)
        alone[i] = time_alone(&workers[i], &demands[i]);
    BJ_TRY(bj_sim_share_domains(self->spec, demands, count, error));
    *moved = 0;
    for (size_t i = 0; i < count; i++) {
        double ns = alone[i] * (demands[i].gbs > 0 ? demands[i].wanted_gbs / demands[i].gbs : 1);
        *moved = fmax(*moved, fabs(ns / workers[i].unit_ns - 1));
        workers[i].unit_ns = (workers[i].unit_ns + ns) / 2;
    }
    return BJ_OK;
}

bj_status bj_sim_time_workers(bj_sim_machine *self, bj_sim_worker *workers, size_t count, double *row_hits,
                              bj_error *error) {
    bj_sim_demand *demands = calloc(count + 1, sizeof *demands);
    double *alone = calloc(count + 1, sizeof *alone), moved = INFINITY;
    bj_status status = BJ_OK;
    if (demands == NULL || alone == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu loads", count);
    for (size_t i = 0; status == BJ_OK && i < count; i++)
        workers[i].unit_ns = time_alone(&workers[i], &demands[i]);
    for (int round = 0; status == BJ_OK && moved > ALIKE && round < ROUNDS_MOST; round++)
        status = settle_once(self, workers, count, demands, alone, &moved, error);
    if (status == BJ_OK && row_hits != NULL)
        *row_hits = find_row_hits(self, demands, count);
    free(alone);
    free(demands);
    return status;
}
