/* From the time per addition over the number of live variables to how many fit into registers; pure. */
#pragma once

#include "probes/probe.h"

/* The analyse function of the probe; the methods are those of kit/live.h. */
bj_status bj_live_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) BJ_WARN_UNUSED;

/* What `analyze` files its rows under: no type is known. */
#define BJ_LIVE_TABLE "live.table"
