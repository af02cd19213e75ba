/* The papers' ways to read cache levels off a curve, each under its own name, as finders for probes/cache/hierarchy.h.
 */
#ifndef BJ_PROBES_CACHE_CACHE_METHODS_H
#define BJ_PROBES_CACHE_CACHE_METHODS_H

#include <stdbool.h>

#include "machine/walk_order.h"
#include "probes/cache/hierarchy.h"

typedef struct {
    const char *name;
    bj_level_finder finder;
    bj_walk_order order;   /* the walk that the paper measures with */
    bool base_pages;       /* the papers knew nothing else */
    bool models_capacity;  /* by the occupancy model over what the finder found */
    bool capacity_is_size; /* the finder's size is a capacity already */
} bj_cache_method;

/* NULL or the default's name: the default. NULL result: no such method. */
const bj_cache_method *bj_cache_find_method(const char *name);
/* Names, default first, NULL-terminated. */
extern const char *const bj_cache_method_names[];

#endif
