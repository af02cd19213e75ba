/* From the time per addition over the number of live variables to how many fit into registers; pure. */
#pragma once

#include "probes/probe.h"

/* The analyse function of the probe. Method NULL or "spill_onset": where the monotone curve has risen by a third of
 * what one variable in memory must cost. "biggest_step" (blackjackbench-2012, 3.5): its biggest relative step. */
bj_status bj_live_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) BJ_WARN_UNUSED;

/* Index of the last x before variables are spilled, from a curve that was made monotone; count: nothing rises.
 * `unspilled`: the time without a spill. `part`: of what one spilled variable costs, how much is taken for one. */
size_t bj_live_find_onset(const double *x, const double *y, size_t count, double unspilled, double part);

/* Keys and curves by type, "live.int32". */
#define BJ_LIVE_TYPES 4
extern const char *const bj_live_keys[BJ_LIVE_TYPES];
/* What `analyze` files its rows under: no type is known. */
#define BJ_LIVE_TABLE "live.table"
