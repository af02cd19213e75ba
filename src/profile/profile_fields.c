#include "profile/profile_fields.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CPUS = 65536, MAX_STRINGS = 4096 };

typedef enum {
    NAME,    /* text that must fit */
    PROSE,   /* text for people: cut off where there is no more room */
    OPTION,  /* the same, but not written where it is empty */
    NUMBER,  /* NaN is null */
    COUNT,   /* uint64_t */
    TIMES,   /* the same, but not written below 2 */
    CPU,     /* int from 0 */
    FLAG,    /* int: true, false, or null where it is negative */
    MARK,    /* bool, not written where it is false */
    STRINGS, /* bj_strings */
    CPUS     /* cpus_allowed and cpus_allowed_count */
} field_type;

typedef struct {
    const char *section, *name;
    field_type type;
    size_t offset, size; /* in bj_profile */
} field;

/* NOLINTBEGIN(bugprone-macro-parentheses): the name of a member cannot stand in parentheses. */
#define FIELD(section, name, type)                                                                                     \
    { #section, #name, type, offsetof(bj_profile, section.name), sizeof((bj_profile *)0)->section.name }
/* NOLINTEND(bugprone-macro-parentheses) */

/* In the order in which they are written. */
static const field fields[] = {
    FIELD(tool, version, PROSE),
    FIELD(tool, compiler, PROSE),
    FIELD(tool, flags, PROSE),
    FIELD(run, seed, COUNT),
    FIELD(run, effort, NAME),
    FIELD(run, method, OPTION),
    FIELD(run, cc, OPTION),
    FIELD(run, cc_version, OPTION),
    FIELD(run, cc_flags, OPTION),
    FIELD(run, arguments, STRINGS),
    FIELD(run, cpu_measured, CPU),
    FIELD(run, cpu_quota, NUMBER),
    FIELD(run, memory_limit_bytes, COUNT),
    FIELD(run, steal, NUMBER),
    FIELD(run, machine, PROSE),
    FIELD(run, repeat, TIMES),
    FIELD(run, interrupted, MARK),
    FIELD(environment, os, PROSE),
    FIELD(environment, cpu, PROSE),
    FIELD(environment, page_bytes, TIMES),
    FIELD(environment, cpus_allowed, CPUS),
    FIELD(environment, memory_bytes, COUNT),
    FIELD(environment, virtualised, FLAG),
    FIELD(environment, emulator, OPTION),
    FIELD(environment, huge_pages, PROSE),
    FIELD(environment, load_before, NUMBER),
    FIELD(environment, warnings, STRINGS),
};
#define FIELD_COUNT (sizeof fields / sizeof fields[0])

static bj_status read_strings(const bj_json_place *at, const json_t *list, const char *name, bj_strings *strings) {
    if (!json_is_array(list) || json_array_size(list) > MAX_STRINGS)
        return bj_json_expected(at, name, "a list of at most %d strings", MAX_STRINGS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text == NULL)
            return bj_json_expected(at, name, "a list of strings");
        BJ_TRY(bj_strings_add(strings, text, at->error));
    }
    return BJ_OK;
}

static bj_status read_cpus(const bj_json_place *at, const json_t *list, bj_profile *profile) {
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > MAX_CPUS)
        return bj_json_expected(at, "cpus_allowed", "a list of at most %d cpus", MAX_CPUS);
    int *cpus = calloc(count + 1, sizeof *cpus);
    if (cpus == NULL)
        return bj_base_set_error(at->error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    profile->environment.cpus_allowed = cpus;
    profile->environment.cpus_allowed_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *cpu = json_array_get(list, i);
        if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 || json_integer_value(cpu) > INT_MAX)
            return bj_json_expected(at, "cpus_allowed", "cpu numbers from 0");
        cpus[i] = (int)json_integer_value(cpu);
    }
    return BJ_OK;
}

static bj_status read_flag(const bj_json_place *at, const json_t *value, const char *name, int *flag) {
    if (json_is_null(value))
        return BJ_OK;
    if (!json_is_boolean(value))
        return bj_json_expected(at, name, "true, false or null");
    *flag = json_is_true(value);
    return BJ_OK;
}

static bj_status read_cpu(const bj_json_place *at, const json_t *section, const char *name, int *cpu) {
    uint64_t number = 0;
    bj_status status = bj_json_read_u64(at, section, name, INT_MAX, &number);
    *cpu = (int)number;
    return status;
}

static bj_status read_field(const bj_json_place *at, const json_t *section, const field *field, bj_profile *profile) {
    const json_t *value = json_object_get(section, field->name);
    void *target = (char *)profile + field->offset;
    if (value == NULL)
        return BJ_OK;
    switch (field->type) {
    case NAME:
        return bj_json_read_text(at, section, field->name, BJ_TEXT_WHOLE, target, field->size);
    case PROSE:
    case OPTION:
        return bj_json_read_text(at, section, field->name, BJ_TEXT_CUT, target, field->size);
    case NUMBER:
        return bj_json_read_number(at, section, field->name, true, target, NULL);
    case COUNT:
    case TIMES:
        return bj_json_read_u64(at, section, field->name, INT64_MAX, target);
    case CPU:
        return read_cpu(at, section, field->name, target);
    case FLAG:
        return read_flag(at, value, field->name, target);
    case MARK:
        *(bool *)target = json_is_true(value);
        return json_is_boolean(value) ? BJ_OK : bj_json_expected(at, field->name, "true or false");
    case STRINGS:
        return read_strings(at, value, field->name, target);
    case CPUS:
        return read_cpus(at, value, profile);
    }
    return BJ_OK;
}

bj_status bj_profile_read_fields(const bj_json_place *whole, const json_t *root, bj_profile *profile) {
    bj_status status = BJ_OK;
    for (size_t i = 0; i < FIELD_COUNT && status == BJ_OK; i++) {
        const json_t *section = json_object_get(root, fields[i].section);
        bj_json_place at = bj_json_enter(whole, fields[i].section);
        if (section == NULL)
            continue;
        status = bj_json_check_object(&at, section);
        if (status == BJ_OK)
            status = read_field(&at, section, &fields[i], profile);
    }
    return status;
}

static void append_strings(bj_json_text *json, const bj_strings *strings) {
    bj_json_append(json, "[");
    for (size_t i = 0; i < strings->count; i++) {
        bj_json_append(json, i == 0 ? "" : ", ");
        bj_json_append_string(json, strings->items[i]);
    }
    bj_json_append(json, "]");
}

static void append_cpus(bj_json_text *json, const bj_profile *profile) {
    bj_json_append(json, "[");
    for (size_t i = 0; i < profile->environment.cpus_allowed_count; i++) {
        bj_json_append(json, i == 0 ? "" : ", ");
        bj_json_append_number(json, profile->environment.cpus_allowed[i]);
    }
    bj_json_append(json, "]");
}

static void append_field(bj_json_text *json, const field *field, const bj_profile *profile) {
    const void *source = (const char *)profile + field->offset;
    if ((field->type == OPTION && *(const char *)source == '\0') || (field->type == MARK && !*(const bool *)source) ||
        (field->type == TIMES && *(const uint64_t *)source < 2))
        return;
    bj_json_append_key(json, field->name);
    switch (field->type) {
    case NAME:
    case PROSE:
    case OPTION:
        bj_json_append_string(json, source);
        break;
    case NUMBER:
        bj_json_append_number(json, *(const double *)source);
        break;
    case COUNT:
    case TIMES:
        bj_json_append_u64(json, *(const uint64_t *)source);
        break;
    case CPU:
        bj_json_append_number(json, *(const int *)source);
        break;
    case FLAG:
        bj_json_append(json, *(const int *)source < 0 ? "null" : *(const int *)source != 0 ? "true" : "false");
        break;
    case MARK:
        bj_json_append(json, "true");
        break;
    case STRINGS:
        append_strings(json, source);
        break;
    case CPUS:
        append_cpus(json, profile);
        break;
    }
}

void bj_profile_append_fields(bj_json_text *json, const bj_profile *profile) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        bool first = i == 0 || strcmp(fields[i].section, fields[i - 1].section) != 0;
        if (first) {
            bj_json_append(json, i == 0 ? ",\n  " : "},\n  ");
            bj_json_append_string(json, fields[i].section);
            bj_json_append(json, ": {");
        }
        append_field(json, &fields[i], profile);
    }
    bj_json_append(json, "}");
}
