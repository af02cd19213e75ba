/* What a message costs, before it is sent, and where the ranks that send it are best put. */
#include <stdio.h>

#include "base/memory.h"
#include "lib/lib.h"
#include "profile/comm_advice.h"
#include "profile/comm_layers.h"
#include "profile/comm_place.h"

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

static bool is_sure(const bj_answer *answer) {
    return answer->status == BJ_ANSWER_OK && answer->confidence != BJ_CONFIDENCE_LOW;
}

bj_lib_result bj_lib_place_ranks(const bj_lib_profile *profile, size_t count, bj_lib_talk talk, size_t bytes,
                                 size_t *places, char *reason, size_t reason_room, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    static const bj_talk patterns[] = {BJ_TALK_NEIGHBOURS, BJ_TALK_ALL, BJ_TALK_LITTLE};
    if (profile == NULL || places == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile and room for the places are needed");
    const bj_answer *answer = bj_data_find_answer(&profile->whole.answers, "comm.layers");
    bj_comm_layers layers;
    bj_comm_placing placing;
    bj_error trouble;
    if (answer == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "the profile has no comm.layers: blackjack-comm adds them");
    if (!bj_data_has_value(answer) || answer->structured == NULL || !is_sure(answer))
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "comm.layers is not sure: %s", answer->reason);
    if ((size_t)talk >= sizeof patterns / sizeof patterns[0])
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "%d is no pattern of messages", (int)talk);
    (void)bj_base_take_no_memory(); /* of what this thread did before */
    bj_status status = bj_profile_read_comm_layers(answer->structured, &layers, &trouble);
    if (bj_base_take_no_memory()) {
        bj_profile_free_comm_layers(&layers); /* empty where reading failed */
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory to read comm.layers");
    }
    if (status != BJ_OK)
        return bj_inside_translate(status, &trouble, error);
    status = bj_profile_place_ranks(&layers, count, patterns[talk], (double)bytes, places, &placing, &trouble);
    if (status == BJ_OK && reason != NULL)
        bj_profile_explain_placing(&layers, &placing, count, patterns[talk], (double)bytes, reason, reason_room);
    bj_profile_free_comm_layers(&layers);
    return status == BJ_OK ? BJ_LIB_OK : bj_inside_translate(status, &trouble, error);
}

bj_lib_result bj_lib_get_advice(const bj_lib_profile *profile, size_t index, char *text, size_t room,
                                bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_strings advice = {0};
    bj_error trouble;
    if (profile == NULL || (text == NULL && room > 0))
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile and room for the text are needed");
    (void)bj_base_take_no_memory(); /* of what this thread did before */
    bj_status status = bj_profile_advise(&profile->whole, is_sure, &advice, &trouble);
    if (bj_base_take_no_memory())
        status = bj_base_set_error(&trouble, BJ_ERR_RESOURCE, "no memory to read what the advice is from");
    bool is_there = status == BJ_OK && index < advice.count;
    size_t count = advice.count;
    if (is_there)
        snprintf(text, room, "%s", advice.items[index]);
    bj_strings_free(&advice);
    if (status != BJ_OK)
        return bj_inside_translate(status, &trouble, error);
    return is_there ? BJ_LIB_OK
                    : bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "the profile has %zu pieces of advice", count);
}
