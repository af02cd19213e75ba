/* Levels of a TLB from a curve that anyone measured: the time of an access against the number of pages, one access a
 * page, without twins.
 *
 * The caches make steps in it, too: the accesses meet a cache of S bytes in W ways at one place of each page, so that S
 * / page pages fill it, or W where its ways are shorter than a page. A rise that begins up to there and ends at four
 * fifths of it or later is the cache's, with all that follows without a flat between; so is what leads there in growing
 * rises. The other rises are the TLB's. The answer is the last number of pages before each. */
#pragma once

#include <stddef.h>

#include "probes/tlb/tlb_constants.h"

typedef struct {
    const double *pages, *time; /* pages ascend, times are positive and do not fall */
    size_t count;
    const double *cache_pages; /* that fill the known caches */
    size_t cache_count;
} bj_tlb_table;

typedef struct {
    size_t before, after; /* points: the last without the cost and the first with all of it */
} bj_tlb_table_level;

/* Returns how many. */
size_t bj_tlb_find_table_levels(const bj_tlb_table *table, bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX]);
