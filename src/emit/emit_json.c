/* For whatever reads JSON and wants values only: one flat object of keys and values. */
#include <stdlib.h>

#include "emit/emit.h"
#include "profile/json_text.h"

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    bj_status status = bj_emit_check_any(request, error);
    if (status != BJ_OK)
        return status;
    bj_json_text json = {0};
    bj_json_append(&json, "{");
    bool first = true;
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        bj_emit_value value;
        if (!bj_emit_accepts(request, answer, &value))
            continue;
        bj_json_append(&json, first ? "\n  " : ",\n  ");
        first = false;
        bj_json_append_string(&json, answer->key);
        bj_json_append(&json, ": ");
        /* What a profile holds as structured was written by our own reader, so it is JSON. */
        if (!value.claimed && answer->structured != NULL)
            bj_json_append(&json, answer->structured);
        else
            bj_json_append_number(&json, value.value);
    }
    bj_json_append(&json, "\n}\n");
    char *text = NULL;
    status = bj_json_finish(&json, &text, NULL, error);
    if (status == BJ_OK)
        fputs(text, out);
    free(text);
    return status;
}

const bj_emitter bj_emitter_json = {
    .name = "json",
    .summary = "one flat object of keys and values, of the answers of enough confidence",
    .emit = emit,
};
