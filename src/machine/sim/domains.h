/* Buses and controllers that cpus share on their way to memory: who gets how much when several want it at once.
 *
 * Max-min fair: the shares of all grow alike until one has all that it wants or a domain is full, then the others go
 * on. */
#pragma once

#include "machine/sim/machine_file.h"

/* What one cpu draws from memory. */
typedef struct {
    size_t position;   /* in tree order */
    double wanted_gbs; /* if nobody else were there; 0: nothing */
    double gbs;        /* what it gets */
} bj_sim_demand;

/* Fills in what each gets. */
bj_status bj_sim_share_domains(const bj_sim_spec *spec, bj_sim_demand *demands, size_t count,
                               bj_error *error) BJ_WARN_UNUSED;
