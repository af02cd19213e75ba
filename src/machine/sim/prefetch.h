/* Hardware prefetchers, as simple as shows what they do to a measurement. They watch one cpu's loads, never cross
 * a base page, and what they ask for is there at once.
 *
 * next_line  a load that misses the first level brings the following line into the second.
 * adjacent   the same for the other half of the aligned pair of lines.
 * stride     three loads at one distance (at most 2 KiB) bring the next two at that distance into the second level.
 * region     two habits, both inside aligned 2 KiB regions. Follower: when loads are usually followed by one at a
 * certain distance, a load that opens a region and misses the second level brings its follower there (it unlearns twice
 * as fast as it learns, so that decoys defeat it). Dense region: the fourth different line of one of the 8 regions last
 * used brings the rest of that region into the first level.
 *
 * "Second" level: the first one on machines that have no other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BJ_SIM_REGION_SHIFT = 11, BJ_SIM_REGIONS = 8, BJ_SIM_MOST_PREFETCHES = 160 };

typedef struct {
    uint64_t last_address;
    int64_t last_distance;
    unsigned stride_streak;
    int opened_region;                     /* the last load was the first in its region */
    int64_t follower;                      /* distance in lines */
    int follower_trust;                    /* 0 to 3 */
    uint64_t regions[BJ_SIM_REGIONS];      /* order of use, latest first */
    uint64_t region_lines[BJ_SIM_REGIONS]; /* a bit a line that was loaded */
    unsigned region_count[BJ_SIM_REGIONS]; /* how many bits */
} bj_sim_prefetch_state;

typedef struct {
    uint64_t address;
    unsigned level; /* to bring it into, from 0 */
} bj_sim_prefetch;

typedef struct {
    unsigned prefetchers; /* bj_sim_prefetchers */
    unsigned line_shift;  /* of the first level */
    unsigned page_shift;
    unsigned level_count;
} bj_sim_prefetch_rules;

/* Tells of a load that hit at `hit_level` (from 0); returns how many prefetches it caused. */
unsigned bj_sim_watch_load(bj_sim_prefetch_state *state, const bj_sim_prefetch_rules *rules, uint64_t address,
                           unsigned hit_level, bj_sim_prefetch wanted[BJ_SIM_MOST_PREFETCHES]);

/* What next_line and adjacent make of a load that missed the first level: addresses, at most two. */
unsigned bj_sim_want_neighbours(const bj_sim_prefetch_rules *rules, uint64_t address, uint64_t wanted[2]);

/* For the prefetchers that look at the order of loads (stride, region): true if these loads make them do nothing, which
 * they have seen then; false if they must be shown to them one by one. */
bool bj_sim_pass_loads(bj_sim_prefetch_state *state, const bj_sim_prefetch_rules *rules, const uint64_t *addresses,
                       size_t count);
