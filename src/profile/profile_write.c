/* The profile as JSON text: keys always in the same order, answers in the order put, probes in the order run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gzip.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "profile/json_text.h"
#include "profile/profile_fields.h"

/* Parsed and written anew rather than copied: what a probe hands over as JSON may not be. */
static bj_status append_structured(bj_json_text *json, const bj_answer *answer, bj_error *error) {
    json_error_t problem;
    json_t *value = bj_json_load(answer->structured, strlen(answer->structured), &problem);
    if (value == NULL && bj_base_take_no_memory())
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: out of memory", answer->key);
    if (value == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: value is not JSON: %s", answer->key, problem.text);
    bj_json_append_value(json, value);
    json_decref(value);
    return BJ_OK;
}

static bj_status append_value(bj_json_text *json, const bj_answer *answer, bj_error *error) {
    if (!bj_data_has_value(answer)) {
        bj_json_append(json, "null");
        return BJ_OK;
    }
    if (answer->structured != NULL)
        return append_structured(json, answer, error);
    if (!isfinite(answer->value))
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: value is not finite", answer->key);
    bj_json_append_number(json, answer->value);
    return BJ_OK;
}

static void append_evidence(bj_json_text *json, const bj_answer *answer) {
    bj_json_append(json, "[");
    for (size_t i = 0; i < answer->evidence_count; i++) {
        bj_json_append(json, i == 0 ? "" : ", ");
        bj_json_append_string(json, answer->evidence[i]);
    }
    bj_json_append(json, "]");
}

static bool shows_interval(const bj_answer *answer) {
    return answer->has_interval && bj_data_has_value(answer) && answer->structured == NULL &&
           isfinite(answer->interval[0]) && isfinite(answer->interval[1]);
}

bj_status bj_profile_append_answer(bj_json_text *json, const bj_answer *answer, bj_error *error) {
    bj_json_append(json, "{");
    bj_json_append_key(json, "value");
    BJ_TRY(append_value(json, answer, error));
    bj_json_append_text_member(json, "unit", answer->unit);
    if (shows_interval(answer)) {
        bj_json_append_key(json, "interval");
        bj_json_append_numbers(json, answer->interval, 2);
    }
    if (answer->confidence != BJ_CONFIDENCE_NONE && bj_data_has_value(answer))
        bj_json_append_text_member(json, "confidence", bj_data_name_confidence(answer->confidence));
    if (answer->has_p && isfinite(answer->p))
        bj_json_append_number_member(json, "p", answer->p);
    bj_json_append_text_member(json, "status", bj_data_name_status(answer->status));
    if (answer->status != BJ_ANSWER_OK && answer->reason[0] != '\0')
        bj_json_append_text_member(json, "reason", answer->reason);
    if (answer->caveat[0] != '\0' && bj_data_has_value(answer))
        bj_json_append_text_member(json, "caveat", answer->caveat);
    if (answer->method[0] != '\0')
        bj_json_append_text_member(json, "method", answer->method);
    if (answer->pages[0] != '\0')
        bj_json_append_text_member(json, "pages", answer->pages);
    if (answer->has_claimed && isfinite(answer->claimed))
        bj_json_append_number_member(json, "claimed", answer->claimed);
    if (answer->evidence_count > 0) {
        bj_json_append_key(json, "evidence");
        append_evidence(json, answer);
    }
    if (answer->probe[0] != '\0')
        bj_json_append_text_member(json, "probe", answer->probe);
    bj_json_append(json, "}");
    return BJ_OK;
}

/* One answer a line, so that a profile can be read and compared line by line. */
static bj_status append_answers(bj_json_text *json, const bj_answers *answers, const char *indent, bj_error *error) {
    bj_json_append(json, "{");
    for (size_t i = 0; i < answers->count; i++) {
        bj_json_append(json, i == 0 ? "\n" : ",\n");
        bj_json_append(json, indent);
        bj_json_append(json, "  ");
        bj_json_append_string(json, answers->items[i].key);
        bj_json_append(json, ": ");
        BJ_TRY(bj_profile_append_answer(json, &answers->items[i], error));
    }
    if (answers->count > 0) {
        bj_json_append(json, "\n");
        bj_json_append(json, indent);
    }
    bj_json_append(json, "}");
    return BJ_OK;
}

static void append_attributes(bj_json_text *json, const bj_curve *curve) {
    bj_json_append_key(json, "attributes");
    bj_json_append(json, "{");
    for (size_t i = 0; i < curve->attribute_count; i++) {
        const bj_attribute *attribute = &curve->attributes[i];
        if (attribute->text[0] != '\0')
            bj_json_append_text_member(json, attribute->name, attribute->text);
        else
            bj_json_append_number_member(json, attribute->name, attribute->number);
    }
    bj_json_append(json, "}");
}

static void append_spells(bj_json_text *json, const bj_curve *curve) {
    bj_json_append_key(json, "spells");
    bj_json_append(json, "[");
    for (size_t r = 0; r < curve->round_count; r++) {
        bj_json_append(json, r == 0 ? "" : ", ");
        bj_json_append_number(json, bj_data_find_spell(curve, r));
    }
    bj_json_append(json, "]");
}

static void append_curve(bj_json_text *json, const bj_curve *curve) {
    bj_json_append(json, "{");
    bj_json_append_text_member(json, "probe", curve->probe);
    if (curve->attribute_count > 0)
        append_attributes(json, curve);
    bj_json_append(json, ",\n      \"x\": {");
    bj_json_append_text_member(json, "name", curve->x_name);
    bj_json_append_text_member(json, "unit", curve->x_unit);
    bj_json_append_key(json, "values");
    bj_json_append_numbers(json, curve->x, curve->x_count);
    bj_json_append(json, "},\n      \"y\": {");
    bj_json_append_text_member(json, "name", curve->y_name);
    bj_json_append_text_member(json, "unit", curve->y_unit);
    bj_json_append_key(json, "rounds");
    bj_json_append(json, "[");
    for (size_t r = 0; r < curve->round_count; r++) {
        bj_json_append(json, r == 0 ? "\n        " : ",\n        ");
        bj_json_append_numbers(json, curve->rounds[r], curve->x_count);
    }
    bj_json_append(json, "]");
    if (curve->spell_count > 0)
        append_spells(json, curve);
    bj_json_append(json, "}}");
}

static void append_curves(bj_json_text *json, const bj_curves *curves) {
    bj_json_append(json, "{");
    for (size_t i = 0; i < curves->count; i++) {
        bj_json_append(json, i == 0 ? "\n    " : ",\n    ");
        bj_json_append_string(json, curves->items[i].id);
        bj_json_append(json, ": ");
        append_curve(json, &curves->items[i]);
    }
    bj_json_append(json, curves->count > 0 ? "\n  }" : "}");
}

static void append_probes(bj_json_text *json, const bj_profile *profile) {
    bj_json_append(json, "{");
    for (size_t i = 0; i < profile->probe_count; i++) {
        const bj_probe_record *record = &profile->probes[i];
        bj_json_append(json, i == 0 ? "\n    " : ",\n    ");
        bj_json_append_string(json, record->name);
        bj_json_append(json, ": {");
        bj_json_append_u64_member(json, "revision", record->revision);
        bj_json_append_text_member(json, "status", bj_data_name_status(record->status));
        bj_json_append_number_member(json, "seconds", record->seconds);
        if (record->reason[0] != '\0')
            bj_json_append_text_member(json, "reason", record->reason);
        if (record->runs > 1)
            bj_json_append_u64_member(json, "runs", record->runs);
        if (record->late_rounds > 0)
            bj_json_append_u64_member(json, "late_rounds", record->late_rounds);
        if (record->measured[0] != '\0')
            bj_json_append_text_member(json, "measured", record->measured);
        if (record->version[0] != '\0')
            bj_json_append_text_member(json, "version", record->version);
        bj_json_append(json, "}");
    }
    bj_json_append(json, profile->probe_count > 0 ? "\n  }" : "}");
}

static bj_status append_profile(bj_json_text *json, const bj_profile *profile, bj_error *error) {
    bj_json_append(json, "{\n  \"format\": \"" BJ_PROFILE_FORMAT "\",\n  \"created\": ");
    bj_json_append_string(json, profile->created);
    bj_profile_append_fields(json, profile);
    bj_json_append(json, ",\n  \"characteristics\": ");
    BJ_TRY(append_answers(json, &profile->answers, "  ", error));
    bj_json_append(json, ",\n  \"curves\": ");
    append_curves(json, &profile->curves);
    bj_json_append(json, ",\n  \"probes\": ");
    append_probes(json, profile);
    bj_json_append(json, "\n}\n");
    return BJ_OK;
}

bj_status bj_profile_to_json(const bj_profile *profile, char **text, size_t *length, bj_error *error) {
    bj_json_text json = {0};
    bj_status status = append_profile(&json, profile, error);
    if (status == BJ_OK)
        status = bj_json_finish(&json, text, length, error);
    bj_json_discard(&json);
    return status;
}

static bj_status compress(const char *path, char **text, size_t *length, bj_error *error) {
    char *plain = *text;
    bj_status status = bj_base_compress_gzip(path, plain, *length, text, length, error);
    free(plain);
    return status;
}

bj_status bj_profile_write_output(const bj_profile *profile, bj_output *output, bj_error *error) {
    const char *path = bj_base_output_path(output);
    char *text = NULL;
    size_t length = 0;
    bj_status status = bj_profile_to_json(profile, &text, &length, error);
    if (status == BJ_OK && bj_base_names_gzip(path))
        status = compress(path, &text, &length, error);
    if (status == BJ_OK)
        status = bj_base_write_output(output, text, length, error);
    free(text);
    return status;
}

bj_status bj_profile_write(const bj_profile *profile, const char *path, bj_error *error) {
    bool standard_output = strcmp(path, "-") == 0;
    bj_output_rules rules = {.replace = true};
    bj_output *output;
    /* The text goes past stdio's buffer: what is in it was printed before. */
    if (standard_output && fflush(stdout) != 0)
        return bj_base_set_error(error, BJ_ERR_IO, "cannot write standard output");
    BJ_TRY(bj_base_open_output(standard_output ? "/dev/stdout" : path, &rules, &output, error));
    bj_status status = bj_profile_write_output(profile, output, error);
    bj_base_close_output(output);
    return status;
}

bj_status bj_profile_answers_to_json(const bj_answers *answers, char **text, bj_error *error) {
    bj_json_text json = {0};
    bj_status status = append_answers(&json, answers, "", error);
    bj_json_append(&json, "\n");
    if (status == BJ_OK)
        status = bj_json_finish(&json, text, NULL, error);
    bj_json_discard(&json);
    return status;
}

typedef enum { FIELD_ABSENT, FIELD_HERE, FIELD_UNKNOWN } field_state;

static field_state append_text_field(bj_json_text *json, const char *text) {
    bj_json_append(json, text);
    return text[0] == '\0' ? FIELD_ABSENT : FIELD_HERE;
}

static field_state append_number_field(bj_json_text *json, bool here, double value) {
    bj_json_append_number(json, value);
    return here && isfinite(value) ? FIELD_HERE : FIELD_ABSENT;
}

/* What is not a value: text plain, numbers plain, lists as JSON. */
static field_state append_field(bj_json_text *json, const bj_answer *answer, const char *field) {
    if (strcmp(field, "interval") == 0) {
        bj_json_append_numbers(json, answer->interval, 2);
        return shows_interval(answer) ? FIELD_HERE : FIELD_ABSENT;
    }
    if (strcmp(field, "evidence") == 0) {
        append_evidence(json, answer);
        return FIELD_HERE;
    }
    if (strcmp(field, "confidence") == 0) {
        bj_json_append(json, bj_data_name_confidence(answer->confidence));
        return answer->confidence != BJ_CONFIDENCE_NONE && bj_data_has_value(answer) ? FIELD_HERE : FIELD_ABSENT;
    }
    if (strcmp(field, "status") == 0)
        return append_text_field(json, bj_data_name_status(answer->status));
    if (strcmp(field, "unit") == 0) {
        bj_json_append(json, answer->unit); /* an empty unit is an answer too */
        return FIELD_HERE;
    }
    if (strcmp(field, "reason") == 0)
        return answer->status == BJ_ANSWER_OK ? FIELD_ABSENT : append_text_field(json, answer->reason);
    if (strcmp(field, "caveat") == 0)
        return append_text_field(json, answer->caveat);
    if (strcmp(field, "method") == 0)
        return append_text_field(json, answer->method);
    if (strcmp(field, "pages") == 0)
        return append_text_field(json, answer->pages);
    if (strcmp(field, "probe") == 0)
        return append_text_field(json, answer->probe);
    if (strcmp(field, "claimed") == 0)
        return append_number_field(json, answer->has_claimed, answer->claimed);
    if (strcmp(field, "p") == 0)
        return append_number_field(json, answer->has_p, answer->p);
    return FIELD_UNKNOWN;
}

bj_status bj_profile_field_to_text(const bj_answer *answer, const char *field, char **text, bj_error *error) {
    bj_json_text json = {0};
    bj_json_append(&json, "");
    bj_status status = BJ_OK;
    field_state state = FIELD_HERE;
    if (strcmp(field, "value") != 0)
        state = append_field(&json, answer, field);
    else if (bj_data_has_value(answer))
        status = append_value(&json, answer, error);
    else
        state = FIELD_ABSENT;

    if (state == FIELD_UNKNOWN)
        status = bj_base_set_error(error, BJ_ERR_USAGE, "no field '%s'; expected one of " BJ_ANSWER_FIELDS, field);
    else if (state == FIELD_ABSENT && answer->status != BJ_ANSWER_OK)
        status = bj_base_set_error(error, BJ_ERR_FAILED, "%s: %s: %s", answer->key, bj_data_name_status(answer->status),
                                   answer->reason);
    else if (state == FIELD_ABSENT)
        status = bj_base_set_error(error, BJ_ERR_FAILED, "%s has no %s", answer->key, field);
    if (status == BJ_OK)
        status = bj_json_finish(&json, text, NULL, error);
    bj_json_discard(&json);
    return status;
}
