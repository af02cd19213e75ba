/* The registry, and the one rule by which all emitters take or refuse an answer. */
#include "emit/emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define BJ_EMITTER(name) extern const bj_emitter bj_emitter_##name;
#include "emit/emit_list.h"
#undef BJ_EMITTER

#define BJ_EMITTER(name) &bj_emitter_##name,
const bj_emitter *const bj_emitters[] = {
#include "emit/emit_list.h"
};
#undef BJ_EMITTER

const size_t bj_emitter_count = sizeof bj_emitters / sizeof bj_emitters[0];

const bj_emitter *bj_emit_find_emitter(const char *name) {
    for (size_t i = 0; i < bj_emitter_count; i++)
        if (strcmp(bj_emitters[i]->name, name) == 0)
            return bj_emitters[i];
    return NULL;
}

/* An unstable answer moved while it was measured: whatever its confidence, only who takes everything takes it. */
static bool is_certain(const bj_emit_request *request, const bj_answer *answer) {
    bj_confidence least = request->options.least_confidence;
    if (answer->status == BJ_ANSWER_UNSTABLE)
        return least <= BJ_CONFIDENCE_LOW;
    if (answer->status != BJ_ANSWER_OK)
        return false;
    /* Structured answers have none and are as good as their status; a number should have one. */
    if (answer->confidence == BJ_CONFIDENCE_NONE)
        return answer->structured != NULL || least <= BJ_CONFIDENCE_LOW;
    return answer->confidence >= least;
}

bool bj_emit_accepts(const bj_emit_request *request, const bj_answer *answer, bj_emit_value *value) {
    *value = (bj_emit_value){.answer = answer, .value = answer->value};
    if (is_certain(request, answer))
        return true;
    value->claimed = true;
    value->value = answer->claimed;
    return request->options.allow_claimed && answer->has_claimed && isfinite(answer->claimed);
}

void bj_emit_describe_refusal(const bj_emit_request *request, const bj_answer *answer, char *text) {
    const char *low = bj_data_has_value(answer) ? "; --min-confidence low takes it" : "";
    const char *claimed =
        answer->has_claimed && !request->options.allow_claimed ? "; --allow-claimed takes what the system claims" : "";
    if (answer->status == BJ_ANSWER_OK && answer->confidence == BJ_CONFIDENCE_NONE)
        snprintf(text, BJ_EMIT_REASON_ROOM, "its confidence is not told%s%s", low, claimed);
    else if (answer->status == BJ_ANSWER_OK)
        snprintf(text, BJ_EMIT_REASON_ROOM, "its confidence is only %s%s%s",
                 bj_data_name_confidence(answer->confidence), low, claimed);
    else
        snprintf(text, BJ_EMIT_REASON_ROOM, "%s%s%s%s%s", bj_data_name_status(answer->status),
                 answer->reason[0] != '\0' ? ": " : "", answer->reason, low, claimed);
    bj_base_hide_controls(text);
}

bj_status bj_emit_take_answer(const bj_emit_request *request, const char *key, bj_emit_value *value, bj_error *error) {
    const char *name = request->emitter->name;
    const bj_answer *answer = bj_data_find_answer(&request->profile->answers, key);
    if (answer == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs %s, which the profile does not have", name, key);
    if (bj_emit_accepts(request, answer, value))
        return BJ_OK;
    char reason[BJ_EMIT_REASON_ROOM];
    bj_emit_describe_refusal(request, answer, reason);
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs %s: %.300s", name, key, reason);
}

bj_status bj_emit_take(const bj_emit_request *request, const char *key, bj_emit_value *value, bj_error *error) {
    bj_status status = bj_emit_take_answer(request, key, value, error);
    if (status == BJ_OK && !value->claimed && value->answer->structured != NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs %s as a number, which it is not",
                                 request->emitter->name, key);
    return status;
}

bj_status bj_emit_check_any(const bj_emit_request *request, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    bj_emit_value value;
    for (size_t i = 0; i < answers->count; i++)
        if (bj_emit_accepts(request, &answers->items[i], &value))
            return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s: none of the profile's %zu answers is ok with %s confidence",
                             request->emitter->name, answers->count,
                             bj_data_name_confidence(request->options.least_confidence));
}

bj_status bj_emit_take_cache(const bj_emit_request *request, unsigned level, const char *what, bj_emit_value *value,
                             bj_error *error) {
    char key[64];
    snprintf(key, sizeof key, "cache.L%u.%s", level, what);
    bj_status status = bj_emit_take(request, key, value, error);
    if (status == BJ_OK && !(value->value > 0))
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs %s above 0", request->emitter->name, key);
    return status;
}

bj_status bj_emit_take_levels(const bj_emit_request *request, unsigned least, bj_emit_value *levels, bj_error *error) {
    enum { MOST = 16 };
    bj_status status = bj_emit_take(request, "cache.levels", levels, error);
    if (status != BJ_OK || (levels->value >= least && levels->value <= MOST && levels->value == floor(levels->value)))
        return status;
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs cache.levels from %u to %d", request->emitter->name, least,
                             MOST);
}

void bj_emit_print_safely(FILE *out, const char *text, const char *unsafe) {
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        putc(*at < ' ' || *at >= 0x7f || strchr(unsafe, *at) != NULL ? '?' : *at, out);
}

bj_status bj_emit_to_text(const bj_emit_request *request, char **text, size_t *length, bj_error *error) {
    *text = NULL;
    FILE *out = open_memstream(text, length);
    if (out == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to write into");
    bj_status status = request->emitter->emit(request, out, error);
    bool failed = ferror(out) != 0;
    if ((fclose(out) != 0 || failed) && status == BJ_OK)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to write into");
    if (status != BJ_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
