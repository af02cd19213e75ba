/* What memory.walk says of memory's latency (probes/cache/memory_walk.h). */
#pragma once

#include "probes/cache/hierarchy.h"
#include "probes/probe.h"

typedef struct {
    const bj_curves *samples;
    const bj_hierarchy *found;
    bj_confidence most; /* what is behind the last level may be another one */
    uint64_t seed;
} bj_memory_request;

/* Without such a curve (a profile of an older version, no time) the latency is what the largest walk of the sweep
 * took, and that within the TLB's reach is not answered. */
bj_status bj_cache_answer_memory(const bj_memory_request *request, bj_answers *answers, bj_error *error) BJ_WARN_UNUSED;
