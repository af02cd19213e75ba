/* For whatever reads JSON and wants values only: one flat object of keys and values, and where the system's claims were
 * allowed, the keys of those that are claims. */
#include <stdlib.h>

#include "emit/emit.h"
#include "profile/json_text.h"

static void append_key(bj_json_text *json, const char *key, bool *first) {
    bj_json_append(json, *first ? "\n  " : ",\n  ");
    *first = false;
    bj_json_append_string(json, key);
    bj_json_append(json, ": ");
}

static void append_answer(const bj_emit_request *request, const bj_answer *answer, bj_json_text *json, bool *first) {
    bj_emit_value value;
    bj_emit_block block;
    char reason[BJ_EMIT_REASON_ROOM], key[sizeof answer->key];
    if (!bj_emit_accepts(request, answer, &value)) {
        bj_emit_describe_refusal(request, answer, reason);
        bj_emit_note_left_out(request, answer->key, reason);
        return;
    }
    bj_emit_note_claim(request, &value);
    append_key(json, answer->key, first);
    /* What a profile holds as structured was written by our own reader, so it is JSON. */
    if (!value.claimed && answer->structured != NULL)
        bj_json_append(json, answer->structured);
    else
        bj_json_append_number(json, value.value);
    if (bj_emit_find_block(request, answer, &block, key)) {
        append_key(json, key, first);
        bj_json_append_number(json, block.bytes);
    }
}

static void append_claims(const bj_strings *claimed, bj_json_text *json, bool *first) {
    if (claimed->count == 0)
        return;
    append_key(json, "claimed", first);
    for (size_t i = 0; i < claimed->count; i++) {
        bj_json_append(json, i == 0 ? "[" : ", ");
        bj_json_append_string(json, claimed->items[i]);
    }
    bj_json_append(json, "]");
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    bj_status status = bj_emit_check_any(request, error);
    if (status != BJ_OK)
        return status;
    bj_json_text json = {0};
    bool first = true;
    bj_json_append(&json, "{");
    for (size_t i = 0; i < answers->count; i++)
        append_answer(request, &answers->items[i], &json, &first);
    append_claims(&request->notes->claimed, &json, &first);
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
