/* Which cpus collide on their way to memory: levels of groups, from the innermost.
 *
 * Of pairs (Servet III-C): pairs that get less than alone, in classes of about the same rate; the groups of a class are
 * what its pairs and those of lower rates connect; unless all pairs were measured a pair stands for the parts of the
 * tree that it is of. On today's machines no pair fills a memory bus. So of crowds: all
 * cpus of a branch get less than its parts by themselves, and its whole is not what limits the branch around it, too.
 * Groups inside it that the tree lacks come from draws (contention_hidden.h).
 */
#pragma once

#include "probes/contention/contention_samples.h"

enum { BJ_CONTENTION_LEVELS_MAX = 8 };

typedef struct {
    size_t *group_of;    /* by cpu: the lowest index of its group */
    double gbs;          /* what one of a pair gets; NaN: no pair collides, a crowd does */
    size_t lowest, size; /* of the largest group, the first of them: the one whose scaling is measured */
} bj_contention_level;

typedef struct {
    bj_contention_level levels[BJ_CONTENTION_LEVELS_MAX];
    size_t count;
    bool hides_groups; /* some samples contradict the groups: the tree lacks something inside */
} bj_contention;

/* From these rounds (NULL: all). is_servet: as figure 6 has it, first come, and pairs alone. */
bj_status bj_contention_find_levels(const bj_contention_samples *read, const size_t *rounds, size_t round_count,
                                    bool is_servet, bj_contention *found, bj_error *error) BJ_WARN_UNUSED;
void bj_contention_free_levels(bj_contention *found);
/* Groups by pairs that are smaller than the largest of their level may only have been asked too little: a cpu of one
 * that no pair compares with all others, and which its group was compared with. Their number: there is none. */
size_t bj_contention_find_unasked(const bj_contention_samples *read, const bj_contention *found, bool *reached);
/* What all cpus of a run of the tree get together, in these rounds (NULL: all); NaN: it was not measured. */
double bj_contention_find_total(const bj_contention_samples *read, bj_cpu_run run, const size_t *rounds,
                                size_t round_count);
/* Rates that differ by less than this share are the same. */
double bj_contention_find_gap(const bj_contention_samples *read);
