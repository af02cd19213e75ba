/* Sections of a machine file: each reads one value of the top level into the spec. */
#pragma once

#include "base/json_read.h"
#include "machine/sim/machine_file.h"

/* `value` is NULL where the file does not have the section: defaults may depend on others. */
typedef bj_status bj_sim_read_section(const bj_json_place *at, json_t *value, bj_sim_spec *spec);

/* Every section by its name in the file, in the order in which they need each other; cpus, smt and sockets are read
 * before them. The functions bj_sim_read_<name> (machine_memory.c, machine_extras.c) and the table in machine_file.c
 * follow from this list. */
#define BJ_SIM_SECTIONS(SECTION)                                                                                       \
    SECTION(numbering)                                                                                                 \
    SECTION(page)                                                                                                      \
    SECTION(caches)                                                                                                    \
    SECTION(kinds)                                                                                                     \
    SECTION(memory)                                                                                                    \
    SECTION(tlbs)                                                                                                      \
    SECTION(prefetchers)                                                                                               \
    SECTION(ops)                                                                                                       \
    SECTION(registers)                                                                                                 \
    SECTION(shared_units)                                                                                              \
    SECTION(scheduler)                                                                                                 \
    SECTION(clocks)                                                                                                    \
    SECTION(exchange)                                                                                                  \
    SECTION(links)                                                                                                     \
    SECTION(messages)                                                                                                  \
    SECTION(dram)                                                                                                      \
    SECTION(claims)                                                                                                    \
    SECTION(noise)

#define BJ_SIM_DECLARE_SECTION(name) bj_sim_read_section bj_sim_read_##name;
BJ_SIM_SECTIONS(BJ_SIM_DECLARE_SECTION)
#undef BJ_SIM_DECLARE_SECTION
