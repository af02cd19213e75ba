/* What the bandwidth probe measures, kind by kind, and where it is recorded. */
#pragma once

#include "probes/probe.h"

#define BJ_BANDWIDTH_KINDS 5u

/* Two curves over the buffer's size, in GB/s: the median and the best pass of each round. */
typedef struct {
    const char *name; /* as in keys */
    bj_stream_kind stream;
    bool past_caches; /* stores that do; of memory alone */
    const char *median_id, *best_id;
} bj_bandwidth_kind;

/* The first three are those of ordinary stores, in the order of bj_stream_kind. */
extern const bj_bandwidth_kind bj_bandwidth_kinds[BJ_BANDWIDTH_KINDS];

/* From curves to answers (bandwidth_answer.c). */
bj_status bj_bandwidth_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error);
