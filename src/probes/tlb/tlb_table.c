#include "probes/tlb/tlb_table.h"

#include <math.h>
#include <stdbool.h>

static double rise_at(const bj_tlb_table *table, size_t i) {
    return table->time[i + 1] - table->time[i];
}

static bool is_flat(const bj_tlb_table *table, size_t i) {
    return rise_at(table, i) < BJ_TLB_TABLE_FLAT * table->time[i];
}

/* What all times are multiples of, by Euclid; next to nothing where they are not rounded. */
static double find_quantum(const bj_tlb_table *table) {
    double quantum = 0, nothing = table->count > 0 ? BJ_TLB_TABLE_ROUNDING * table->time[table->count - 1] : 0;
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
    return distinct >= BJ_TLB_TABLE_DISTINCT_LEAST ? quantum : 0;
}

/* Whether the rise after point i is some cache's. */
static bool is_cache(const bj_tlb_table *table, size_t i) {
    double from = table->pages[i], to = table->pages[i + 1];
    if (to < BJ_TLB_TABLE_PAGES_LEAST)
        return true;
    for (size_t k = 0; k < table->cache_count; k++) {
        double edge = table->cache_pages[k];
        if (from <= BJ_TLB_TABLE_CACHE_BEGIN * edge && to >= BJ_TLB_TABLE_CACHE_END * edge)
            return true;
        bool grows = i + 2 < table->count && rise_at(table, i + 1) >= BJ_TLB_TABLE_CACHE_GROWTH * rise_at(table, i);
        if (to >= BJ_TLB_TABLE_CACHE_FIRST * edge && to < BJ_TLB_TABLE_CACHE_END * edge && grows)
            return true;
    }
    return false;
}

size_t bj_tlb_find_table_levels(const bj_tlb_table *table, bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX]) {
    size_t found = 0;
    double least = BJ_TLB_TABLE_QUANTA_LEAST * find_quantum(table);
    for (size_t i = 0;
         i + 1 < table->count && table->pages[i] <= BJ_TLB_TABLE_PAGES_MOST && found < BJ_TLB_TABLE_LEVELS_MAX;) {
        size_t begin = i;
        bool cache = is_cache(table, i);
        if (rise_at(table, i) < fmax(BJ_TLB_TABLE_RISE_LEAST * table->time[i], least) &&
            !(cache && !is_flat(table, i))) {
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
