/* Walks in the arenas of rounds, for the probes of the memory system. */
#pragma once

#include "machine/walk_order.h"
#include "probes/kit/rounds.h"

typedef struct {
    double bytes; /* extent of the working set */
    bj_walk_order order;
    size_t grain_bytes;
    size_t one_in;     /* 0 or 1: every grain; else a sparse walk with one grain in so many */
    size_t pair_bytes; /* of BJ_ORDER_PAIRS */
    bool placed;       /* at first_byte of the arena; else anywhere: points share frames no more than they must */
    size_t first_byte; /* a multiple of the page */
} bj_walk_point;

/* As many bytes of an arena as the probe may map, with what a walk takes beside it: `bytes` or less. */
double bj_kit_limit_arena(const bj_measure_request *request, double bytes);
/* Arenas to come: on huge pages, unless the machine has none or a single one exceeds what the probe may map. */
void bj_kit_plan_arena(bj_rounds *rounds, size_t arena_bytes, unsigned repetitions);
/* The same, of `bytes` rounded up to whole huge pages, as far as memory allows; base pages where a single huge one is
 * more than `most_bytes`, the most that the probe wants. */
void bj_kit_plan_whole_pages(bj_rounds *rounds, double bytes, double most_bytes, unsigned repetitions);
/* Notes with a curve what its arenas were: pages and bytes. NULL: nothing was measured. */
bj_status bj_kit_keep_arena(const bj_rounds *rounds, bj_curve *curve, bj_error *error) BJ_WARN_UNUSED;
/* For late rounds: arenas as those of the curve were, or none. False: that is not known, or more than may be mapped
 * now; rounds on other pages would not be rounds of that curve. */
bool bj_kit_recall_arena(bj_rounds *rounds, const bj_curve *curve);
/* A fresh arena in place of the last. Falls back to base pages, then to smaller arenas (not below least_bytes). */
bj_status bj_kit_open_arena(bj_rounds *rounds, size_t least_bytes, bj_error *error) BJ_WARN_UNUSED;
void bj_kit_close_arena(bj_rounds *rounds);
/* A first byte for a working set in the open arena, at random. */
size_t bj_kit_choose_first_byte(bj_rounds *rounds, double bytes);
/* One working set of the open arena; ns is the least of the repetitions. */
bj_status bj_kit_walk_point(bj_rounds *rounds, const bj_walk_point *point, double *ns, bj_error *error) BJ_WARN_UNUSED;
/* Room for `count` places at rounds->places, for a walk of the caller's own. */
bj_status bj_kit_reserve_places(bj_rounds *rounds, size_t count, bj_error *error) BJ_WARN_UNUSED;
/* A walk over places of the caller's own in the open arena; ns as above. */
bj_status bj_kit_walk_places(bj_rounds *rounds, const uint32_t *places, size_t count, double *ns,
                             bj_error *error) BJ_WARN_UNUSED;
/* The same, in so many chains and repetitions (up to BJ_KIT_REPETITIONS_MAX). */
#define BJ_KIT_REPETITIONS_MAX 16u
bj_status bj_kit_walk_chains(bj_rounds *rounds, const uint32_t *places, size_t count, unsigned chains,
                             unsigned repetitions, double *ns, bj_error *error) BJ_WARN_UNUSED;
