/* What a message costs, before it is sent. */
#include "base/memory.h"
#include "lib/lib.h"
#include "profile/comm_layers.h"

bj_lib_result bj_lib_comm_estimate(const bj_lib_profile *profile, size_t layer, size_t bytes, size_t at_once,
                                   double *us, double *relative_error, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    if (profile == NULL || us == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile and a place for the time are needed");
    const bj_answer *answer = bj_data_find_answer(&profile->whole.answers, "comm.layers");
    bj_comm_estimate estimate;
    bj_error trouble;
    if (answer == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "the profile has no comm.layers: blackjack-comm adds them");
    if (!bj_data_has_value(answer) || answer->structured == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "comm.layers: %s", answer->reason);
    (void)bj_base_take_no_memory(); /* of what this thread did before */
    bj_status status =
        bj_profile_estimate_message(answer->structured, layer, (double)bytes, (double)at_once, &estimate, &trouble);
    if (bj_base_take_no_memory())
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory to read comm.layers");
    if (status != BJ_OK)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "%s", trouble.text);
    *us = estimate.us;
    if (relative_error != NULL)
        *relative_error = estimate.error;
    return BJ_LIB_OK;
}
