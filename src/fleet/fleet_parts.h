/* What the files of this room share. */
#pragma once

#include "fleet/fleet.h"

/* Fewer hosts of one kind say too little about what is usual among them: with eight, robust spread has three degrees of
 * freedom, and only what is grossly off passes. */
#define BJ_FLEET_LEAST_HOSTS 8u

bj_status bj_fleet_grow(void **items, size_t *room, size_t count, size_t size, bj_error *error) BJ_WARN_UNUSED;
/* The number of a key, made where it is not known yet. */
bj_status bj_fleet_find_key(bj_fleet *fleet, const char *name, const char *unit, unsigned *key,
                            bj_error *error) BJ_WARN_UNUSED;
/* Hosts that saw another number of levels than most of their kind: their levels get the names of those that they match
 * by size, and what matches none is dropped. */
bj_status bj_fleet_align_levels(bj_fleet *fleet, bj_error *error) BJ_WARN_UNUSED;
