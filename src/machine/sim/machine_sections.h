/* Sections of a machine file that stand on their own: each reads one value of the top level into the spec. */
#ifndef BJ_MACHINE_SIM_MACHINE_SECTIONS_H
#define BJ_MACHINE_SIM_MACHINE_SECTIONS_H

#include "machine/sim/machine_file.h"
#include "machine/sim/machine_json.h"

typedef bj_status bj_sim_read_section(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                                      bj_sim_spec *spec);

/* machine_file.c wants cpus, smt and sockets read before these. */
bj_sim_read_section bj_sim_read_numbering, bj_sim_read_caches, bj_sim_read_memory, bj_sim_read_page, bj_sim_read_tlbs,
    bj_sim_read_prefetchers;
/* What the memory model does not use: machine_extras.c. */
bj_sim_read_section bj_sim_read_ops, bj_sim_read_registers, bj_sim_read_units, bj_sim_read_scheduler,
    bj_sim_read_exchange, bj_sim_read_messages, bj_sim_read_claims, bj_sim_read_noise;

#endif
