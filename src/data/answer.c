#include "data/answer.h"

#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
    [BJ_ANSWER_OK] = "ok",
    [BJ_ANSWER_UNSTABLE] = "unstable",
    [BJ_ANSWER_UNDETERMINED] = "undetermined",
    [BJ_ANSWER_UNSUPPORTED] = "unsupported",
    [BJ_ANSWER_FAILED] = "failed",
};
static const char *const confidence_names[] = {
    [BJ_CONFIDENCE_NONE] = "none",
    [BJ_CONFIDENCE_LOW] = "low",
    [BJ_CONFIDENCE_MEDIUM] = "medium",
    [BJ_CONFIDENCE_HIGH] = "high",
};

void bj_data_free_answers(bj_answers *answers) {
    for (size_t i = 0; i < answers->count; i++)
        free(answers->items[i].structured);
    free(answers->items);
    *answers = (bj_answers){0};
}

static bj_answer *find(const bj_answers *answers, const char *key) {
    for (size_t i = 0; i < answers->count; i++)
        if (strcmp(answers->items[i].key, key) == 0)
            return &answers->items[i];
    return NULL;
}

const bj_answer *bj_data_find_answer(const bj_answers *answers, const char *key) {
    return find(answers, key);
}

bool bj_data_has_value(const bj_answer *answer) {
    return answer->status == BJ_ANSWER_OK || answer->status == BJ_ANSWER_UNSTABLE;
}

bool bj_data_is_wide(const double interval[2], double tolerance) {
    return interval[1] * (1 - tolerance) > interval[0] * (1 + tolerance);
}

bool bj_data_get_number(const bj_answers *answers, const char *key, double *value) {
    const bj_answer *answer = find(answers, key);
    if (answer == NULL || answer->structured != NULL || !bj_data_has_value(answer))
        return false;
    *value = answer->value;
    return true;
}

static bj_status make_room(bj_answers *answers, bj_error *error) {
    if (answers->count < answers->room)
        return BJ_OK;
    size_t room = answers->room == 0 ? 16 : answers->room * 2;
    bj_answer *items = realloc(answers->items, room * sizeof *items);
    if (items == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu answers", room);
    answers->items = items;
    answers->room = room;
    return BJ_OK;
}

bj_status bj_data_put_answer(bj_answers *answers, const char *key, const char *unit, bj_answer **put, bj_error *error) {
    bj_answer fresh = {0};
    if (key[0] == '\0' || strlen(key) >= sizeof fresh.key)
        return bj_base_set_error(error, BJ_ERR_FAILED, "key '%s': expected 1 to %zu characters", key,
                                 sizeof fresh.key - 1);
    if (strlen(unit) >= sizeof fresh.unit)
        return bj_base_set_error(error, BJ_ERR_FAILED, "unit '%s' of %s: expected at most %zu characters", unit, key,
                                 sizeof fresh.unit - 1);
    /* Copied before anything is cleared: key and unit may be those of the answer that is replaced. */
    strcpy(fresh.key, key);
    strcpy(fresh.unit, unit);

    bj_answer *answer = find(answers, key);
    if (answer == NULL) {
        BJ_TRY(make_room(answers, error));
        answer = &answers->items[answers->count++];
    } else {
        free(answer->structured);
    }
    *answer = fresh;
    *put = answer;
    return BJ_OK;
}

void bj_data_cite_curve(bj_answer *answer, const char *curve_id) {
    for (size_t i = 0; i < answer->evidence_count; i++)
        if (strcmp(answer->evidence[i], curve_id) == 0)
            return;
    /* A cut-off id would point nowhere: better no citation. */
    if (answer->evidence_count == sizeof answer->evidence / sizeof answer->evidence[0] ||
        strlen(curve_id) >= sizeof answer->evidence[0])
        return;
    strcpy(answer->evidence[answer->evidence_count++], curve_id);
}

const char *bj_data_name_status(bj_answer_status status) {
    return status_names[status];
}

const char *bj_data_name_confidence(bj_confidence confidence) {
    return confidence_names[confidence];
}

bool bj_data_parse_status(const char *name, bj_answer_status *status) {
    for (size_t i = 0; i < sizeof status_names / sizeof status_names[0]; i++)
        if (strcmp(name, status_names[i]) == 0) {
            *status = (bj_answer_status)i;
            return true;
        }
    return false;
}

bool bj_data_parse_confidence(const char *name, bj_confidence *confidence) {
    for (size_t i = BJ_CONFIDENCE_LOW; i <= BJ_CONFIDENCE_HIGH; i++)
        if (strcmp(name, confidence_names[i]) == 0) {
            *confidence = (bj_confidence)i;
            return true;
        }
    return false;
}
