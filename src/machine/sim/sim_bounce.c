/* Two cpus that count up words of their own. Words in one line of a cache that is not common to both: the line has to
 * come over for each increment, which costs the exchange by the innermost thing that both share. Otherwise an
 * increment costs what the first level does. */
#include <stdio.h>
#include <string.h>

#include "machine/machine_check.h"
#include "machine/sim/sim_machine.h"

static const double INCREMENTS = 20000; /* of a sample: what the virtual clock is charged */

/* Something that consecutive cpus share. */
typedef struct {
    char name[24];
    uint64_t cpus;
    double default_ns; /* where the file says nothing from here on */
} shared_thing;

enum { MOST_THINGS = BJ_SIM_MAX_CACHES + 4 };

/* From the innermost on; nodes may hold several sockets or the other way round. */
static size_t list_things(const bj_sim_spec *spec, shared_thing *things) {
    size_t count = 0;
    double memory_ns = spec->memory_latency_cycles / spec->clock_ghz;
    things[count++] = (shared_thing){"smt", spec->smt, spec->caches[0].latency_cycles / spec->clock_ghz};
    for (size_t i = 0; i < spec->cache_count; i++) {
        shared_thing *thing = &things[count++];
        snprintf(thing->name, sizeof thing->name, "L%zu", i + 1);
        thing->cpus = spec->caches[i].shared_by;
        thing->default_ns = spec->caches[i].latency_cycles / spec->clock_ghz;
    }
    shared_thing node = {"node", spec->cpus / spec->numa_nodes, memory_ns};
    shared_thing socket = {"socket", spec->cpus / spec->sockets, memory_ns};
    things[count++] = node.cpus <= socket.cpus ? node : socket;
    things[count++] = node.cpus <= socket.cpus ? socket : node;
    things[count++] = (shared_thing){"remote", spec->cpus, spec->memory_remote_latency_cycles / spec->clock_ghz};
    return count;
}

/* ns one way for a line between two cpus: that of the innermost thing that they share, else of the next one given. */
static double exchange_ns(const bj_sim_spec *spec, size_t a, size_t b) {
    shared_thing things[MOST_THINGS];
    size_t count = list_things(spec, things), first = 0;
    while (first + 1 < count && a / things[first].cpus != b / things[first].cpus)
        first++;
    for (size_t i = first; i < count; i++)
        for (size_t j = 0; j < spec->exchange_count; j++)
            if (strcmp(spec->exchange_ns[j].name, things[i].name) == 0)
                return spec->exchange_ns[j].value;
    return things[first].default_ns;
}

/* The longest line of the caches that the two do not share; 0: they share all. */
static uint64_t coherence_bytes(const bj_sim_spec *spec, size_t a, size_t b) {
    uint64_t longest = 0;
    for (size_t i = 0; i < spec->cache_count; i++) {
        const bj_sim_cache_spec *cache = &spec->caches[i];
        if (a / cache->shared_by != b / cache->shared_by && cache->line_bytes > longest)
            longest = cache->line_bytes;
    }
    return longest;
}

bj_status bj_sim_run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                            bj_error *error) {
    bj_machine_clear_samples(ns, repetitions);
    bj_sim_machine *self = machine->self;
    const bj_sim_spec *spec = self->spec;
    size_t a = 0, b = 0;
    bj_status status = bj_sim_find_cpu(self, bounce->cpu_a, &a, error);
    if (status == BJ_OK)
        status = bj_sim_find_cpu(self, bounce->cpu_b, &b, error);
    if (status == BJ_OK)
        status = bj_machine_check_bounce(bounce, bounce->arena->bytes, error);
    if (status != BJ_OK)
        return status;
    uint64_t line = coherence_bytes(spec, a, b);
    uint64_t at_a = (uint64_t)bounce->word_a * BJ_WALK_WORD_BYTES, at_b = (uint64_t)bounce->word_b * BJ_WALK_WORD_BYTES;
    /* Arenas begin at pages, which no line crosses. */
    bool together = line > 0 && at_a / line == at_b / line;
    double each = together ? exchange_ns(spec, a, b) : spec->caches[0].latency_cycles / spec->clock_ghz;
    for (unsigned i = 0; i < repetitions; i++) {
        ns[i] = bj_sim_add_noise(&self->noise, each, self->clock_s);
        self->clock_s += ns[i] * INCREMENTS * 1e-9;
    }
    return BJ_OK;
}
