#include "probes/tlb/tlb_table.h"

#include <math.h>
#include <stdbool.h>

/* A TLB's step is at least this share of the time before it: page tables that leave the caches make later rises of some
 * six hundredths a point. */
#define LEAST_RISE 0.07
/* Times in whole cycles (in any unit): both ends are rounded, and the clock is not the core's. */
#define LEAST_QUANTA 2.5
/* So many different times that are all multiples of one are no coincidence. */
#define LEAST_DISTINCT 6u
#define EXACT 1e-6
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

/* What all times are multiples of, by Euclid; next to nothing where they are not rounded. */
static double find_quantum(const bj_tlb_table *table) {
    double quantum = 0, nothing = table->count > 0 ? EXACT * table->time[table->count - 1] : 0;
    size_t distinct = 1;
    for (size_t i = 0; i < table->count; i++) {
        double other = table->time[i];
        distinct += i > 0 && table->time[i] > table->time[i - 1];
        while (other > nothing) {
            double rest = fmod(quantum, other);
            quantum = other;
            other = quantum - rest > nothing ? rest : 0;
        }
    }
    return distinct >= LEAST_DISTINCT ? quantum : 0;
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

size_t bj_tlb_find_table_levels(const bj_tlb_table *table, bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX]) {
    size_t found = 0;
    double least = LEAST_QUANTA * find_quantum(table);
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
