/* The lap that writes a long walk's chain, without looking anything up.
 *
 * From empty caches and with each line visited once, every access misses everywhere: what each level holds in the end
 * follows from the order of visits alone, at a fraction of the cost of simulating it. */
#pragma once

#include "machine/sim/memory_system.h"

/* Whether the machine's prefetchers would leave this order of visits alone. */
bool bj_sim_prefetchers_sleep(const bj_sim_spec *spec, const uint32_t *places, size_t count);
/* Lines that a level has to see until nothing of before is left in it: several times its own, more where few ways make
 * some sets lag behind, and more where the victim is not the oldest line. */
double bj_sim_lines_to_wash_out(const bj_sim_spec *spec, size_t level);

/* What of the lap over places[0 .. count) has to be simulated. */
typedef struct {
    size_t cold_from;      /* nothing of what comes before is left in the end */
    size_t simulated_from; /* up to here the outcome is written without simulating it; 0: simulate all */
    bool distinct;         /* each of the longest lines is visited once */
} bj_sim_lap_plan;

bj_sim_lap_plan bj_sim_plan_lap(const bj_sim_spec *spec, const uint32_t *places, size_t count);

/* Empties the cpu's caches and leaves in them what the part of the lap from cold_from to simulated_from leaves. A line
 * that is visited several times counts at its last visit (exact for lru and neither). Adds nothing to the counts and
 * leaves the TLBs alone. */
bj_status bj_sim_write_cold_lap(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                                const uint32_t *places, const bj_sim_lap_plan *plan, bj_error *error) BJ_WARN_UNUSED;
