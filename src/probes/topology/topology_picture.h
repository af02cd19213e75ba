/* The tree with what is known of each node, and its JSON. */
#pragma once

#include "data/answer.h"
#include "probes/topology/topology_groups.h"
#include "probes/topology/topology_tree.h"

/* What separates the children of a node from each other: the block at which a pair within one and a pair of two differ
 * most, and what a line takes in either. */
typedef struct {
    double block_bytes; /* NaN: nothing separates them, or it is not known */
    double inside_ns, across_ns;
} bj_topology_split_facts;

typedef struct {
    const bj_topology_data *data;
    const bj_topology_groups *groups;
    bool by_blocks;  /* the 2012 paper's tree: split from the largest block down */
    bool not_a_tree; /* what the outermost groups are to each other is no clique */
    double p;        /* the greatest of the splits of a tree by blocks; 0: none */
    bj_topology_tree tree;
    double *latency_ns; /* of each node: what pairs take that only it holds; NaN: not known */
    bj_topology_split_facts *splits;
    double distance_factor; /* from the time of a turn to the latency of a line; NaN: the unit is not known */
} bj_topology_picture;

bj_status bj_topology_draw(bj_topology_picture *picture, uint64_t seed, bj_error *error) BJ_WARN_UNUSED;
/* The tree of the picture by blocks, and its splits (topology_cliques.c). */
bj_status bj_topology_split_cliques(bj_topology_picture *picture, uint64_t seed, bj_error *error) BJ_WARN_UNUSED;
void bj_topology_free_picture(bj_topology_picture *picture);
/* The JSON of topology.tree. */
bj_status bj_topology_write_tree(const bj_topology_picture *picture, bj_answer *answer, bj_error *error) BJ_WARN_UNUSED;
/* The JSON of topology.pairs. */
bj_status bj_topology_write_pairs(const bj_topology_picture *picture, bj_answer *answer,
                                  bj_error *error) BJ_WARN_UNUSED;
