/* The registry, and the one rule by which all emitters take or refuse an answer. */
#include "emit/emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/text_stream.h"
#include "data/number.h"

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

/* " 'blackjack run cache' ..." with the words before and after it, or nothing when no probe is known. */
static void describe_command(const bj_emit_request *request, const bj_answer *answer, const char *key, char *text,
                             size_t room) {
    const char *probe = answer != NULL && answer->probe[0] != '\0' ? answer->probe : NULL;
    if (probe == NULL && request->name_probe != NULL)
        probe = request->name_probe(key);
    text[0] = '\0';
    if (probe != NULL) /* messages have a program of their own */
        snprintf(text, room, "; '%s%s' measures it%s", strcmp(probe, "comm") == 0 ? "blackjack-" : "blackjack run ",
                 probe, answer != NULL ? " anew" : "");
}

void bj_emit_describe_refusal(const bj_emit_request *request, const bj_answer *answer, char *text) {
    char command[80] = "", number[BJ_NUMBER_ROOM] = "", value[BJ_NUMBER_ROOM + 24] = "";
    const char *low = bj_data_has_value(answer) ? "; --min-confidence low takes it" : "";
    const char *claimed =
        answer->has_claimed && !request->options.allow_claimed ? "; --allow-claimed takes what the system claims" : "";
    if (bj_data_has_value(answer) && answer->structured == NULL) {
        bj_data_format_number(answer->value, number);
        bool has_unit = answer->unit[0] != '\0' && strcmp(answer->unit, "count") != 0;
        snprintf(value, sizeof value, " (%s%s%s)", number, has_unit ? " " : "", has_unit ? answer->unit : "");
    }
    if (answer->status != BJ_ANSWER_UNSUPPORTED)
        describe_command(request, answer, answer->key, command, sizeof command);
    if (answer->status == BJ_ANSWER_OK && answer->confidence == BJ_CONFIDENCE_NONE)
        snprintf(text, BJ_EMIT_REASON_ROOM, "its confidence is not told%s%s%s%s", value, low, claimed, command);
    else if (answer->status == BJ_ANSWER_OK)
        snprintf(text, BJ_EMIT_REASON_ROOM, "its confidence is only %s%s%s%s%s",
                 bj_data_name_confidence(answer->confidence), value, low, claimed, command);
    else
        snprintf(text, BJ_EMIT_REASON_ROOM, "%s%s%s%s%s%s%s", bj_data_name_status(answer->status),
                 answer->reason[0] != '\0' ? ": " : "", answer->reason, value, low, claimed, command);
    bj_base_hide_controls(text);
}

static void describe_absence(const bj_emit_request *request, const char *key, char *why) {
    char command[80];
    describe_command(request, NULL, key, command, sizeof command);
    snprintf(why, BJ_EMIT_REASON_ROOM, "the profile has no %s%s", key, command);
}

bool bj_emit_find(const bj_emit_request *request, const char *key, bj_emit_value *value, char *why) {
    char unused[BJ_EMIT_REASON_ROOM], reason[BJ_EMIT_REASON_ROOM];
    const bj_answer *answer = bj_data_find_answer(&request->profile->answers, key);
    why = why != NULL ? why : unused;
    if (answer == NULL) {
        describe_absence(request, key, why);
    } else if (!bj_emit_accepts(request, answer, value)) {
        bj_emit_describe_refusal(request, answer, reason);
        snprintf(why, BJ_EMIT_REASON_ROOM, "%s: %.400s", key, reason);
    } else if (!value->claimed && answer->structured != NULL) {
        snprintf(why, BJ_EMIT_REASON_ROOM, "%s: is not one number", key);
    } else if (!(value->value > 0)) {
        snprintf(why, BJ_EMIT_REASON_ROOM, "%s: is not above 0", key);
    } else {
        return true;
    }
    return false;
}

static void add_note(const bj_emit_request *request, bj_strings *list, const char *line) {
    if (bj_strings_add(list, line, NULL) != BJ_OK)
        request->notes->no_memory = true;
}

static void note(const bj_emit_request *request, bj_strings *list, const char *what, const char *why) {
    char line[2 * BJ_EMIT_REASON_ROOM];
    snprintf(line, sizeof line, "%.100s is left out: %s", what, why);
    add_note(request, list, line);
}

void bj_emit_note_left_out(const bj_emit_request *request, const char *what, const char *why) {
    note(request, &request->notes->left_out, what, why);
}

void bj_emit_note_unsure(const bj_emit_request *request, const char *what, const char *why) {
    note(request, &request->notes->unsure, what, why);
}

void bj_emit_note_claim(const bj_emit_request *request, const bj_emit_value *value) {
    const bj_strings *known = &request->notes->claimed;
    bool is_new = value->claimed;
    for (size_t i = 0; i < known->count && is_new; i++)
        is_new = strcmp(known->items[i], value->answer->key) != 0;
    if (is_new)
        add_note(request, &request->notes->claimed, value->answer->key);
}

bool bj_emit_want(const bj_emit_request *request, const char *what, const char *key, bj_emit_value *value) {
    char why[BJ_EMIT_REASON_ROOM];
    if (!bj_emit_find(request, key, value, why)) {
        bj_emit_note_left_out(request, what, why);
        return false;
    }
    bj_emit_note_claim(request, value);
    return true;
}

bool bj_emit_use(const bj_emit_request *request, const char *key, bj_emit_value *value) {
    char why[BJ_EMIT_REASON_ROOM];
    const bj_answer *answer = bj_data_find_answer(&request->profile->answers, key);
    if (answer == NULL)
        return false;
    if (bj_emit_find(request, key, value, why)) {
        bj_emit_note_claim(request, value);
        return true;
    }
    note(request, &request->notes->unsure, key, why + strlen(key) + strlen(": "));
    return false;
}

static void name_cache_key(unsigned level, const char *quantity, char key[64]) {
    snprintf(key, 64, "cache.L%u.%s", level, quantity);
}

bool bj_emit_want_cache(const bj_emit_request *request, const char *what, unsigned level, const char *quantity,
                        bj_emit_value *value) {
    char key[64];
    name_cache_key(level, quantity, key);
    return bj_emit_want(request, what, key, value);
}

bool bj_emit_use_cache(const bj_emit_request *request, unsigned level, const char *quantity, bj_emit_value *value) {
    char key[64];
    name_cache_key(level, quantity, key);
    return bj_emit_use(request, key, value);
}

bj_status bj_emit_take_answer(const bj_emit_request *request, const char *key, bj_emit_value *value, bj_error *error) {
    const char *name = request->emitter->name;
    const bj_answer *answer = bj_data_find_answer(&request->profile->answers, key);
    char reason[BJ_EMIT_REASON_ROOM], command[80];
    if (answer == NULL) {
        describe_command(request, NULL, key, command, sizeof command);
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs %s, which the profile does not have%s", name, key,
                                 command);
    }
    if (bj_emit_accepts(request, answer, value))
        return BJ_OK;
    bj_emit_describe_refusal(request, answer, reason);
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs %s: %.300s", name, key, reason);
}

bj_status bj_emit_refuse(const bj_emit_request *request, bj_error *error) {
    const bj_strings *left_out = &request->notes->left_out;
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s: nothing can be written: %.330s", request->emitter->name,
                             left_out->count > 0 ? left_out->items[0] : "no memory for the reason");
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

unsigned bj_emit_count_levels(const bj_emit_request *request, bj_emit_value *levels, char *why) {
    enum { MOST = 16 };
    static const char key[] = "cache.levels";
    if (!bj_emit_find(request, key, levels, why))
        return 0;
    if (levels->value <= MOST && levels->value == floor(levels->value))
        return (unsigned)levels->value;
    if (why != NULL)
        snprintf(why, BJ_EMIT_REASON_ROOM, "%s: is not a whole number up to %d", key, MOST);
    return 0;
}

void bj_emit_print_safely(FILE *out, const char *text, const char *unsafe) {
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        putc(*at < ' ' || *at >= 0x7f || strchr(unsafe, *at) != NULL ? '?' : *at, out);
}

void bj_emit_free_notes(bj_emit_notes *notes) {
    bj_strings_free(&notes->left_out);
    bj_strings_free(&notes->unsure);
    bj_strings_free(&notes->claimed);
    *notes = (bj_emit_notes){0};
}

/* --strict is about what the format is made for: a hashed cache has no ways, and never will. */
static bj_status check_notes(const bj_emit_request *request, bj_error *error) {
    const bj_emit_notes *notes = request->notes;
    if (!request->options.strict || notes->left_out.count == 0)
        return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s, with --strict: %.330s%s", request->emitter->name,
                             notes->left_out.items[0], notes->left_out.count > 1 ? ", and more" : "");
}

bj_status bj_emit_to_text(const bj_emit_request *request, char **text, size_t *length, bj_error *error) {
    bj_text_stream stream;
    *text = NULL;
    BJ_TRY(bj_base_open_text_stream(&stream, error));
    bj_status status = request->emitter->emit(request, stream.out, error);
    bj_error trouble;
    bj_status closed = bj_base_close_text_stream(&stream, text, length, &trouble);
    if (closed == BJ_OK && (request->notes->no_memory || bj_base_take_no_memory()))
        closed = bj_base_set_error(&trouble, BJ_ERR_RESOURCE, "%s: out of memory", request->emitter->name);
    if (closed != BJ_OK) /* whatever else was found wrong may come from that */
        status = bj_base_set_error(error, closed, "%s", trouble.text);
    if (status == BJ_OK)
        status = check_notes(request, error);
    if (status != BJ_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
