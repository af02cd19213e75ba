/* Nested groups of cpus from the pairs that were measured, and how sure they are. Used by the analysis, and by the
 * measurement to choose what to ask next. */
#pragma once

#include "probes/topology/topology_samples.h"
#include "stats/nested_groups.h"

typedef struct {
    bj_nested_groups nested;   /* levels that confirming pairs contradict are gone */
    bool given_up;             /* some levels are gone */
    bool not_a_tree;           /* what the outermost groups are to each other is no clique */
    size_t confirming, astray; /* pairs that were not used for building, and those that contradict */
} bj_topology_groups;

/* `from_table`: one sample a pair, of which nobody knows how noisy it is. */
bj_status bj_topology_find_groups(const bj_topology_data *data, bool from_table, uint64_t seed,
                                  bj_topology_groups *groups, bj_error *error) BJ_WARN_UNUSED;
void bj_topology_free_groups(bj_topology_groups *groups);
/* How far rounds of a typical pair differ: from the tenth to nine tenths, as a factor. */
bj_status bj_topology_find_scatter(const bj_topology_data *data, double *scatter, bj_error *error) BJ_WARN_UNUSED;
/* Single samples that are far from the median of their pair's rounds. */
typedef struct {
    size_t samples, disturbed;
    double most; /* the largest factor by which one is away from its median */
} bj_topology_disturbance;
bj_topology_disturbance bj_topology_find_disturbed(const bj_topology_data *data);
/* The share of resamples that give the same groups: of rounds, or where there is but one, of the distances' residuals
 * around the levels' typical ones. */
bj_status bj_topology_find_support(const bj_topology_data *data, const bj_topology_groups *groups, uint64_t seed,
                                   double *support, bj_error *error) BJ_WARN_UNUSED;
/* The upper end of the one-sided 95% interval of the share of pairs astray. */
double bj_topology_limit_astray(const bj_topology_groups *groups);
