/* The curves of the cache probe: their names and attributes, how they are recorded, and how the analysis takes them. */
#pragma once

#include "probes/cache/cache_methods.h"
#include "probes/cache/hierarchy.h"
#include "probes/kit/rounds.h"

#define BJ_CACHE_WALK "cache.walk"
#define BJ_CACHE_X_NAME "working_set"
/* The look, from the arena downwards, that found where memory begins: its largest x says what could have been seen. */
#define BJ_CACHE_LOOK "cache.look"
/* The twins: one line a page against eight a page of an eighth of the extent. As many lines, in either case at random
 * places of their sets. */
#define BJ_CACHE_SPREAD "cache.spread"
#define BJ_CACHE_PACKED "cache.packed"

/* Walks that come back to every line several times a lap, at random moments (probes/cache/occupancy.h): most visits
 * first. */
typedef struct {
    const char *curve;
    unsigned visits;
} bj_cache_revisit;

extern const bj_cache_revisit bj_cache_revisits[BJ_REVISIT_CURVES];

/* Which pages a walk had; somebody's curve does not say. */
#define BJ_CACHE_PAGES "pages"
#define BJ_CACHE_PAGES_HUGE "huge"
#define BJ_CACHE_PAGES_BASE "base"

/* An attribute of the papers' walks: what the system allocates by. */
#define BJ_CACHE_PAGE_BYTES "page_bytes"

/* Records the time of a walk in the round that is being measured. */
bj_status bj_cache_record(bj_rounds *rounds, const char *id, const char *x_name, double bytes, double ns,
                          bj_error *error) BJ_WARN_UNUSED;

/* Whether samples are such as the analysis can take: they may come from anybody's file. */
bj_status bj_cache_check_samples(const bj_curves *samples, const bj_cache_method *method,
                                 bj_error *error) BJ_WARN_UNUSED;

/* The hierarchy in the curves, by a method; levels_only while measuring. There must be a BJ_CACHE_WALK. */
bj_status bj_cache_find_hierarchy(const bj_curves *samples, const bj_cache_method *method, uint64_t seed,
                                  bool levels_only, bj_hierarchy *found, bj_error *error) BJ_WARN_UNUSED;
/* From curves to answers (cache_answer.c). */
bj_status bj_cache_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) BJ_WARN_UNUSED;
