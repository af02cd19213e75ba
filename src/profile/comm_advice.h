/* What a profile advises a parallel program to do, each with its reason (Servet, section V). */
#pragma once

#include "profile/profile.h"

/* Whether an answer is taken. */
typedef bool bj_advice_filter(const bj_answer *answer);

/* One line each: where to put ranks, how many cpus are of use, which messages to join, how many to send at once,
 * through how many arrays a loop may go. None where the answers that it takes (`comm.layers`, `memory.contention`,
 * `memory.streams`) are absent or say nothing of the kind. */
bj_status bj_profile_advise(const bj_profile *profile, bj_advice_filter *accepts, bj_strings *advice,
                            bj_error *error) BJ_WARN_UNUSED;
