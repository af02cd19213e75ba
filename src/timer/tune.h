/* Two-phase tuning (Whaley and Castaldo, 1.2): computing first, in the caches; then memory, with the best few. */
#pragma once

#include "timer/timing.h"

typedef struct {
    bj_kernel_function *const *candidates;
    size_t count;
    size_t finalists;         /* 0: three */
    bj_timing_request timing; /* n, operands, context of the second phase; kernels are the candidates */
} bj_tune_request;

typedef struct {
    double warm_ns, cold_ns; /* NaN: not timed so */
} bj_tune_seen;

/* *best of the candidates, and what was seen of each. Operands that say their residency are refused: both phases would
 * be the same for them. */
bj_status bj_timer_tune(bj_timer_bench *bench, const bj_tune_request *request, size_t *best, bj_tune_seen *seen,
                        bj_error *error) BJ_WARN_UNUSED;
