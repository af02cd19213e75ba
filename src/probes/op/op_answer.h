/* From the samples of chains to latency, throughput and operations in flight; pure. */
#pragma once

#include "probes/probe.h"

/* The analyse function of the probe; the methods are those of kit/chains.h. */
bj_status bj_op_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                       bj_error *error) BJ_WARN_UNUSED;
