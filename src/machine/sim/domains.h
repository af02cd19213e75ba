/* Buses and controllers that cpus share on their way to memory: who gets how much when several want it at once.
 *
 * Max-min fair: the shares of all grow alike until one has all that it wants or a domain is full, then the others go
 * on.
 *
 * Behind them stand the memory controllers, one a node (one a socket where there is one node). A line that is not in a
 * row that its controller keeps open occupies it longer, which happens when its cpus go through more places at once
 * than there are open rows: bandwidth is lost, and nobody loses who wants less than its part of what is left. */
#pragma once

#include "machine/sim/machine_file.h"

/* What one cpu draws from memory. */
typedef struct {
    size_t position;   /* in tree order */
    double wanted_gbs; /* if nobody else were there; 0: nothing */
    double places;     /* rows that it goes through at once; 0 means 1 */
    double gbs;        /* what it gets */
} bj_sim_demand;

/* The share of lines that find their row open, of the controller of this position; 1 where there is no such cost. */
double bj_sim_open_share(const bj_sim_spec *spec, const bj_sim_demand *demands, size_t count, size_t position);
/* Fills in what each gets. */
bj_status bj_sim_share_domains(const bj_sim_spec *spec, bj_sim_demand *demands, size_t count,
                               bj_error *error) BJ_WARN_UNUSED;
