#include "timer/tune.h"

#include <math.h>
#include <stdlib.h>

enum { FINALISTS = 3 };

static bj_status time_one(bj_timer_bench *bench, const bj_tune_request *request, size_t candidate, int context,
                          double *ns, bj_error *error) {
    bj_timing_request one = request->timing;
    bj_timing timing;
    one.kernels[0] = request->candidates[candidate];
    one.kernel_count = 1;
    one.context = context;
    BJ_TRY(bj_timer_time_kernels(bench, &one, &timing, NULL, error));
    *ns = timing.time_ns.value;
    return BJ_OK;
}

/* The fastest in cache that has not been timed out of it; count: there is none. */
static size_t pick_next(const bj_tune_seen *seen, size_t count) {
    size_t next = count;
    for (size_t i = 0; i < count; i++)
        if (isnan(seen[i].cold_ns) && (next == count || seen[i].warm_ns < seen[next].warm_ns))
            next = i;
    return next;
}

static bj_status check(const bj_tune_request *request, bj_error *error) {
    if (request->count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no candidates");
    for (size_t i = 0; i < request->timing.operand_count; i++)
        if (request->timing.operands[i].residency != BJ_RESIDENT_UNSAID)
            return bj_base_set_error(error, BJ_ERR_USAGE,
                                     "operand %s: tuning times it warm and in the context, so it "
                                     "may not say where it is",
                                     request->timing.operands[i].name);
    return BJ_OK;
}

bj_status bj_timer_tune(bj_timer_bench *bench, const bj_tune_request *request, size_t *best, bj_tune_seen *seen,
                        bj_error *error) {
    size_t finalists = request->finalists > 0 ? request->finalists : FINALISTS;
    BJ_TRY(check(request, error));
    for (size_t i = 0; i < request->count; i++) {
        seen[i].cold_ns = NAN;
        BJ_TRY(time_one(bench, request, i, BJ_RESIDENT_WARM, &seen[i].warm_ns, error));
    }
    *best = request->count;
    for (size_t i = 0; i < finalists && i < request->count; i++) {
        size_t next = pick_next(seen, request->count);
        BJ_TRY(time_one(bench, request, next, request->timing.context, &seen[next].cold_ns, error));
        if (*best == request->count || seen[next].cold_ns < seen[*best].cold_ns)
            *best = next;
    }
    return BJ_OK;
}
