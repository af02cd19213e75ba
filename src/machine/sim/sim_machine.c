/* A simulated machine behind the seam: opening, arenas and clock. Walks are in sim_walks.c, streams in sim_streams.c,
 * bouncing lines in sim_bounce.c, chains and live variables in sim_chains.c, crowds in sim_crowd.c. */
#include "machine/sim/sim_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const uint64_t MEMORY_LIMIT_BYTES = UINT64_C(16) << 30;

/* What the machine draws at random, each from a seed of its own. */
enum { SEED_SPACE, SEED_CACHES, SEED_NOISE, SEED_ARENAS };

bj_status bj_sim_find_cpu(const bj_sim_machine *self, int cpu, size_t *position, bj_error *error) {
    for (*position = 0; *position < self->spec->cpus; ++*position)
        if (self->spec->os_number[*position] == cpu)
            return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_USAGE, "%s has no cpu %d", self->where, cpu);
}

size_t bj_sim_node_of(const bj_sim_spec *spec, size_t position) {
    return position / (spec->cpus / spec->numa_nodes);
}

void bj_sim_update_neighbour(bj_sim_machine *self) {
    if (self->spec->neighbour > 0)
        bj_sim_set_neighbour_share(&self->memory, bj_sim_neighbour_share(&self->noise, self->clock_s));
}

void bj_sim_close(bj_machine *machine) {
    bj_sim_machine *self = machine->self;
    if (self != NULL) {
        if (self->memory.spec != NULL)
            bj_sim_close_memory_system(&self->memory);
        bj_sim_close_space(&self->space);
        bj_sim_close_ranks(self);
        free(self->spec);
    }
    free(self);
    free(machine);
}

double bj_sim_read_clock(bj_machine *machine) {
    const bj_sim_machine *self = machine->self;
    return self->clock_s;
}

bj_status bj_sim_open_arena(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                            bj_error *error) {
    bj_sim_machine *self = machine->self;
    size_t position;
    bj_status status = bj_sim_find_cpu(self, cpu, &position, error);
    if (status != BJ_OK)
        return status;
    if (bytes == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "an arena of no bytes");
    if (pages == BJ_PAGES_HUGE && self->spec->huge_bytes == 0)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%s grants no huge pages", self->where);
    if (bytes > MEMORY_LIMIT_BYTES || self->mapped_bytes + bytes > MEMORY_LIMIT_BYTES)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s has no memory for an arena of %zu bytes", self->where,
                                 bytes);
    bj_arena *made = calloc(1, sizeof *made);
    if (made == NULL)
        return bj_base_lack_memory(error, "no memory for a simulated arena");
    made->bytes = bytes;
    made->node = bj_sim_node_of(self->spec, position);
    uint64_t seed = bj_random_mix(bj_random_mix(self->seed, SEED_ARENAS), self->arenas_opened++);
    status = bj_sim_map_pages(&self->space, bytes, pages == BJ_PAGES_HUGE, seed, &made->mapping, error);
    if (status != BJ_OK) {
        free(made);
        return status;
    }
    if (self->space.wraps != self->wraps_seen) {
        /* Addresses come round again: what is cached under their names is of long gone mappings. */
        self->wraps_seen = self->space.wraps;
        bj_sim_empty_all_caches(&self->memory);
    }
    self->mapped_bytes += bytes;
    *arena = made;
    return BJ_OK;
}

void bj_sim_close_arena(bj_machine *machine, bj_arena *arena) {
    bj_sim_machine *self = machine->self;
    if (arena == NULL)
        return;
    self->mapped_bytes -= arena->bytes;
    bj_sim_unmap_pages(&self->space, arena->mapping);
    free(arena);
}

static int compare_ints(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

static void fill_facts(bj_machine *machine) {
    bj_sim_machine *self = machine->self;
    const bj_sim_spec *spec = self->spec;
    memcpy(self->cpus, spec->os_number, spec->cpus * sizeof self->cpus[0]);
    qsort(self->cpus, spec->cpus, sizeof self->cpus[0], compare_ints);
    snprintf(self->where, sizeof self->where, "sim:%s", spec->name);
    machine->facts = (bj_machine_facts){
        .name = spec->name,
        .where = self->where,
        .cpus = self->cpus,
        .cpu_count = spec->cpus,
        .page_bytes = spec->page_bytes,
        .huge_bytes = spec->huge_bytes,
        .memory_limit_bytes = MEMORY_LIMIT_BYTES,
        .simulated = true,
        .ranks = self->ranks,
        .rank_count = spec->rank_count,
    };
}

#define VERB(name) .name = bj_sim_##name,
static const bj_machine_verbs verbs = {BJ_MACHINE_VERBS(VERB)};

bj_status bj_sim_open_machine(bj_sim_spec *spec, uint64_t seed, bj_machine **machine, bj_error *error) {
    bj_machine *made = calloc(1, sizeof *made);
    bj_sim_machine *self = calloc(1, sizeof *self);
    if (made == NULL || self == NULL) {
        free(made);
        free(self);
        free(spec);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a simulated machine");
    }
    made->verbs = &verbs;
    made->self = self;
    self->seed = seed;
    self->spec = spec;
    bj_status status = bj_sim_open_space(&self->space, spec, bj_random_mix(seed, SEED_SPACE), error);
    if (status == BJ_OK)
        status = bj_sim_open_memory_system(&self->memory, spec, &self->space, bj_random_mix(seed, SEED_CACHES), error);
    if (status == BJ_OK)
        status = bj_sim_open_ranks(self, error);
    if (status != BJ_OK) {
        bj_sim_close(made);
        return status;
    }
    bj_sim_seed_noise(&self->noise, spec, bj_random_mix(seed, SEED_NOISE));
    fill_facts(made);
    *machine = made;
    return BJ_OK;
}

bj_status bj_machine_open_simulated(const char *path, uint64_t seed, bj_machine **machine, bj_error *error) {
    bj_sim_spec *spec = NULL;
    BJ_TRY(bj_sim_load_spec(path, &spec, error));
    return bj_sim_open_machine(spec, seed, machine, error);
}
