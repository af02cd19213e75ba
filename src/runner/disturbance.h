/* What the system took from a run while it lasted: stolen time, quota throttling. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

typedef struct {
    bool simulated; /* nothing disturbs a simulated machine */
    uint64_t total, stolen, throttled;
    bool warned;
} bj_disturbance;

void bj_runner_start_disturbance(bj_disturbance *disturbance, bool simulated);
/* Writes the share so far into the profile, and a warning once the quota has throttled us. */
bj_status bj_runner_note_disturbance(bj_disturbance *disturbance, bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
