/* Answers of the contexts probe from its curves, or from somebody's. */
#ifndef BJ_PROBES_CONTEXTS_CONTEXTS_ANSWER_H
#define BJ_PROBES_CONTEXTS_CONTEXTS_ANSWER_H

#include "machine/machine.h"
#include "probes/contexts/delay.h"
#include "probes/probe.h"

#define BJ_CONTEXTS_REVISION 1u
#define BJ_CONTEXTS_FIRST_DELAY "first_delay"
#define BJ_CONTEXTS_FIRST_STEP "first_step"
/* Curve of what quotas took, over the kinds of work from 1 on; a round without a value had nothing taken. */
#define BJ_CONTEXTS_THROTTLED "contexts.throttled"
#define BJ_CONTEXTS_STOLEN "contexts.stolen"
/* Somebody's curve, whose kind of work they know. */
#define BJ_CONTEXTS_TABLE "contexts.table"

extern const char *const bj_contexts_keys[BJ_WORK_COUNT];
extern const char *const bj_contexts_curves[BJ_WORK_COUNT];

/* The delay that all rounds so far show, for whoever looks for the next point to measure; false: none. */
bool bj_contexts_find_delay(const bj_curve *curve, bj_delay *delay, bj_error *error);

bj_status bj_contexts_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error);

#endif
