#include "runner/pace.h"

#include <math.h>

/* Time constant of the smoothing: short enough to follow a new probe, long enough for a number one can read. */
#define SMOOTHING_S 2.0

double bj_runner_estimate_remaining(bj_pace *pace, double done_cost_s, double elapsed_s) {
    /* A tenth of the whole counts as already taken at the descriptors' pace: the first samples say little. */
    double prior = 0.1 * pace->total_cost_s + 1e-9;
    double slowness = (elapsed_s + prior) / (done_cost_s + prior);
    double remaining = slowness * fmax(pace->total_cost_s - done_cost_s, 0);
    remaining = fmin(remaining, fmax(pace->budget_s - elapsed_s, 0));
    if (pace->started) {
        double passed = fmax(elapsed_s - pace->elapsed_s, 0);
        double expected = fmax(pace->remaining_s - passed, 0);
        remaining = expected + (1 - exp(-passed / SMOOTHING_S)) * (remaining - expected);
    }
    if (done_cost_s >= pace->total_cost_s)
        remaining = 0;
    pace->started = true;
    pace->elapsed_s = elapsed_s;
    pace->remaining_s = remaining;
    return remaining;
}
