/* Memory's latency by walks of its own: over the whole of a buffer far beyond all caches, TLB misses and all, and
 * window by window of a few pages, which miss the caches all the same but not the TLB (machine/walk_order.h). */
#pragma once

#include "probes/cache/hierarchy.h"
#include "probes/kit/rounds.h"

/* ns of an access by the bytes of the window; the largest is the whole buffer. */
#define BJ_MEMORY_WALK "memory.walk"
/* Its attributes: what a TLB's entry stands for at least, and how far apart places are. */
#define BJ_MEMORY_PAGE "page_bytes"
#define BJ_MEMORY_GRAIN "grain_bytes"

#define BJ_MEMORY_WINDOWS_MAX 2u

typedef struct {
    unsigned rounds;
    size_t grain_bytes, page_bytes;
    double lines_bytes;                         /* what a walk must visit so that no cache keeps it */
    double whole_bytes;                         /* the buffer; at least that */
    double window_bytes[BJ_MEMORY_WINDOWS_MAX]; /* ascending */
    size_t window_count;
} bj_memory_plan;

/* Windows that the TLB surely holds, by where its cost sets in: one of the first TLB and one of the last. None if even
 * that is so few pages that a prefetcher learns them. */
void bj_cache_plan_windows(const bj_hierarchy *found, bj_memory_plan *plan);
/* The windows and the buffer of rounds that were measured already; false: there are none. */
bool bj_cache_recall_memory(const bj_curves *samples, bj_memory_plan *plan);
/* Rounds of these walks, in arenas of their own of the same kind of pages. */
bj_status bj_cache_measure_memory(bj_rounds *rounds, const bj_memory_plan *plan, double progress_from,
                                  bj_error *error) BJ_WARN_UNUSED;
