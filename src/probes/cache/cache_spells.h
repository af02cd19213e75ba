/* Latencies of levels between the spells of a run (kit/spells.h). What sizes do from round to round is in their
 * intervals already. */
#pragma once

#include "probes/cache/hierarchy.h"

/* For a hierarchy whose intervals and support are found; leaves the summary as the last rounds that were asked. */
bj_status bj_cache_heed_spells(bj_round_summary *s, uint64_t seed, bj_hierarchy *found, bj_error *error) BJ_WARN_UNUSED;
