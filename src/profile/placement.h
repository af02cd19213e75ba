/* In which order threads or ranks fill the cpus, from what a profile knows of who is close to whom. */
#pragma once

#include "profile/cpu_tree.h"
#include "profile/profile.h"

typedef enum { BJ_ORDER_NEAR, BJ_ORDER_SPREAD } bj_cpu_order;

/* What placing stands on. */
typedef struct {
    const bj_cpu_node *tree;
    /* By cpu number, or NULL: which of the cpus of its core it is, and how many kinds of cpus are faster. */
    const unsigned char *sibling, *kind;
} bj_cpu_layout;

/* Fills `cpus` with `count` OS numbers.
 *
 * near: as few and as small parts of the tree as hold the threads, siblings of a core included; where it is not a tree,
 * parts that are near to each other. spread: dealt over the
 * outermost parts first, one a core as long as there are cores, siblings last. Either way a slower kind comes only
 * when the faster ones are full (of spread: before the siblings of the faster ones). More threads than cpus begin
 * again from the front. */
bj_status bj_profile_place_threads(const bj_cpu_layout *layout, bj_cpu_order order, size_t count, int *cpus,
                                   bj_error *error) BJ_WARN_UNUSED;

/* The same from the profile's answers: `tree` is the text of `topology.tree`, and `cache.L1.sharing` and `cpu.kinds`
 * are looked up; `accepts` says whether an answer is sure enough. count 0: all cpus of the tree, each once. *cpus is
 * the caller's to free, and *placed how many it has. */
typedef bool bj_accept_answer(const void *context, const bj_answer *answer);
bj_status bj_profile_place_by_answers(const bj_profile *profile, const bj_answer *tree, bj_cpu_order order,
                                      size_t count, bj_accept_answer *accepts, const void *context, int **cpus,
                                      size_t *placed, bj_error *error) BJ_WARN_UNUSED;
