/* One answer, and the names of what it may say. */
#include "lib/lib.h"

/* The public names stand for the same values, so that they need no table to translate. */
_Static_assert((int)BJ_LIB_STATUS_OK == (int)BJ_ANSWER_OK && (int)BJ_LIB_STATUS_UNSTABLE == (int)BJ_ANSWER_UNSTABLE &&
                   (int)BJ_LIB_STATUS_UNDETERMINED == (int)BJ_ANSWER_UNDETERMINED &&
                   (int)BJ_LIB_STATUS_UNSUPPORTED == (int)BJ_ANSWER_UNSUPPORTED &&
                   (int)BJ_LIB_STATUS_FAILED == (int)BJ_ANSWER_FAILED,
               "status");
_Static_assert((int)BJ_LIB_CONFIDENCE_NONE == (int)BJ_CONFIDENCE_NONE &&
                   (int)BJ_LIB_CONFIDENCE_LOW == (int)BJ_CONFIDENCE_LOW &&
                   (int)BJ_LIB_CONFIDENCE_MEDIUM == (int)BJ_CONFIDENCE_MEDIUM &&
                   (int)BJ_LIB_CONFIDENCE_HIGH == (int)BJ_CONFIDENCE_HIGH,
               "confidence");

const char *bj_lib_answer_key(const bj_lib_answer *answer) {
    return answer != NULL ? answer->characteristic.key : NULL;
}

const char *bj_lib_answer_unit(const bj_lib_answer *answer) {
    return answer != NULL ? answer->characteristic.unit : NULL;
}

bj_lib_status bj_lib_answer_status(const bj_lib_answer *answer) {
    return answer != NULL ? (bj_lib_status)answer->characteristic.status : BJ_LIB_STATUS_UNDETERMINED;
}

bj_lib_confidence bj_lib_answer_confidence(const bj_lib_answer *answer) {
    return answer != NULL ? (bj_lib_confidence)answer->characteristic.confidence : BJ_LIB_CONFIDENCE_NONE;
}

const char *bj_lib_answer_reason(const bj_lib_answer *answer) {
    return answer != NULL ? answer->characteristic.reason : NULL;
}

const char *bj_lib_answer_method(const bj_lib_answer *answer) {
    return answer != NULL ? answer->characteristic.method : NULL;
}

bool bj_lib_answer_number(const bj_lib_answer *answer, double *value) {
    if (answer == NULL)
        return false;
    const bj_answer *about = &answer->characteristic;
    if (!bj_data_has_value(about) || about->structured != NULL)
        return false;
    *value = about->value;
    return true;
}

bool bj_lib_answer_interval(const bj_lib_answer *answer, double *low, double *high) {
    if (answer == NULL)
        return false;
    const bj_answer *about = &answer->characteristic;
    if (!bj_data_has_value(about) || about->structured != NULL || !about->has_interval)
        return false;
    *low = about->interval[0];
    *high = about->interval[1];
    return true;
}

bool bj_lib_answer_claimed(const bj_lib_answer *answer, double *value) {
    if (answer == NULL || !answer->characteristic.has_claimed)
        return false;
    *value = answer->characteristic.claimed;
    return true;
}

const char *bj_lib_answer_json(const bj_lib_answer *answer) {
    if (answer == NULL)
        return NULL;
    const bj_answer *about = &answer->characteristic;
    return bj_data_has_value(about) ? about->structured : NULL;
}

const char *bj_lib_status_name(bj_lib_status status) {
    return (unsigned)status <= BJ_LIB_STATUS_FAILED ? bj_data_name_status((bj_answer_status)status) : "unknown";
}

const char *bj_lib_confidence_name(bj_lib_confidence confidence) {
    return (unsigned)confidence <= BJ_LIB_CONFIDENCE_HIGH ? bj_data_name_confidence((bj_confidence)confidence)
                                                          : "unknown";
}
