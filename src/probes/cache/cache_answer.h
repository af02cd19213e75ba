/* The analysis of the cache probe: from curves to answers. */
#ifndef BJ_PROBES_CACHE_CACHE_ANSWER_H
#define BJ_PROBES_CACHE_CACHE_ANSWER_H

#include "probes/cache/cache_methods.h"
#include "probes/probe.h"

#define BJ_CACHE_REVISION 5u
#define BJ_CACHE_WALK "cache.walk"
/* The look upwards that found where memory begins: how far it went says what could have been seen. */
#define BJ_CACHE_LOOK "cache.look"
/* The twins: one line a page against eight a page of an eighth of the extent. As many lines, in either case at random
 * places of their sets. */
#define BJ_CACHE_SPREAD "cache.spread"
#define BJ_CACHE_PACKED "cache.packed"
#define BJ_CACHE_PACKING 8u
/* Walks that come back to every line several times a lap, at random moments (probes/cache/occupancy.h): most visits
 * first. */
typedef struct {
    const char *curve;
    unsigned visits;
} bj_cache_revisit;

extern const bj_cache_revisit bj_cache_revisits[BJ_REVISIT_CURVES];

/* The attribute that tells which pages a walk had; somebody's curve has none. */
#define BJ_CACHE_PAGES "pages"
#define BJ_CACHE_PAGES_HUGE "huge"
#define BJ_CACHE_PAGES_BASE "base"

/* The hierarchy in the curves, by a method; levels_only while measuring. There must be a BJ_CACHE_WALK. */
bj_status bj_cache_find_hierarchy(const bj_curves *samples, const bj_cache_method *method, uint64_t seed,
                                  bool levels_only, bj_hierarchy *found, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_cache_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) BJ_WARN_UNUSED;

#endif
