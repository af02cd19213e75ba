/* The memory system of a simulated machine: caches shared between cpus, TLBs of each cpu, prefetchers.
 *
 * It counts where accesses hit; time is made of the counts elsewhere. An access looks from near to far and fills every
 * level that it missed. inclusive: a line that leaves takes its copies in nearer levels along. exclusive: filled only
 * by what leaves the nearer level; a hit moves the line up. Copies in other cpus' private caches do not matter, since
 * walks only read. */
#pragma once

#include "machine/sim/cache.h"
#include "machine/sim/frames.h"
#include "machine/sim/prefetch.h"
#include "machine/sim/tlb.h"

typedef struct {
    uint64_t hits[BJ_SIM_MAX_CACHES + 1];   /* by level; the one after the last cache: memory */
    uint64_t tlb_hits[BJ_SIM_MAX_TLBS + 1]; /* by level; the one after the last: page walks */
} bj_sim_counts;

typedef struct {
    size_t position;                         /* in tree order */
    const bj_sim_spec *spec;                 /* the machine as this kind of cpu sees it */
    bj_sim_cache *caches[BJ_SIM_MAX_CACHES]; /* the instances it uses */
    bj_sim_tlb tlbs[BJ_SIM_MAX_TLBS];
    bj_sim_prefetch_state prefetch;
    bj_sim_counts counts;
} bj_sim_cpu;

typedef struct {
    const bj_sim_spec *spec;
    bj_sim_spec *as_kind[BJ_SIM_MAX_KINDS]; /* the machine as each kind of cpu sees it */
    size_t kind_count;                      /* at least one */
    const bj_sim_space *space;
    bj_sim_cache_shape shapes[BJ_SIM_MAX_KINDS][BJ_SIM_MAX_CACHES];
    /* By the tree position of the first cpu that uses it; opened when first used: tags NULL until then. */
    bj_sim_cache *instances[BJ_SIM_MAX_CACHES];
    uint32_t *open_instances[BJ_SIM_MAX_CACHES];
    size_t open_count[BJ_SIM_MAX_CACHES];
    bj_sim_cpu **cpus; /* by tree position, made when first used */
    uint64_t random_state;
    bool simple;      /* every level lru and neither, no prefetcher but for strides, no neighbour */
    bool independent; /* every level neither, prefetchers fill no level that they watch: none acts on a nearer one */
} bj_sim_memory_system;

bj_status bj_sim_open_memory_system(bj_sim_memory_system *memory, const bj_sim_spec *spec, const bj_sim_space *space,
                                    uint64_t seed, bj_error *error) BJ_WARN_UNUSED;
void bj_sim_close_memory_system(bj_sim_memory_system *memory);
bj_status bj_sim_get_cpu(bj_sim_memory_system *memory, size_t position, bj_sim_cpu **cpu,
                         bj_error *error) BJ_WARN_UNUSED;

/* Visits places[0 .. count) of the mapping, in words, adding to cpu->counts. levels[0 .. count) receives where each
 * hit, unless it is NULL. */
void bj_sim_visit_places(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                         const uint32_t *places, size_t count, uint8_t *levels);
/* The same for loads that are known to miss all caches nearer than `nearest`, and whose TLB look-ups are counted
 * elsewhere. Independent levels and no prefetchers only. */
void bj_sim_visit_far_levels(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                             const uint32_t *places, size_t count, size_t nearest);
/* Forgets every line of the caches that the cpu uses. */
void bj_sim_empty_caches_of(bj_sim_cpu *cpu, size_t cache_count);
void bj_sim_empty_all_caches(bj_sim_memory_system *memory);
/* Others hold this share of the last level from now on. */
void bj_sim_set_neighbour_share(bj_sim_memory_system *memory, double share);
