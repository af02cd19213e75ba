/* The papers' methods of reading cache levels off a curve, each under its own name. */
#pragma once

#include <stdbool.h>

#include "machine/walk_order.h"
#include "probes/cache/levels.h"

typedef struct {
    const char *name;
    bj_level_finder finder; /* NULL: the default's, bj_cache_find_levels */
    const void *variant;    /* of the finder */
    bool as_printed;        /* measured as the paper has it (cache_printed.h), in this order */
    bj_walk_order order;
    bool takes_mean;       /* of the rounds: what a model of chance expects. Else a low quantile */
    bool models_capacity;  /* by the occupancy model over what the finder found */
    bool capacity_is_size; /* the finder's size is a capacity already */
} bj_cache_method;

/* What `paper` and `servet` stand for. */
#define BJ_CACHE_PAPER_METHOD "qt_cluster"
#define BJ_CACHE_SERVET_METHOD "binomial_size"

/* NULL or a method of another probe: the default. */
const bj_cache_method *bj_cache_find_method(const char *name);
/* Names, default first, NULL-terminated. */
extern const char *const bj_cache_method_names[];
