/* Groups inside a branch that the tree of cpus does not know.
 *
 * A bus may lie inside a branch of which all cpus are equally near each other. No pair fills it, and all cpus at once
 * only show that something is full. In a draw of some parts, though, a bus that got more of its own is fuller than one
 * that got fewer, and each cpu's own rate tells. So parts that are always alike, whatever else is drawn, are a group.
 */
#pragma once

#include "probes/contention/contention_samples.h"

typedef struct {
    size_t *group_of; /* by part: the lowest of its group */
    size_t count;     /* groups; 0: none are seen */
    double total_gbs; /* what they can give together */
    bool contradicts; /* draws tell parts apart, but not in groups that explain it */
} bj_contention_hidden;

/* From draws of this branch in these rounds (NULL: all). group_of has room for the parts. */
bj_status bj_contention_find_hidden(const bj_contention_samples *read, bj_cpu_run branch, const bj_cpu_run *parts,
                                    size_t part_count, const size_t *rounds, size_t round_count,
                                    bj_contention_hidden *hidden, bj_error *error) BJ_WARN_UNUSED;
