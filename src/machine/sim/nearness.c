#include "machine/sim/nearness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Something that consecutive cpus share. */
typedef struct {
    char name[24];
    uint64_t cpus;
    uint64_t bytes;    /* of the cache that it is; 0: none, whatever the block */
    double default_ns; /* where the file says nothing from here on */
} shared_thing;

enum { MOST_THINGS = BJ_SIM_MAX_CACHES + 4 };

/* From the innermost on, as the first of the two sees it; nodes may hold several sockets or the other way round. */
static size_t list_things(const bj_sim_spec *spec, shared_thing *things) {
    size_t count = 0;
    double memory_ns = spec->memory_latency_cycles / spec->clock_ghz;
    const bj_sim_cache_spec *first = &spec->caches[0];
    /* A kind of cpu whose first level is its own has one thread a core. */
    uint64_t threads = spec->kind_count > 0 && first->shared_by < spec->smt ? first->shared_by : spec->smt;
    things[count++] = (shared_thing){"smt", threads, first->size_bytes, first->latency_cycles / spec->clock_ghz};
    for (size_t i = 0; i < spec->cache_count; i++) {
        const bj_sim_cache_spec *cache = &spec->caches[i];
        shared_thing *thing = &things[count++];
        *thing = (shared_thing){.cpus = cache->shared_by,
                                .bytes = cache->size_bytes,
                                .default_ns = cache->latency_cycles / spec->clock_ghz};
        snprintf(thing->name, sizeof thing->name, "L%zu", i + 1);
    }
    shared_thing node = {"node", spec->cpus / spec->numa_nodes, UINT64_MAX, memory_ns};
    shared_thing socket = {"socket", spec->cpus / spec->sockets, UINT64_MAX, memory_ns};
    things[count++] = node.cpus <= socket.cpus ? node : socket;
    things[count++] = node.cpus <= socket.cpus ? socket : node;
    things[count++] =
        (shared_thing){"remote", spec->cpus, UINT64_MAX, spec->memory_remote_latency_cycles / spec->clock_ghz};
    return count;
}

/* NaN: the file does not give it. */
static double find_given(const bj_sim_spec *spec, const char *name) {
    for (size_t i = 0; i < spec->exchange_count; i++)
        if (strcmp(spec->exchange_ns[i].name, name) == 0)
            return spec->exchange_ns[i].value;
    return NAN;
}

double bj_sim_find_exchange_ns(const bj_sim_machine *self, size_t a, size_t b, uint64_t block_bytes) {
    const bj_sim_spec *spec = self->memory.as_kind[bj_sim_find_kind(self->spec, a)];
    shared_thing things[MOST_THINGS];
    size_t count = list_things(spec, things), first = 0, caches = spec->cache_count + 1;
    while (first + 1 < count && (a / things[first].cpus != b / things[first].cpus || things[first].bytes < block_bytes))
        first++;
    for (size_t i = first; i < count; i++) {
        if (i >= caches && spec->link_count > 0)
            return spec->links_ns[bj_sim_node_of(spec, a)][bj_sim_node_of(spec, b)];
        double given = find_given(spec, things[i].name);
        if (!isnan(given))
            return given;
    }
    return things[first].default_ns;
}

uint64_t bj_sim_find_coherence_bytes(const bj_sim_machine *self, size_t a, size_t b) {
    const bj_sim_spec *spec = self->memory.as_kind[bj_sim_find_kind(self->spec, a)];
    uint64_t longest = 0;
    for (size_t i = 0; i < spec->cache_count; i++) {
        const bj_sim_cache_spec *cache = &spec->caches[i];
        if (a / cache->shared_by != b / cache->shared_by && cache->line_bytes > longest)
            longest = cache->line_bytes;
    }
    return longest;
}
