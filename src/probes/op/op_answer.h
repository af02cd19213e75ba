/* From the samples of chains to latency, throughput and operations in flight; pure. */
#pragma once

#include "probes/probe.h"

/* The analyse function of the probe. Method NULL or "least_ratio": the least over rounds of ratios to the addition of
 * the same round. "median_ratio": their medians. "second_lowest" (blackjackbench-2012): of all rounds, and in flight by
 * the inflection of the cost of a link. */
bj_status bj_op_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                       bj_error *error) BJ_WARN_UNUSED;
