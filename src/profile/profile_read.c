/* The profile from JSON: whole or not at all. The text may come from anywhere, so everything is checked. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gzip.h"
#include "base/json_read.h"
#include "profile/json_text.h"
#include "profile/profile_fields.h"
#include "profile/profile_upgrade.h"

/* Far above what any run writes; without them a hostile file could keep us busy or eat the memory. The last four are
 * checked before parsing: samples fill BJ_PROFILE_MAX_BYTES with less than MAX_VALUES numbers. */
enum {
    MAX_ANSWERS = 10000,
    MAX_CURVES = 4096,
    MAX_PROBES = 512,
    MAX_DEPTH = 64,
    MAX_CONTAINERS = 1 << 18,
    MAX_MEMBERS = 1 << 18,
    MAX_VALUES = 1 << 22,
    MAX_SPELLS = 1 << 20
};

static bool is_identifier(const char *text) {
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
            return false;
    return text[0] != '\0';
}

/* The entry must be an object whose name is an identifier below `room` bytes. */
static bj_status enter(const bj_json_place *section, const char *name, const json_t *value, size_t room,
                       bj_json_place *entry) {
    *entry = bj_json_enter(section, name);
    if (!is_identifier(name) || strlen(name) >= room)
        return bj_json_expected(entry, NULL, "a name of 1 to %zu printable ASCII characters", room - 1);
    return bj_json_check_object(entry, value);
}

static bj_status read_interval(const bj_json_place *at, const json_t *object, bj_answer *answer) {
    const json_t *interval = json_object_get(object, "interval");
    if (interval == NULL)
        return BJ_OK;
    const json_t *low = json_array_get(interval, 0), *high = json_array_get(interval, 1);
    if (json_array_size(interval) != 2 || !json_is_number(low) || !json_is_number(high) ||
        json_number_value(low) > json_number_value(high))
        return bj_json_expected(at, "interval", "two numbers, the lower first");
    answer->interval[0] = json_number_value(low);
    answer->interval[1] = json_number_value(high);
    answer->has_interval = true;
    return BJ_OK;
}

static bj_status read_evidence(const bj_json_place *at, const json_t *object, bj_answer *answer) {
    const json_t *evidence = json_object_get(object, "evidence");
    if (evidence == NULL)
        return BJ_OK;
    if (!json_is_array(evidence))
        return bj_json_expected(at, "evidence", "a list of curve names");
    for (size_t i = 0; i < json_array_size(evidence); i++) {
        const json_t *id = json_array_get(evidence, i);
        if (!json_is_string(id))
            return bj_json_expected(at, "evidence", "a list of curve names");
        bj_data_cite_curve(answer, json_string_value(id));
    }
    return BJ_OK;
}

/* A number stays a number, a list or an object is kept as its text. */
static bj_status read_value(const bj_json_place *at, const json_t *object, bj_answer *answer) {
    const json_t *value = json_object_get(object, "value");
    bool wanted = answer->status == BJ_ANSWER_OK || answer->status == BJ_ANSWER_UNSTABLE;
    if (!wanted)
        return json_is_null(value)
                   ? BJ_OK
                   : bj_json_expected(at, "value", "null, since the status is %s", bj_data_name_status(answer->status));
    if (json_is_number(value)) {
        answer->value = json_number_value(value);
        return BJ_OK;
    }
    if (!json_is_array(value) && !json_is_object(value))
        return bj_json_expected(at, "value", "a number, a list or an object, since the status is %s",
                                bj_data_name_status(answer->status));
    bj_json_text json = {0};
    bj_json_append_value(&json, value);
    return bj_json_finish(&json, &answer->structured, NULL, at->error);
}

static bj_status read_status(const bj_json_place *at, const json_t *object, bj_answer_status *status) {
    const char *name = json_string_value(json_object_get(object, "status"));
    if (name == NULL || !bj_data_parse_status(name, status))
        return bj_json_expected(at, "status", "ok, unstable, undetermined, unsupported or failed");
    return BJ_OK;
}

static bj_status read_confidence(const bj_json_place *at, const json_t *object, bj_confidence *confidence) {
    const json_t *value = json_object_get(object, "confidence");
    if (value == NULL)
        return BJ_OK;
    if (!json_is_string(value) || !bj_data_parse_confidence(json_string_value(value), confidence))
        return bj_json_expected(at, "confidence", "high, medium or low");
    return BJ_OK;
}

static bj_status fill_answer(const bj_json_place *at, const json_t *object, bj_answer *answer) {
    bj_status status = read_status(at, object, &answer->status);
    if (status == BJ_OK)
        status = read_value(at, object, answer);
    if (status == BJ_OK)
        status = read_interval(at, object, answer);
    if (status == BJ_OK)
        status = read_confidence(at, object, &answer->confidence);
    if (status == BJ_OK)
        status = bj_json_read_number(at, object, "p", false, &answer->p, &answer->has_p);
    if (status == BJ_OK && answer->has_p && !(answer->p >= 0 && answer->p <= 1))
        return bj_json_expected(at, "p", "a number from 0 to 1");
    if (status == BJ_OK)
        status = bj_json_read_number(at, object, "claimed", false, &answer->claimed, &answer->has_claimed);
    if (status == BJ_OK)
        status = bj_json_read_text(at, object, "reason", BJ_TEXT_CUT, answer->reason, sizeof answer->reason);
    if (status == BJ_OK)
        status = bj_json_read_text(at, object, "caveat", BJ_TEXT_CUT, answer->caveat, sizeof answer->caveat);
    if (status == BJ_OK)
        status = bj_json_read_text(at, object, "method", BJ_TEXT_WHOLE, answer->method, sizeof answer->method);
    if (status == BJ_OK)
        status = bj_json_read_text(at, object, "pages", BJ_TEXT_CUT, answer->pages, sizeof answer->pages);
    if (status == BJ_OK)
        status = bj_json_read_text(at, object, "probe", BJ_TEXT_WHOLE, answer->probe, sizeof answer->probe);
    if (status == BJ_OK)
        status = read_evidence(at, object, answer);
    return status;
}

static bj_status read_answer(const bj_json_place *section, const char *key, const json_t *value, bj_profile *profile) {
    bj_json_place at;
    bj_answer *answer = NULL;
    char unit[sizeof answer->unit];
    BJ_TRY(enter(section, key, value, sizeof answer->key, &at));
    BJ_TRY(bj_json_require_text(&at, value, "unit", BJ_TEXT_WHOLE, unit, sizeof unit));
    BJ_TRY(bj_data_put_answer(&profile->answers, key, unit, &answer, section->error));
    return fill_answer(&at, value, answer);
}

static bj_status read_x(const bj_json_place *at, const json_t *values, bj_curve *curve) {
    for (size_t i = 0; i < curve->x_count; i++) {
        const json_t *value = json_array_get(values, i);
        if (!json_is_number(value) || (i > 0 && json_number_value(value) <= curve->x[i - 1]))
            return bj_json_expected(at, "x.values", "ascending numbers");
        curve->x[i] = json_number_value(value);
    }
    return BJ_OK;
}

/* Looked at before the curve is made: short rounds beside many x would take memory that the file does not fill. */
static bj_status check_rounds(const bj_json_place *at, const json_t *rounds, size_t x_count) {
    for (size_t r = 0; r < json_array_size(rounds); r++) {
        const json_t *round = json_array_get(rounds, r);
        if (!json_is_array(round) || json_array_size(round) != x_count)
            return bj_json_expected(at, "y.rounds", "lists of %zu values, one for each x", x_count);
    }
    return BJ_OK;
}

static bj_status read_rounds(const bj_json_place *at, const json_t *rounds, bj_curve *curve) {
    for (size_t r = 0; r < curve->round_count; r++) {
        const json_t *round = json_array_get(rounds, r);
        for (size_t i = 0; i < curve->x_count; i++) {
            const json_t *value = json_array_get(round, i);
            if (!json_is_number(value) && !json_is_null(value))
                return bj_json_expected(at, "y.rounds", "numbers and null");
            curve->rounds[r][i] = json_is_null(value) ? NAN : json_number_value(value);
        }
    }
    return BJ_OK;
}

static bj_status read_spells(const bj_json_place *at, const json_t *spells, bj_curve *curve) {
    json_int_t before = 0;
    if (spells == NULL)
        return BJ_OK;
    if (json_array_size(spells) != curve->round_count)
        return bj_json_expected(at, "y.spells", "a list of %zu numbers, one for each round", curve->round_count);
    BJ_TRY(bj_data_mark_spell(curve, 0, 0, at->error));
    for (size_t r = 0; r < curve->round_count; r++) {
        const json_t *value = json_array_get(spells, r);
        json_int_t spell = json_is_integer(value) ? json_integer_value(value) : -1;
        if (spell < before || spell > MAX_SPELLS)
            return bj_json_expected(at, "y.spells", "whole numbers from 0 that do not fall");
        curve->spells[r] = (unsigned)spell;
        before = spell;
    }
    return BJ_OK;
}

static bj_status read_samples(const bj_json_place *at, const json_t *object, bj_curve *curve) {
    const json_t *values = json_object_get(json_object_get(object, "x"), "values");
    const json_t *rounds = json_object_get(json_object_get(object, "y"), "rounds");
    if (!json_is_array(values))
        return bj_json_expected(at, "x.values", "a list of numbers");
    if (!json_is_array(rounds))
        return bj_json_expected(at, "y.rounds", "a list of rounds");
    BJ_TRY(check_rounds(at, rounds, json_array_size(values)));
    BJ_TRY(bj_data_make_grid(curve, json_array_size(values), json_array_size(rounds), at->error));
    BJ_TRY(read_x(at, values, curve));
    BJ_TRY(read_rounds(at, rounds, curve));
    return read_spells(at, json_object_get(json_object_get(object, "y"), "spells"), curve);
}

static bj_status read_axis(const bj_json_place *at, const json_t *object, const char *axis, char *name,
                           size_t name_room, char *unit, size_t unit_room) {
    const json_t *value = json_object_get(object, axis);
    if (!json_is_object(value))
        return bj_json_expected(at, axis, "an object");
    BJ_TRY(bj_json_read_text(at, value, "name", BJ_TEXT_CUT, name, name_room));
    return bj_json_read_text(at, value, "unit", BJ_TEXT_WHOLE, unit, unit_room);
}

static bj_status read_attributes(const bj_json_place *at, const json_t *object, bj_curve *curve) {
    json_t *attributes = json_object_get(object, "attributes");
    if (attributes == NULL)
        return BJ_OK;
    if (!json_is_object(attributes) || json_object_size(attributes) > BJ_ATTRIBUTES_MAX)
        return bj_json_expected(at, "attributes", "an object of at most %u members", BJ_ATTRIBUTES_MAX);
    const char *name;
    json_t *value;
    bj_error trouble;
    json_object_foreach(attributes, name, value) {
        const char *text = json_string_value(value);
        bj_status status = text != NULL && text[0] != '\0' ? bj_data_set_attribute_text(curve, name, text, &trouble)
                           : json_is_number(value)
                               ? bj_data_set_attribute_number(curve, name, json_number_value(value), &trouble)
                               : BJ_ERR_INPUT;
        if (!is_identifier(name) || status != BJ_OK)
            return bj_json_expected(at, "attributes", "names with a number or a short text each");
    }
    return BJ_OK;
}

static bj_status read_curve(const bj_json_place *section, const char *id, const json_t *value, bj_profile *profile) {
    bj_json_place at;
    bj_curve *curve = NULL;
    char probe[sizeof curve->probe] = "";
    BJ_TRY(enter(section, id, value, sizeof curve->id, &at));
    BJ_TRY(bj_json_require_text(&at, value, "probe", BJ_TEXT_WHOLE, probe, sizeof probe));
    BJ_TRY(bj_data_add_curve(&profile->curves, id, probe, &curve, section->error));
    BJ_TRY(read_axis(&at, value, "x", curve->x_name, sizeof curve->x_name, curve->x_unit, sizeof curve->x_unit));
    BJ_TRY(read_axis(&at, value, "y", curve->y_name, sizeof curve->y_name, curve->y_unit, sizeof curve->y_unit));
    BJ_TRY(read_attributes(&at, value, curve));
    return read_samples(&at, value, curve);
}

static bj_status read_probe(const bj_json_place *section, const char *name, const json_t *value, bj_profile *profile) {
    bj_json_place at;
    bj_probe_record *record = NULL;
    uint64_t revision = 0, runs = 1, late_rounds = 0;
    bj_status status = enter(section, name, value, sizeof record->name, &at);
    if (status == BJ_OK)
        status = bj_profile_record_probe(profile, name, &record, section->error);
    if (status == BJ_OK)
        status = read_status(&at, value, &record->status);
    if (status == BJ_OK)
        status = bj_json_read_u64(&at, value, "revision", UINT_MAX, &revision);
    if (status == BJ_OK)
        status = bj_json_read_number(&at, value, "seconds", false, &record->seconds, NULL);
    if (status == BJ_OK && record->seconds < 0)
        return bj_json_expected(&at, "seconds", "a number from 0");
    if (status == BJ_OK)
        status = bj_json_read_text(&at, value, "reason", BJ_TEXT_CUT, record->reason, sizeof record->reason);
    if (status == BJ_OK)
        status = bj_json_read_text(&at, value, "measured", BJ_TEXT_CUT, record->measured, sizeof record->measured);
    if (status == BJ_OK)
        status = bj_json_read_text(&at, value, "version", BJ_TEXT_CUT, record->version, sizeof record->version);
    if (status == BJ_OK)
        status = bj_json_read_u64(&at, value, "runs", UINT_MAX, &runs);
    if (status == BJ_OK)
        status = bj_json_read_u64(&at, value, "late_rounds", UINT_MAX, &late_rounds);
    if (status == BJ_OK) {
        record->revision = (unsigned)revision;
        record->runs = (unsigned)runs;
        record->late_rounds = (unsigned)late_rounds;
    }
    return status;
}

typedef bj_status member_reader(const bj_json_place *section, const char *name, const json_t *value,
                                bj_profile *profile);

static bj_status read_section(const bj_json_place *whole, const json_t *root, const char *name, size_t most,
                              member_reader *read_member, bj_profile *profile) {
    json_t *section = json_object_get(root, name);
    if (section == NULL)
        return BJ_OK;
    bj_json_place at = bj_json_enter(whole, name);
    bj_status status = bj_json_check_object(&at, section);
    if (status == BJ_OK && json_object_size(section) > most)
        return bj_json_expected(&at, NULL, "at most %zu entries", most);
    const char *key;
    json_t *value;
    if (status == BJ_OK)
        json_object_foreach(section, key, value) {
            status = read_member(&at, key, value, profile);
            if (status != BJ_OK)
                return status;
        }
    return status;
}

static bj_status read_whole(const bj_json_place *at, const json_t *root, bj_profile *profile) {
    if (!json_is_object(root))
        return bj_json_expected(at, NULL, "a profile, which is a JSON object");
    const char *format = json_string_value(json_object_get(root, "format"));
    if (format == NULL || strcmp(format, BJ_PROFILE_FORMAT) != 0)
        return bj_json_expected(at, "format", "\"" BJ_PROFILE_FORMAT "\", found %s%.40s%s", format ? "\"" : "",
                                format ? format : "none", format ? "\"" : "");
    if (json_object_get(root, "characteristics") == NULL)
        return bj_json_expected(at, "characteristics", "an object, found nothing");
    BJ_TRY(bj_json_read_text(at, root, "created", BJ_TEXT_WHOLE, profile->created, sizeof profile->created));
    BJ_TRY(bj_profile_read_fields(at, root, profile));
    BJ_TRY(read_section(at, root, "characteristics", MAX_ANSWERS, read_answer, profile));
    BJ_TRY(read_section(at, root, "curves", MAX_CURVES, read_curve, profile));
    return read_section(at, root, "probes", MAX_PROBES, read_probe, profile);
}

bj_status bj_profile_parse(const char *name, const char *text, size_t length, bj_profile *profile, bj_error *error) {
    bj_profile_free(profile);
    static const bj_json_size most = {MAX_DEPTH, MAX_CONTAINERS, MAX_MEMBERS, MAX_VALUES};
    bj_json_place at = {.file = name, .error = error};
    json_t *root = NULL;
    bj_status status = bj_json_parse(&at, "a profile", text, length, &most, &root);
    if (status != BJ_OK)
        return status;
    status = read_whole(&at, root, profile);
    json_decref(root);
    if (status == BJ_OK)
        status = bj_profile_upgrade(profile, error);
    if (status != BJ_OK)
        bj_profile_free(profile);
    return status;
}

static bool is_standard_input(const char *path) {
    return strcmp(path, "-") == 0;
}

bj_status bj_profile_read_text(const char *path, char **text, size_t *length, bj_error *error) {
    BJ_TRY(bj_base_read_file(is_standard_input(path) ? "/dev/stdin" : path, BJ_PROFILE_MAX_BYTES, text, length, error));
    if (!bj_base_is_gzip(*text, *length))
        return BJ_OK;
    char *bytes = *text;
    bj_status status = bj_base_expand_gzip(is_standard_input(path) ? "standard input" : path, bytes, *length,
                                           BJ_PROFILE_MAX_BYTES, text, length, error);
    free(bytes);
    return status;
}

typedef bj_status parser(const char *name, const char *text, size_t length, bj_profile *profile, bj_error *error);

static bj_status read_file(const char *path, parser *parse, bj_profile *profile, bj_error *error) {
    char *text = NULL;
    size_t length = 0;
    bj_status status = bj_profile_read_text(path, &text, &length, error);
    if (status == BJ_OK)
        status = parse(is_standard_input(path) ? "standard input" : path, text, length, profile, error);
    free(text);
    return status;
}

bj_status bj_profile_read(const char *path, bj_profile *profile, bj_error *error) {
    return read_file(path, bj_profile_parse, profile, error);
}

bj_status bj_profile_read_answers(const char *path, bj_profile *profile, bj_error *error) {
    return read_file(path, bj_profile_parse_answers, profile, error);
}
