/* Kinds of cpus: those whose yardstick and small walks take the same time. */
#pragma once

#include "data/curve.h"

/* x is the cpu; one curve for the yardstick, one for each walk. */
#define BJ_TOPOLOGY_YARDSTICK "topology.yardstick"
/* Working sets by the first level of the cpu that the other probes measured: what surely fits and is told apart by its
 * latency; what fits but in a smaller level; what fits in a larger one only. */
#define BJ_TOPOLOGY_WALKS 3u
extern const double bj_topology_walk_shares[BJ_TOPOLOGY_WALKS];
extern const char *const bj_topology_walk_ids[BJ_TOPOLOGY_WALKS];

/* Groups the cpus of the yardstick's curve by what differs beyond noise; kind_of has room for all of its x, kinds are
 * numbered as they first come. 0: there is no such curve. `index` chooses rounds (NULL: all). */
bj_status bj_topology_group_kinds(const bj_curves *samples, const size_t *index, size_t index_count, size_t *kind_of,
                                  size_t *kind_count, bj_error *error) BJ_WARN_UNUSED;
/* The id of the curve of times by working set that tells the size of a cpu's first level. */
void bj_topology_name_sizes(int cpu, char *id, size_t room);
/* The largest working set of that curve that fits; NaN: it does not tell. */
double bj_topology_find_l1_bytes(const bj_curves *samples, int cpu);
