#include "runner/disturbance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "data/number.h"
#include "platform/environment.h"
#include "platform/limits.h"

void bj_runner_start_disturbance(bj_disturbance *disturbance, bool simulated) {
    *disturbance = (bj_disturbance){.simulated = simulated};
    if (simulated)
        return;
    bj_platform_read_steal("", NULL, 0, &disturbance->total, &disturbance->stolen);
    disturbance->throttled = bj_platform_throttled_count("");
}

bj_status bj_runner_note_disturbance(bj_disturbance *disturbance, bj_profile *profile, bj_error *error) {
    if (disturbance->simulated) {
        profile->run.steal = 0;
        return BJ_OK;
    }
    uint64_t total, stolen, throttled = bj_platform_throttled_count("");
    bj_platform_read_steal("", NULL, 0, &total, &stolen);
    profile->run.steal = NAN;
    if (total > disturbance->total && stolen >= disturbance->stolen)
        profile->run.steal = bj_data_round_number(
            (double)(stolen - disturbance->stolen) / (double)(total - disturbance->total), BJ_ANSWER_DIGITS);
    if (disturbance->warned || throttled <= disturbance->throttled)
        return BJ_OK;
    disturbance->warned = true;
    char warning[160];
    snprintf(warning, sizeof warning, "the cpu quota stopped the run at times (%" PRIu64 " so far): times may be high",
             throttled - disturbance->throttled);
    return bj_strings_add(&profile->environment.warnings, warning, error);
}
