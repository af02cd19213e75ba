/* Which of the ranks that were measured a program's ranks are best put in the place of. */
#pragma once

#include "profile/comm_layers.h"

typedef enum {
    BJ_TALK_NEIGHBOURS, /* each rank with the one before and the one after it */
    BJ_TALK_ALL,        /* each with every other */
    BJ_TALK_LITTLE      /* hardly at all: each wants memory and caches for itself */
} bj_talk;

/* What a way to place them costs: the time of one exchange of all ranks by the slowest layer, with as many pairs at
 * once as each layer then carries. */
typedef struct {
    double near_us, spread_us;       /* NaN: not to be told */
    bool is_near;                    /* which was taken */
    size_t near_layer, spread_layer; /* the farthest that each has messages in */
} bj_comm_placing;

/* Fills places[i] with the measured rank (its host and cpu are in `comm.ranks`) whose place rank i of `count` takes:
 * near each other or spread, whichever costs less; of equals near, but spread for BJ_TALK_LITTLE. BJ_ERR_USAGE: fewer
 * than two ranks, or more than were measured. */
bj_status bj_profile_place_ranks(const bj_comm_layers *layers, size_t count, bj_talk talk, double bytes, size_t *places,
                                 bj_comm_placing *placing, bj_error *error) BJ_WARN_UNUSED;
/* All measured ranks, those near each other in a row (or, spread, in turn); places has room for rank_count. */
bj_status bj_profile_order_ranks(const bj_comm_layers *layers, bool spread, size_t *places,
                                 bj_error *error) BJ_WARN_UNUSED;
/* Why, in one sentence. */
void bj_profile_explain_placing(const bj_comm_layers *layers, const bj_comm_placing *placing, size_t count,
                                bj_talk talk, double bytes, char *text, size_t room);
