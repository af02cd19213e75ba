/* Answers of the contexts probe from its curves, or from somebody's. */
#pragma once

#include "probes/contexts/delay.h"
#include "probes/kit/rounds.h"

#define BJ_CONTEXTS_FIRST_DELAY "first_delay"
#define BJ_CONTEXTS_FIRST_STEP "first_step"
/* Somebody's curve, whose kind of work they know. */
#define BJ_CONTEXTS_TABLE "contexts.table"

/* After the curves of the kinds of work: what quotas and hypervisors took, over the kinds from 1 on; a round without a
 * value had nothing taken. */
enum { BJ_CONTEXTS_THROTTLED = BJ_WORK_COUNT, BJ_CONTEXTS_STOLEN, BJ_CONTEXTS_CURVES };
extern const bj_curve_axes bj_contexts_axes[BJ_CONTEXTS_CURVES];

/* The delay that all rounds so far show, for whoever looks for the next point to measure. */
bj_status bj_contexts_find_delay(const bj_curve *curve, bj_delay *delay, bool *is_found,
                                 bj_error *error) BJ_WARN_UNUSED;

bj_status bj_contexts_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error);
