#include "machine/sim/cache.h"

#include <stdlib.h>
#include <string.h>

bj_sim_divisor bj_sim_make_divisor(uint32_t divisor) {
    bj_sim_divisor made = {.divisor = divisor};
    if ((divisor & (divisor - 1)) == 0) {
        while ((1u << made.shift) < divisor)
            made.shift++;
    } else {
        made.reciprocal = UINT64_MAX / divisor + 1;
    }
    return made;
}

static bool has_tree(const bj_sim_cache_shape *shape) {
    return (shape->ways & (shape->ways - 1)) == 0;
}

/* Tree bits as a heap: node 1 is the root, node n has children 2n and 2n + 1; a set bit sends the victim right. */
static void plan_tree(bj_sim_cache_shape *shape) {
    for (uint32_t way = 0; way < shape->ways; way++) {
        uint32_t node = 1;
        shape->tree_keeps[way] = UINT64_MAX;
        shape->tree_sets[way] = 0;
        for (uint32_t half = shape->ways / 2; half > 0; half /= 2) {
            bool right = (way & half) != 0;
            shape->tree_keeps[way] &= ~(UINT64_C(1) << node);
            shape->tree_sets[way] |= right ? 0 : UINT64_C(1) << node;
            node = 2 * node + right;
        }
    }
}

bj_sim_cache_shape bj_sim_make_cache_shape(const bj_sim_cache_spec *spec) {
    bj_sim_cache_shape shape = {
        .sets = bj_sim_make_divisor((uint32_t)spec->sets),
        .ways = (uint32_t)spec->ways,
        .stride = ((uint32_t)spec->ways + 3u) & ~3u,
        .index = spec->index,
        .mapped = spec->mapped,
        .replacement = spec->replacement,
        .policy = spec->policy,
    };
    while ((UINT64_C(1) << shape.line_shift) < spec->line_bytes)
        shape.line_shift++;
    if (shape.replacement == BJ_SIM_PLRU && has_tree(&shape))
        plan_tree(&shape);
    return shape;
}

bj_status bj_sim_open_cache(bj_sim_cache *cache, const bj_sim_cache_shape *shape, uint64_t *random_state,
                            bj_error *error) {
    *cache = (bj_sim_cache){.shape = shape, .random_state = random_state};
    size_t bytes = (size_t)shape->sets.divisor * shape->stride * sizeof cache->tags[0];
    cache->tags = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (shape->replacement == BJ_SIM_PLRU)
        cache->used = calloc(shape->sets.divisor, sizeof cache->used[0]);
    if (cache->tags == NULL || (shape->replacement == BJ_SIM_PLRU && cache->used == NULL)) {
        bj_sim_close_cache(cache);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a simulated cache");
    }
    bj_sim_empty_cache(cache);
    return BJ_OK;
}

void bj_sim_close_cache(bj_sim_cache *cache) {
    free(cache->tags);
    free(cache->used);
    *cache = (bj_sim_cache){0};
}

void bj_sim_empty_cache(bj_sim_cache *cache) {
    const bj_sim_cache_shape *shape = cache->shape;
    memset(cache->tags, 0xff, (size_t)shape->sets.divisor * shape->stride * sizeof cache->tags[0]);
    if (cache->used != NULL)
        memset(cache->used, 0, shape->sets.divisor * sizeof cache->used[0]);
}

void bj_sim_shrink_cache(bj_sim_cache *cache) {
    const bj_sim_cache_shape *shape = cache->shape;
    for (uint32_t set = 0; set < shape->sets.divisor; set++) {
        uint32_t *tags = cache->tags + (size_t)set * shape->stride;
        for (uint32_t way = bj_sim_own_ways(shape, set); way < shape->ways; way++)
            tags[way] = BJ_SIM_NO_LINE;
    }
}

/* Ways from `own` on belong to others: a subtree that lies there is never entered. */
static uint32_t pick_from_tree(uint64_t bits, uint32_t ways, uint32_t own) {
    uint32_t node = 1, way = 0;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool right = (bits >> node & 1) != 0 && (way | half) < own;
        way |= right ? half : 0;
        node = 2 * node + right;
    }
    return way;
}

static void touch_bits(uint64_t *bits, uint32_t own, uint32_t way) {
    uint64_t all = own < 64 ? (UINT64_C(1) << own) - 1 : UINT64_MAX;
    *bits |= UINT64_C(1) << way;
    if ((*bits & all) == all)
        *bits = UINT64_C(1) << way;
}

static uint32_t pick_from_bits(uint64_t bits, uint32_t own) {
    for (uint32_t way = 0; way < own; way++) {
        if ((bits >> way & 1) == 0)
            return way;
    }
    return 0;
}

void bj_sim_touch_plru(bj_sim_cache *cache, uint32_t set, uint32_t way) {
    if (has_tree(cache->shape))
        cache->used[set] = (cache->used[set] & cache->shape->tree_keeps[way]) | cache->shape->tree_sets[way];
    else
        touch_bits(&cache->used[set], bj_sim_own_ways(cache->shape, set), way);
}

/* A counter and a mixer of it: the model draws one a miss, so it must cost next to nothing, and what one draw waits for
 * of the last is a single addition. */
static uint64_t next_state(uint64_t x) {
    return x + 0x9e3779b97f4a7c15u;
}

static uint32_t draw_below(uint64_t state, uint32_t bound) {
    uint64_t mixed = (state ^ state >> 32) * 0xd6e8feb86659fd93u;
    mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
    return (uint32_t)(((mixed >> 32) * bound) >> 32);
}

static uint32_t pick_victim_way(bj_sim_cache *cache, uint32_t set, const uint32_t *tags, uint32_t own) {
    /* Full sets are the rule, and found so without a branch; the padding may give a false alarm. */
    if (bj_sim_find_tag(tags, cache->shape->stride, BJ_SIM_NO_LINE) >= 0) {
        for (uint32_t way = 0; way < own; way++) {
            if (tags[way] == BJ_SIM_NO_LINE)
                return way;
        }
    }
    if (cache->shape->replacement == BJ_SIM_RANDOM)
        return draw_below(*cache->random_state = next_state(*cache->random_state), own);
    if (has_tree(cache->shape))
        return pick_from_tree(cache->used[set], cache->shape->ways, own);
    return pick_from_bits(cache->used[set], own);
}

uint32_t bj_sim_insert_anywhere(bj_sim_cache *cache, uint32_t set, uint32_t line) {
    uint32_t *tags = cache->tags + (size_t)set * cache->shape->stride;
    uint32_t way = pick_victim_way(cache, set, tags, bj_sim_own_ways(cache->shape, set));
    uint32_t victim = tags[way];
    tags[way] = line;
    if (cache->shape->replacement == BJ_SIM_PLRU)
        bj_sim_touch_plru(cache, set, way);
    return victim;
}

/* Loops over lines of one kind of cache; the common lengths come as constants, so that what is inside unrolls. */
typedef struct {
    bj_sim_cache *cache;
    const uint32_t *sets, *lines;
    size_t count;
    uint8_t *hits;
} uses;

static inline __attribute__((always_inline)) void use_lru(const uses *to, uint32_t stride) {
    const bj_sim_cache_shape *shape = to->cache->shape;
    for (size_t i = 0; i < to->count; i++) {
        uint32_t *tags = to->cache->tags + (size_t)to->sets[i] * stride;
        to->hits[i] = tags[0] == to->lines[i] ||
                      bj_sim_lru_use_fixed(tags, bj_sim_own_ways(shape, to->sets[i]), stride, to->lines[i]);
    }
}

static inline __attribute__((always_inline)) void use_random(const uses *to, uint32_t stride) {
    const bj_sim_cache_shape *shape = to->cache->shape;
    const uint32_t *sets = to->sets, *lines = to->lines;
    uint8_t *hits = to->hits;
    uint32_t *all_tags = to->cache->tags;
    uint64_t state = *to->cache->random_state;
    for (size_t i = 0, count = to->count; i < count; i++) {
        uint32_t set = sets[i], line = lines[i], *tags = all_tags + (size_t)set * stride;
        int way = bj_sim_find_tag(tags, stride, line);
        hits[i] = way >= 0;
        if (bj_sim_find_tag(tags, stride, BJ_SIM_NO_LINE) < 0) {
            /* A full set hits or misses as chance has it: both in the same instructions, by a mask, since compilers
             * make branches of choices. */
            uint64_t missed = (uint64_t) - (int64_t)(way < 0);
            uint32_t place = draw_below(next_state(state), bj_sim_own_ways(shape, set));
            tags[(place & (uint32_t)missed) | ((uint32_t)way & ~(uint32_t)missed)] = line;
            state += (next_state(state) - state) & missed;
        } else if (way < 0) {
            *to->cache->random_state = state;
            bj_sim_insert_anywhere(to->cache, set, line);
            state = *to->cache->random_state;
        }
    }
    *to->cache->random_state = state;
}

static inline __attribute__((always_inline)) void use_plru(const uses *to, uint32_t stride) {
    for (size_t i = 0; i < to->count; i++) {
        uint32_t set = to->sets[i], line = to->lines[i];
        int way = bj_sim_find_tag(to->cache->tags + (size_t)set * stride, stride, line);
        if (way < 0)
            bj_sim_insert_anywhere(to->cache, set, line);
        else
            bj_sim_touch_plru(to->cache, set, (uint32_t)way);
        to->hits[i] = way >= 0;
    }
}

static inline __attribute__((always_inline)) void use_by_kind(const uses *to, uint32_t stride) {
    if (to->cache->shape->replacement == BJ_SIM_LRU)
        use_lru(to, stride);
    else if (to->cache->shape->replacement == BJ_SIM_RANDOM)
        use_random(to, stride);
    else
        use_plru(to, stride);
}

void bj_sim_use_lines(bj_sim_cache *cache, const uint32_t *sets, const uint32_t *lines, size_t count, uint8_t *hits) {
    const uses to = {.cache = cache, .sets = sets, .lines = lines, .count = count, .hits = hits};
    switch (cache->shape->stride) {
    case 4:
        use_by_kind(&to, 4);
        break;
    case 8:
        use_by_kind(&to, 8);
        break;
    case 12:
        use_by_kind(&to, 12);
        break;
    case 16:
        use_by_kind(&to, 16);
        break;
    default:
        use_by_kind(&to, cache->shape->stride);
    }
}

void bj_sim_remove_way(bj_sim_cache *cache, uint32_t set, int way) {
    const bj_sim_cache_shape *shape = cache->shape;
    uint32_t *tags = cache->tags + (size_t)set * shape->stride;
    uint32_t last = (uint32_t)way;
    if (shape->replacement == BJ_SIM_LRU) {
        /* The order of use has no gaps: free ways are at the end, where the next victim is looked for. */
        last = bj_sim_own_ways(shape, set) - 1;
        memmove(tags + way, tags + way + 1, (last - (uint32_t)way) * sizeof tags[0]);
    }
    tags[last] = BJ_SIM_NO_LINE;
}
