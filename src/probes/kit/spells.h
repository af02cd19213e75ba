/* Rounds of different times of a run.
 *
 * Rounds that follow one another met the same machine: they agree with each other, also where it was a slow minute.
 * What was measured in another spell (late rounds, another run of --repeat) tells that apart. Where the answers of
 * single rounds differ between spells by more than chance does (rank test), the interval is widened to hold what each
 * spell says by itself, and no more resamples count as agreeing than spells do. */
#pragma once

#include "probes/kit/estimate.h"

/* For an estimate that has value, interval and support, by its request. of_round has what single rounds say; NULL: the
 * statistic is asked. It is called for all rounds last. */
bj_status bj_kit_heed_spells(const bj_estimate_request *request, const double *of_round, bj_estimate *estimate,
                             bj_error *error) BJ_WARN_UNUSED;
/* Calls the answer of an estimate that changed between spells unstable, and says from what to what. */
void bj_kit_tell_spells(const bj_estimate *estimate, bj_answer *answer);
