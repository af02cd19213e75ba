/* What two cpus of a simulated machine share, and what handing lines from one to the other costs by that. */
#pragma once

#include "machine/sim/sim_machine.h"

/* ns one way for a line of a block of so many bytes that both update: the exchange of the innermost thing that they
 * share and whose cache holds the block, else of the next one out. Beyond all caches that is the node, the socket or
 * remote; `links` between their nodes replace these. What the file does not give takes the next that it gives. */
double bj_sim_find_exchange_ns(const bj_sim_machine *self, size_t a, size_t b, uint64_t block_bytes);
/* The longest line of the caches that the two do not share; 0: they share all. */
uint64_t bj_sim_find_coherence_bytes(const bj_sim_machine *self, size_t a, size_t b);
