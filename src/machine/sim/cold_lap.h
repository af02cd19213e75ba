/* The lap that writes a long walk's chain, without looking anything up.
 *
 * From empty caches and with each line visited once, every access misses everywhere: what each level holds in the end
 * follows from the order of visits alone, at a fraction of the cost of simulating it. */
#ifndef BJ_MACHINE_SIM_COLD_LAP_H
#define BJ_MACHINE_SIM_COLD_LAP_H

#include "machine/sim/memory_system.h"

/* Whether the machine's prefetchers would leave this order of visits alone. */
bool bj_sim_prefetchers_sleep(const bj_sim_spec *spec, const uint32_t *places, size_t count);
/* Lines that a level has to see until nothing of before is left in it: several times its own, more where few ways make
 * some sets lag behind, and more where the victim is not the oldest line. */
double bj_sim_lines_to_wash_out(const bj_sim_spec *spec, size_t level);

/* Empties the cpu's caches and leaves in them what a lap over the places leaves. `distinct`:
 * each of the longest lines is visited once; one that is visited several times counts at its last visit (exact for lru
 * and neither). Adds nothing to the counts and leaves the TLBs alone. */
bj_status bj_sim_write_cold_lap(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                                const uint32_t *places, size_t count, bool distinct, bj_error *error) BJ_WARN_UNUSED;

#endif
