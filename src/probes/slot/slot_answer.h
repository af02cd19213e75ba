/* The answer of the slot probe from its gaps, or from somebody's. */
#pragma once

#include "probes/probe.h"

#define BJ_SLOT_WAITING_PEAK "waiting_peak"
#define BJ_SLOT_MODE "mode"
/* Gaps in ms over their number in the round. */
#define BJ_SLOT_GAPS "slot.gaps"
/* What was taken from the threads, over their number; a round without a value had nothing taken. */
#define BJ_SLOT_THROTTLED "slot.throttled"
#define BJ_SLOT_STOLEN "slot.stolen"
/* Shorter gaps are of the loop that looks for them (the paper's threshold). */
#define BJ_SLOT_LEAST_MS 0.02

bj_status bj_slot_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error);
