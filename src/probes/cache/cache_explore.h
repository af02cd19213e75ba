/* What the cache probe must know before its rounds: how far apart places lie, and where memory begins. */
#pragma once

#include "probes/kit/walks.h"

/* Half of the smallest first level that is worth a thought. */
#define BJ_CACHE_FIRST_BYTES 2048.0
/* The share of the probe's progress that exploring takes. */
#define BJ_CACHE_EXPLORED 0.1

/* The distance of neighbouring places is the line, which is not known yet: too small smears the edges, since further
 * visits to a line may hit; too large leaves sets of hashed caches unused. It starts small and doubles while pairs of
 * places are seen to share a line. Both want an open arena. */
bj_status bj_cache_find_grain(bj_rounds *rounds, size_t *grain_bytes, bj_error *error) BJ_WARN_UNUSED;
/* How far the sweep must go: one walk an octave from the arena downwards, recorded as BJ_CACHE_LOOK. */
bj_status bj_cache_find_top(bj_rounds *rounds, bj_walk_order order, size_t grain_bytes, double *top_bytes,
                            bj_error *error) BJ_WARN_UNUSED;
