/* Visiting orders of a buffer: the access patterns of the papers, made before anything is timed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

typedef enum {
    BJ_ORDER_RANDOM,         /* all lines in one random order: neither prefetcher nor early revisit can hide a miss */
    BJ_ORDER_PAGE_SEGMENTED, /* 2012 paper: the lines of a page in random order, then the next page */
    BJ_ORDER_STRIDE_1K,      /* Servet's mcalibrator: every 1 KiB, ascending */
    BJ_ORDER_PAIRS           /* lines pair_bytes apart one right after the other, pairs in random order */
} bj_walk_order;

typedef struct {
    size_t first_byte;  /* where in the arena the buffer starts */
    size_t bytes;       /* its size */
    size_t grain_bytes; /* distance of neighbouring places (the line, or a guess below it) */
    size_t page_bytes;  /* segment of BJ_ORDER_PAGE_SEGMENTED */
    size_t pair_bytes;  /* of BJ_ORDER_PAIRS: a multiple of the grain */
} bj_walk_shape;

/* How many places the order visits. */
size_t bj_machine_count_places(bj_walk_order order, const bj_walk_shape *shape);
/* Fills places[0 .. count), in words (machine.h). */
void bj_machine_order_places(bj_walk_order order, const bj_walk_shape *shape, bj_random *random, uint32_t *places);

/* The sparse twin of a random walk: as many pages, but only one grain in `one_in`, at a random place among its
 * neighbours so that no cache set is favoured. A step that stays where it was is the TLB's; a cache's moves out. */
size_t bj_machine_count_sparse(const bj_walk_shape *shape, size_t one_in);
void bj_machine_order_sparse(const bj_walk_shape *shape, size_t one_in, bj_random *random, uint32_t *places);

/* `count` places over count / per_page pages (rounded up), in laps that each take every page once, in one random order:
 * a page comes back when all others have been visited, however many places it has. Within their pages the places are
 * even over the sets of any cache: as many of them as a page (or the part of it that a lap visits) has grains take
 * every grain once. So two walks of one count load caches alike, and TLBs by their pages. */
typedef struct {
    size_t first_byte; /* a multiple of page_bytes */
    size_t page_bytes;
    size_t grain_bytes;
    size_t count;
    size_t per_page; /* at most page_bytes / grain_bytes */
} bj_page_walk_shape;

size_t bj_machine_count_pages(const bj_page_walk_shape *shape);
void bj_machine_order_pages(const bj_page_walk_shape *shape, bj_random *random, uint32_t *places);

/* Two places in each of `blocks` equal blocks, all in one random order: one anywhere, its partner in the same cell of
 * twice the distance, in the other half of it and anywhere there. They share a page if and only if the distance is less
 * than a page (both powers of two), and are neighbours of no other kind, in no cache and no TLB. */
typedef struct {
    size_t first_byte;  /* a multiple of the block */
    size_t block_bytes; /* a power of two, at least twice the distance */
    size_t blocks;
    size_t grain_bytes;
    size_t distance_bytes; /* a power of two, at least the grain */
} bj_partner_walk_shape;

/* 2 × blocks places. */
void bj_machine_order_partners(const bj_partner_walk_shape *shape, bj_random *random, uint32_t *places);

/* All grains of whole windows of neighbouring pages, window by window: those of a window in one random order, windows
 * in another. Each window has its turn twice, half of the walk apart, since what is fetched along with a line is its
 * neighbour: first come every other grain of a page and, when what they brought along is gone, the rest. So a TLB that
 * holds a window misses once a page and turn, while caches that hold less than half of all miss throughout. */
typedef struct {
    size_t first_byte, bytes;
    size_t window_bytes; /* a multiple of page_bytes, which is one of twice the grain */
    size_t page_bytes;
    size_t grain_bytes;
} bj_window_walk_shape;

size_t bj_machine_count_windows(const bj_window_walk_shape *shape);
/* As many places as these windows have grains. */
void bj_machine_order_windows(const bj_window_walk_shape *shape, bj_random *random, uint32_t *places);
