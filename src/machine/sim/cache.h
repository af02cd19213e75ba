/* One set-associative cache: which lines are in it, and which goes when another comes.
 *
 * A line is named by its number in the virtual address space at this cache's line size (the model maps every page
 * once, so a virtual name is unique); the set comes from the virtual or the physical address.
 *
 * index     plain: line number modulo sets. hashed: every block of `sets` consecutive lines is rotated by
 *           floor(frac(block * 2654435769 / 2^32) * sets), so that any aligned block loads all sets equally and
 *           power-of-two strides wander over them.
 * lru       least recently used; the set is kept in order of use.
 * plru      a binary tree of bits for power-of-two ways; otherwise one bit a way, set on use, all others
 *           cleared when the last is set, the victim being the first way with a clear bit.
 * random    any way. All take a free way first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/sim/machine_file.h"

#define BJ_SIM_NO_LINE UINT32_MAX

/* A divisor whose remainder is cheap: caches need not have a power of two of sets. */
typedef struct {
    uint32_t divisor;
    uint64_t reciprocal; /* 0: the divisor is a power of two */
    unsigned shift;
} bj_sim_divisor;

bj_sim_divisor bj_sim_make_divisor(uint32_t divisor);

/* The upper half of a product, without a type of 128 bits, which 32-bit targets have not. */
static inline uint64_t bj_sim_multiply_high(uint64_t a, uint32_t b) {
    return ((a >> 32) * b + ((a & UINT32_MAX) * b >> 32)) >> 32;
}

static inline uint32_t bj_sim_remainder(const bj_sim_divisor *by, uint32_t value) {
    if (by->reciprocal == 0)
        return value & (by->divisor - 1);
    return (uint32_t)bj_sim_multiply_high(by->reciprocal * value, by->divisor);
}

static inline uint32_t bj_sim_quotient(const bj_sim_divisor *by, uint32_t value) {
    if (by->reciprocal == 0)
        return value >> by->shift;
    return (uint32_t)bj_sim_multiply_high(by->reciprocal, value);
}

/* What all instances of a level have in common. */
typedef struct {
    bj_sim_divisor sets;
    uint32_t ways, stride; /* stride: ways rounded up, so that a set is compared in whole vectors */
    unsigned line_shift;
    int index, mapped, replacement, policy;
    uint32_t taken_256ths; /* ways that others hold, in 256ths of a way */
    /* plru by tree: what using a way leaves of the bits, and what it sets. */
    uint64_t tree_keeps[64], tree_sets[64];
} bj_sim_cache_shape;

typedef struct {
    const bj_sim_cache_shape *shape;
    uint32_t *tags;
    uint64_t *used;         /* plru: the bits of each set */
    uint64_t *random_state; /* the machine's */
} bj_sim_cache;

bj_sim_cache_shape bj_sim_make_cache_shape(const bj_sim_cache_spec *spec);
bj_status bj_sim_open_cache(bj_sim_cache *cache, const bj_sim_cache_shape *shape, uint64_t *random_state,
                            bj_error *error) BJ_WARN_UNUSED;
void bj_sim_close_cache(bj_sim_cache *cache);
void bj_sim_empty_cache(bj_sim_cache *cache);
/* Drops what lies in ways that others hold since shape->taken_256ths grew. */
void bj_sim_shrink_cache(bj_sim_cache *cache);

void bj_sim_remove_way(bj_sim_cache *cache, uint32_t set, int way);
/* The parts of functions below that lru does not need. */
void bj_sim_touch_plru(bj_sim_cache *cache, uint32_t set, uint32_t way);
uint32_t bj_sim_insert_anywhere(bj_sim_cache *cache, uint32_t set, uint32_t line);

static inline uint32_t bj_sim_pick_set(const bj_sim_cache_shape *shape, uint64_t virtual_address,
                                       uint64_t physical_address) {
    uint64_t address = shape->mapped == BJ_SIM_PHYSICAL ? physical_address : virtual_address;
    uint32_t line = (uint32_t)(address >> shape->line_shift);
    uint32_t set = bj_sim_remainder(&shape->sets, line);
    if (shape->index == BJ_SIM_HASHED) {
        uint32_t block = bj_sim_quotient(&shape->sets, line) * 2654435769u;
        set += (uint32_t)(((uint64_t)block * shape->sets.divisor) >> 32);
        if (set >= shape->sets.divisor)
            set -= shape->sets.divisor;
    }
    return set;
}

/* Ways of the set that are ours: what others hold is spread evenly over the sets. */
static inline uint32_t bj_sim_own_ways(const bj_sim_cache_shape *shape, uint32_t set) {
    if (shape->taken_256ths == 0)
        return shape->ways;
    uint32_t threshold = (set * 2654435769u) >> 24;
    return shape->ways - ((shape->taken_256ths + threshold) >> 8);
}

/* Four tags at a time, in whatever vectors the compiler has. */
typedef uint32_t bj_sim_tags4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t bj_sim_pair __attribute__((vector_size(16)));

/* The place of the tag in a set, or -1; no branch depends on it. */
static inline __attribute__((always_inline)) int bj_sim_find_tag(const uint32_t *tags, uint32_t stride, uint32_t tag) {
    bj_sim_tags4 wanted = {tag, tag, tag, tag};
    bj_sim_tags4 number = {1, 2, 3, 4}, found = {0, 0, 0, 0};
    for (uint32_t i = 0; i < stride; i += 4) {
        found |= (bj_sim_tags4)(*(const bj_sim_tags4 *)(tags + i) == wanted) & number;
        number += 4;
    }
    bj_sim_pair halves = (bj_sim_pair)found;
    uint64_t both = halves[0] | halves[1];
    return (int)((uint32_t)both | (uint32_t)(both >> 32)) - 1;
}

/* Moves tags[0 .. last) up by one place and puts the tag in front. From the far end, so that nothing is overwritten
 * before it is read, and without a branch on `last`, which no host could predict. */
static inline __attribute__((always_inline)) void bj_sim_move_to_front(uint32_t *tags, uint32_t stride, uint32_t last,
                                                                       uint32_t tag) {
    bj_sim_tags4 limit = {last, last, last, last};
    bj_sim_tags4 place = {stride - 4, stride - 3, stride - 2, stride - 1};
    for (uint32_t i = stride - 4; i > 0; i -= 4) {
        bj_sim_tags4 old = *(bj_sim_tags4 *)(tags + i), lower = *(bj_sim_tags4 *)(tags + i - 1);
        bj_sim_tags4 moves = (bj_sim_tags4)(place <= limit);
        *(bj_sim_tags4 *)(tags + i) = (lower & moves) | (old & ~moves);
        place -= 4;
    }
    bj_sim_tags4 old = *(bj_sim_tags4 *)tags;
    bj_sim_tags4 lower = {tag, old[0], old[1], old[2]};
    bj_sim_tags4 moves = (bj_sim_tags4)(place <= limit);
    *(bj_sim_tags4 *)tags = (lower & moves) | (old & ~moves);
}

/* The way that holds the line, or -1. */
static inline int bj_sim_find_line(const bj_sim_cache *cache, uint32_t set, uint32_t line) {
    uint32_t stride = cache->shape->stride;
    const uint32_t *tags = cache->tags + (size_t)set * stride;
    /* The common lengths as constants, so that the loops unroll. */
    if (stride == 8)
        return bj_sim_find_tag(tags, 8, line);
    if (stride == 16)
        return bj_sim_find_tag(tags, 16, line);
    return bj_sim_find_tag(tags, stride, line);
}

/* The line in `way` has been used. */
static inline void bj_sim_touch_way(bj_sim_cache *cache, uint32_t set, int way) {
    uint32_t *tags = cache->tags + (size_t)set * cache->shape->stride;
    if (cache->shape->replacement == BJ_SIM_LRU)
        bj_sim_move_to_front(tags, cache->shape->stride, (uint32_t)way, tags[way]);
    else if (cache->shape->replacement == BJ_SIM_PLRU)
        bj_sim_touch_plru(cache, set, (uint32_t)way);
}

/* Puts in a line that is not there; returns the line that went, or BJ_SIM_NO_LINE. */
static inline uint32_t bj_sim_insert_line(bj_sim_cache *cache, uint32_t set, uint32_t line) {
    uint32_t stride = cache->shape->stride;
    uint32_t *tags = cache->tags + (size_t)set * stride;
    if (cache->shape->replacement != BJ_SIM_LRU)
        return bj_sim_insert_anywhere(cache, set, line);
    uint32_t last = bj_sim_own_ways(cache->shape, set) - 1;
    uint32_t victim = tags[last];
    if (stride == 8)
        bj_sim_move_to_front(tags, 8, last, line);
    else if (stride == 16)
        bj_sim_move_to_front(tags, 16, last, line);
    else
        bj_sim_move_to_front(tags, stride, last, line);
    return victim;
}

/* LRU only, the first `own` ways: moves the tag to the front, putting it in if it was missing. True: it was there. */
static inline __attribute__((always_inline)) bool bj_sim_lru_use_fixed(uint32_t *tags, uint32_t own, uint32_t stride,
                                                                       uint32_t tag) {
    int place = bj_sim_find_tag(tags, stride, tag);
    bj_sim_move_to_front(tags, stride, place >= 0 ? (uint32_t)place : own - 1, tag);
    return place >= 0;
}

static inline bool bj_sim_lru_use(uint32_t *tags, uint32_t own, uint32_t stride, uint32_t tag) {
    if (tags[0] == tag)
        return true;
    switch (stride) {
    case 4:
        return bj_sim_lru_use_fixed(tags, own, 4, tag);
    case 8:
        return bj_sim_lru_use_fixed(tags, own, 8, tag);
    case 12:
        return bj_sim_lru_use_fixed(tags, own, 12, tag);
    case 16:
        return bj_sim_lru_use_fixed(tags, own, 16, tag);
    default:
        return bj_sim_lru_use_fixed(tags, own, stride, tag);
    }
}

/* Any replacement: uses lines[0 .. count), putting in what is missing. hits[i]: it was there. */
void bj_sim_use_lines(bj_sim_cache *cache, const uint32_t *sets, const uint32_t *lines, size_t count, uint8_t *hits);
