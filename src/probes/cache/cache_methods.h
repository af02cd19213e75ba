/* The papers' methods of reading cache levels off a curve, each under its own name. */
#pragma once

#include <stdbool.h>

#include "machine/walk_order.h"
#include "probes/cache/levels.h"

typedef struct {
    const char *name;
    bj_level_finder finder; /* NULL: the default's, bj_cache_find_levels */
    const void *finder_context;
    bj_walk_order order;   /* the walk that the paper measures with */
    bool base_pages;       /* the papers knew nothing else */
    bool models_capacity;  /* by the occupancy model over what the finder found */
    bool capacity_is_size; /* the finder's size is a capacity already */
} bj_cache_method;

/* NULL or a method of another probe: the default. */
const bj_cache_method *bj_cache_find_method(const char *name);
/* Names, default first, NULL-terminated. */
extern const char *const bj_cache_method_names[];
