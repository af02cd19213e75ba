/* Sweeps: walks over many working sets in interleaved rounds, for the probes of the memory system.
 *
 * Each round opens one fresh arena and visits its points in random order, so that a minute of somebody else's noise
 * falls on scattered points of one round instead of making a false step. */
#ifndef BJ_PROBES_KIT_SWEEP_H
#define BJ_PROBES_KIT_SWEEP_H

#include "base/random.h"
#include "machine/walk_order.h"
#include "probes/probe.h"

typedef struct {
    double bytes; /* extent of the working set */
    bj_walk_order order;
    size_t grain_bytes;
    size_t one_in;     /* 0: every grain; else the sparse twin with one grain in so many */
    size_t pair_bytes; /* of BJ_ORDER_PAIRS */
    bool placed;       /* at first_byte of the arena; else anywhere: points share frames no more than they must */
    size_t first_byte; /* a multiple of the page */
} bj_sweep_point;

typedef struct {
    const bj_measure_request *request;
    bj_random random;
    bj_pages pages;     /* what the arenas get: huge until the machine refuses */
    bool pages_fixed;   /* rounds were measured: a refusal now is the caller's to handle */
    size_t arena_bytes; /* of the arenas to come; shrinks when memory is short */
    bj_arena *arena;
    uint32_t *places;
    size_t places_room;
    unsigned repetitions; /* of each point, more of small ones; the least of them is the sample */
} bj_sweep;

/* `purpose` keeps the random streams of probes apart. */
void bj_sweep_init(bj_sweep *sweep, const bj_measure_request *request, uint64_t purpose, size_t arena_bytes,
                   unsigned repetitions);
/* Closes what is open. */
void bj_sweep_free(bj_sweep *sweep);
/* A fresh arena in place of the last. Falls back to base pages, then to smaller arenas (not below least_bytes). */
bj_status bj_sweep_open_arena(bj_sweep *sweep, size_t least_bytes, bj_error *error) BJ_WARN_UNUSED;
/* A first byte for a working set in the open arena, at random. */
size_t bj_sweep_choose_place(bj_sweep *sweep, double bytes);
/* One point of the open arena; ns is the least of the repetitions. */
bj_status bj_sweep_measure(bj_sweep *sweep, const bj_sweep_point *point, double *ns, bj_error *error) BJ_WARN_UNUSED;
/* Room for `count` places at sweep->places, for a walk of the caller's own. */
bj_status bj_sweep_reserve_places(bj_sweep *sweep, size_t count, bj_error *error) BJ_WARN_UNUSED;
/* A walk over places of the caller's own in the open arena; ns as above. */
bj_status bj_sweep_walk(bj_sweep *sweep, const uint32_t *places, size_t count, double *ns,
                        bj_error *error) BJ_WARN_UNUSED;

#endif
