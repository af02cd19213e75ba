/* From the samples of vector chains and live vectors to what they cost and which width pays; pure. */
#pragma once

#include "probes/probe.h"

/* Of the method: part of "method" in answers. */
#define BJ_VECTOR_REVISION 1

/* Elements that one width multiplies and adds in the time of an addition; NaN: not known. */
typedef struct {
    unsigned width_bytes;
    double rate, lowest, highest;
} bj_vector_rate;

/* The analyse function of the probe. Methods "least_ratio" and "median_ratio" as of kit/chains.h; live vectors by
 * "spill_hinge" of kit/live.h with either. */
bj_status bj_vector_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) BJ_WARN_UNUSED;
