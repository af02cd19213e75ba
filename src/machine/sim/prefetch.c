#include "machine/sim/prefetch.h"

#include <string.h>

#include "machine/sim/machine_file.h"

enum { FURTHEST_STRIDE = 2048, FULL_TRUST = 3, DENSE_LINES = 4 };

typedef struct {
    const bj_sim_prefetch_rules *rules;
    uint64_t address;
    bj_sim_prefetch *wanted;
    unsigned count;
} request;

static unsigned second_level(const bj_sim_prefetch_rules *rules) {
    return rules->level_count > 1 ? 1 : 0;
}

static void want(request *to, uint64_t address, unsigned level) {
    unsigned page_shift = to->rules->page_shift;
    if (address >> page_shift == to->address >> page_shift && to->count < BJ_SIM_MOST_PREFETCHES)
        to->wanted[to->count++] = (bj_sim_prefetch){.address = address, .level = level};
}

static void watch_stride(bj_sim_prefetch_state *state, request *to) {
    int64_t distance = (int64_t)(to->address - state->last_address);
    bool near = distance != 0 && distance >= -FURTHEST_STRIDE && distance <= FURTHEST_STRIDE;
    state->stride_streak = near && distance == state->last_distance ? state->stride_streak + 1 : 0;
    state->last_distance = distance;
    if (state->stride_streak > 0) {
        want(to, to->address + (uint64_t)distance, second_level(to->rules));
        want(to, to->address + 2 * (uint64_t)distance, second_level(to->rules));
    }
}

static void unlearn_follower(bj_sim_prefetch_state *state) {
    state->follower_trust = state->follower_trust > 2 ? state->follower_trust - 2 : 0;
}

static void watch_follower(bj_sim_prefetch_state *state, request *to, unsigned hit_level) {
    bool opens = to->address >> BJ_SIM_REGION_SHIFT != state->last_address >> BJ_SIM_REGION_SHIFT;
    int64_t distance =
        (int64_t)(to->address >> to->rules->line_shift) - (int64_t)(state->last_address >> to->rules->line_shift);
    if (opens && state->opened_region) {
        unlearn_follower(state);
    } else if (!opens && distance != 0) {
        if (distance == state->follower) {
            state->follower_trust += state->follower_trust < FULL_TRUST;
        } else {
            unlearn_follower(state);
            if (state->follower_trust == 0)
                state->follower = distance;
        }
    }
    state->opened_region = opens;
    if (opens && hit_level > second_level(to->rules) && state->follower_trust == FULL_TRUST) {
        uint64_t next = to->address + ((uint64_t)state->follower << to->rules->line_shift);
        if (next >> BJ_SIM_REGION_SHIFT == to->address >> BJ_SIM_REGION_SHIFT)
            want(to, next, second_level(to->rules));
    }
}

static unsigned region_line_shift(const bj_sim_prefetch_rules *rules) {
    return rules->line_shift > 5 ? rules->line_shift : 5;
}

static void watch_region(bj_sim_prefetch_state *state, request *to) {
    unsigned shift = region_line_shift(to->rules);
    if (shift >= BJ_SIM_REGION_SHIFT)
        return;
    uint64_t region = to->address >> BJ_SIM_REGION_SHIFT;
    unsigned place = 0;
    while (place < BJ_SIM_REGIONS - 1 && state->regions[place] != region)
        place++;
    bool known = state->regions[place] == region;
    uint64_t lines = known ? state->region_lines[place] : 0;
    unsigned count = known ? state->region_count[place] : 0;
    memmove(state->regions + 1, state->regions, place * sizeof state->regions[0]);
    memmove(state->region_lines + 1, state->region_lines, place * sizeof state->region_lines[0]);
    memmove(state->region_count + 1, state->region_count, place * sizeof state->region_count[0]);
    uint64_t first = region << BJ_SIM_REGION_SHIFT;
    uint64_t loaded = UINT64_C(1) << ((to->address - first) >> shift);
    state->regions[0] = region;
    state->region_lines[0] = lines | loaded;
    state->region_count[0] = count + ((lines & loaded) == 0);
    if ((lines & loaded) != 0 || count + 1 != DENSE_LINES)
        return;
    for (unsigned i = 0; i < 1u << (BJ_SIM_REGION_SHIFT - shift); i++) {
        if (((lines | loaded) >> i & 1) == 0)
            want(to, first + ((uint64_t)i << shift), 0);
    }
}

unsigned bj_sim_want_neighbours(const bj_sim_prefetch_rules *rules, uint64_t address, uint64_t wanted[2]) {
    uint64_t line_bytes = UINT64_C(1) << rules->line_shift;
    uint64_t next = address + line_bytes;
    unsigned count = 0;
    if ((rules->prefetchers & BJ_SIM_NEXT_LINE) && next >> rules->page_shift == address >> rules->page_shift)
        wanted[count++] = next;
    /* A page has no half pairs. */
    if (rules->prefetchers & BJ_SIM_ADJACENT)
        wanted[count++] = address ^ line_bytes;
    return count;
}

unsigned bj_sim_watch_load(bj_sim_prefetch_state *state, const bj_sim_prefetch_rules *rules, uint64_t address,
                           unsigned hit_level, bj_sim_prefetch wanted[BJ_SIM_MOST_PREFETCHES]) {
    request to = {.rules = rules, .address = address, .wanted = wanted};
    uint64_t neighbours[2];
    unsigned neighbour_count = hit_level > 0 ? bj_sim_want_neighbours(rules, address, neighbours) : 0;
    for (unsigned i = 0; i < neighbour_count; i++)
        want(&to, neighbours[i], second_level(rules));
    if (rules->prefetchers & BJ_SIM_STRIDE)
        watch_stride(state, &to);
    if (rules->prefetchers & BJ_SIM_REGION) {
        watch_follower(state, &to, hit_level);
        watch_region(state, &to);
    }
    state->last_address = address;
    return to.count;
}

bool bj_sim_pass_loads(bj_sim_prefetch_state *state, const bj_sim_prefetch_rules *rules, const uint64_t *addresses,
                       size_t count) {
    bj_sim_prefetch_rules order_only = *rules;
    order_only.prefetchers &= BJ_SIM_STRIDE | BJ_SIM_REGION;
    if (order_only.prefetchers == 0)
        return true;
    bj_sim_prefetch_state after = *state;
    bj_sim_prefetch wanted[BJ_SIM_MOST_PREFETCHES];
    for (size_t i = 0; i < count; i++) {
        /* As if all came from memory: where a load hits may only make it ask for less. */
        if (bj_sim_watch_load(&after, &order_only, addresses[i], rules->level_count, wanted) > 0)
            return false;
    }
    *state = after;
    return true;
}
