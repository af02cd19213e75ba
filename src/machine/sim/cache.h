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
#ifndef BJ_MACHINE_SIM_CACHE_H
#define BJ_MACHINE_SIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "machine/sim/machine_file.h"

#define BJ_SIM_NO_LINE UINT32_MAX

/* A divisor whose remainder is cheap: caches need not have a power of two of sets. */
typedef struct {
    uint32_t divisor;
    uint64_t reciprocal; /* 0: the divisor is a power of two */
    unsigned shift;
} bj_sim_divisor;

bj_sim_divisor bj_sim_make_divisor(uint32_t divisor);

__extension__ typedef unsigned __int128 bj_sim_u128;

static inline uint32_t bj_sim_remainder(const bj_sim_divisor *by, uint32_t value) {
    if (by->reciprocal == 0)
        return value & (by->divisor - 1);
    return (uint32_t)(((bj_sim_u128)(by->reciprocal * value) * by->divisor) >> 64);
}

static inline uint32_t bj_sim_quotient(const bj_sim_divisor *by, uint32_t value) {
    if (by->reciprocal == 0)
        return value >> by->shift;
    return (uint32_t)(((bj_sim_u128)by->reciprocal * value) >> 64);
}

/* What all instances of a level have in common. */
typedef struct {
    bj_sim_divisor sets;
    uint32_t ways, stride; /* stride: ways rounded up, so that a set is compared in whole vectors */
    unsigned line_shift;
    int index, mapped, replacement, policy;
    uint32_t taken_256ths; /* ways that others hold, in 256ths of a way */
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

/* The way that holds the line, or -1. */
int bj_sim_find_line(const bj_sim_cache *cache, uint32_t set, uint32_t line);
/* The line in `way` has been used. */
void bj_sim_touch_way(bj_sim_cache *cache, uint32_t set, int way);
/* Puts in a line that is not there; returns the line that went, or BJ_SIM_NO_LINE. */
uint32_t bj_sim_insert_line(bj_sim_cache *cache, uint32_t set, uint32_t line);
void bj_sim_remove_way(bj_sim_cache *cache, uint32_t set, int way);

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

static inline bool bj_sim_set_holds(const uint32_t *tags, uint32_t stride, uint32_t tag) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < stride; i += 4)
        for (uint32_t j = 0; j < 4; j++)
            found |= tags[i + j] == tag;
    return found != 0;
}

/* LRU only: moves the tag to the front, putting it in if it was missing. True: it was there. */
static inline __attribute__((always_inline)) bool bj_sim_lru_fixed(uint32_t *tags, uint32_t ways, uint32_t stride,
                                                                   uint32_t tag) {
    if (tags[0] == tag)
        return true;
    uint32_t last = ways - 1;
    bool hit = bj_sim_set_holds(tags, stride, tag);
    if (hit) {
        last = 1;
        while (tags[last] != tag)
            last++;
    }
    if (hit || ways > 32)
        memmove(tags + 1, tags, last * sizeof tags[0]);
    else
        memmove(tags + 1, tags, (ways - 1) * sizeof tags[0]);
    tags[0] = tag;
    return hit;
}

static inline bool bj_sim_lru_use(uint32_t *tags, uint32_t ways, uint32_t stride, uint32_t tag) {
    /* The common numbers of ways as constants, so that comparing and moving become a few vector instructions. */
    switch (ways) {
    case 4:
        return bj_sim_lru_fixed(tags, 4, 4, tag);
    case 8:
        return bj_sim_lru_fixed(tags, 8, 8, tag);
    case 12:
        return bj_sim_lru_fixed(tags, 12, 12, tag);
    case 16:
        return bj_sim_lru_fixed(tags, 16, 16, tag);
    case 20:
        return bj_sim_lru_fixed(tags, 20, 20, tag);
    default:
        return bj_sim_lru_fixed(tags, ways, stride, tag);
    }
}

#endif
