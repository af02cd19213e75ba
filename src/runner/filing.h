/* From what a probe answered to what the profile says. */
#pragma once

#include "probes/probe.h"
#include "profile/profile.h"

/* The answers of other probes than this one: shallow, only *items is the caller's to free. */
bj_status bj_runner_list_earlier(const bj_answers *all, const bj_probe *probe, bj_answers *earlier,
                                 bj_error *error) BJ_WARN_UNUSED;
/* Seed of a probe's own random stream: the same whichever other probes run. */
uint64_t bj_runner_seed_probe(uint64_t seed, const char *name);
/* Gives every key without a placeholder that is not in `answers` the status and the reason. */
bj_status bj_runner_fill_answers(const bj_probe *probe, bj_answer_status status, const char *reason,
                                 bj_answers *answers, bj_error *error) BJ_WARN_UNUSED;
/* Analyses, and has an answer for every key in any case: where the analysis fails, `trouble` says why (empty: it did
 * not) and the keys are `failed`. */
bj_status bj_runner_conclude_probe(const bj_probe *probe, const bj_curves *samples, const bj_analyse_request *request,
                                   bj_answers *answers, bj_error *trouble, bj_error *error) BJ_WARN_UNUSED;
/* Moves the answers into the profile, where they take the place of the probe's former ones. */
bj_status bj_runner_file_answers(bj_profile *profile, const bj_probe *probe, bj_answers *answers,
                                 bj_error *error) BJ_WARN_UNUSED;
/* Revision, status and reason as the answers have it; seconds stay. A probe fails when an answer of it does. */
bj_status bj_runner_file_record(bj_profile *profile, const bj_probe *probe, bj_answer_status status, const char *reason,
                                bj_error *error) BJ_WARN_UNUSED;
