/* Visiting orders of a buffer: the access patterns of the papers, made before anything is timed. */
#ifndef BJ_MACHINE_WALK_ORDER_H
#define BJ_MACHINE_WALK_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

typedef enum {
    BJ_ORDER_RANDOM,         /* all lines in one random order: neither prefetcher nor early revisit can hide a miss */
    BJ_ORDER_PAGE_SEGMENTED, /* 2012 paper: the lines of a page in random order, then the next page */
    BJ_ORDER_STRIDE_1K,      /* Servet's mcalibrator: every 1 KiB, ascending */
    BJ_ORDER_BLOCKS          /* pages (of any size) in random order, each exhausted in random order: pairs, and so on */
} bj_walk_order;

typedef struct {
    size_t first_byte;  /* where in the arena the buffer starts */
    size_t bytes;       /* its size */
    size_t grain_bytes; /* distance of neighbouring places (the line, or a guess below it) */
    size_t page_bytes;  /* segment of BJ_ORDER_PAGE_SEGMENTED and BJ_ORDER_BLOCKS */
} bj_walk_shape;

/* How many places the order visits. */
size_t bj_machine_count_places(bj_walk_order order, const bj_walk_shape *shape);
/* Fills places[0 .. count), in words (machine.h). */
void bj_machine_order_places(bj_walk_order order, const bj_walk_shape *shape, bj_random *random, uint32_t *places);

/* The sparse twin of a random walk: as many pages, but only one grain in `one_in`, at a random place among its
 * neighbours so that no cache set is favoured. A step that stays where it was is the TLB's; a cache's moves out. */
size_t bj_machine_count_sparse(const bj_walk_shape *shape, size_t one_in);
void bj_machine_order_sparse(const bj_walk_shape *shape, size_t one_in, bj_random *random, uint32_t *places);

#endif
