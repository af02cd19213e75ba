#include "stats/tlb_table.h"

#include <math.h>
#include <stdbool.h>

/* A TLB's step is at least this share of the time before it: page tables that leave the caches make later rises of some
 * six hundredths a point. */
#define LEAST_RISE 0.07
/* Times in whole cycles, both rounded, of a clock that is not the core's. */
#define LEAST_WHOLE_RISE 2.5
/* A flat ends a run of rises. */
#define FLAT 0.03
/* Nobody builds a TLB of so few entries, but first-level caches have these ways. */
#define LEAST_PAGES 13.0
/* Nor one of more: later rises are those of page tables, which leave the caches then. */
#define MOST_PAGES 8192.0
/* Of the pages that fill a cache: where its own rise ends at least, where it begins at most, and where its first misses
 * may show when frames are random. */
#define CACHE_END 0.79
#define CACHE_BEGIN 1.1
#define CACHE_FOREBODE 0.6
/* A cache's rises grow towards its edge, each to at least twice the one before. */
#define FOREBODE_GROWTH 2.0

static double rise_at(const bj_tlb_table *table, size_t i) {
    return table->time[i + 1] - table->time[i];
}

static bool is_flat(const bj_tlb_table *table, size_t i) {
    return rise_at(table, i) < FLAT * table->time[i];
}

static bool is_whole(const bj_tlb_table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (table->time[i] != floor(table->time[i]))
            return false;
    return true;
}

/* Whether the rise after point i is some cache's. */
static bool is_cache(const bj_tlb_table *table, size_t i) {
    double from = table->pages[i], to = table->pages[i + 1];
    if (to < LEAST_PAGES)
        return true;
    for (size_t k = 0; k < table->cache_count; k++) {
        double edge = table->cache_pages[k];
        if (from <= CACHE_BEGIN * edge && to >= CACHE_END * edge)
            return true;
        bool grows = i + 2 < table->count && rise_at(table, i + 1) >= FOREBODE_GROWTH * rise_at(table, i);
        if (to >= CACHE_FOREBODE * edge && to < CACHE_END * edge && grows)
            return true;
    }
    return false;
}

size_t bj_stats_find_table_tlb(const bj_tlb_table *table, bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX]) {
    size_t found = 0;
    double least = is_whole(table) ? LEAST_WHOLE_RISE : 0;
    for (size_t i = 0; i + 1 < table->count && table->pages[i] <= MOST_PAGES && found < BJ_TLB_TABLE_LEVELS_MAX;) {
        size_t begin = i;
        bool cache = is_cache(table, i);
        if (rise_at(table, i) < fmax(LEAST_RISE * table->time[i], least) && !(cache && !is_flat(table, i))) {
            i++;
            continue;
        }
        /* On to the next flat; a cache's rise in between is the end of the TLB's, but no TLB's step is told inside a
         * cache's. */
        for (i++; i + 1 < table->count && !is_flat(table, i) && (cache || !is_cache(table, i)); i++)
            ;
        if (!cache)
            levels[found++] = (bj_tlb_table_level){begin, i};
    }
    return found;
}
