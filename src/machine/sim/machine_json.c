#include "machine/sim/machine_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_size.h"

enum { MAX_DEPTH = 16, SHOWN_NAME = 40 };

bj_sim_place bj_sim_place_top(void) {
    return (bj_sim_place){.text = ""};
}

/* A name from the file may hold anything: what is shown of it is short and printable. */
static void copy_printable(char *to, size_t room, const char *from) {
    size_t length = 0;
    while (length + 1 < room && from[length] != '\0') {
        unsigned char letter = (unsigned char)from[length];
        to[length++] = letter < 0x80 && isprint(letter) ? (char)letter : '?';
    }
    to[length] = '\0';
}

bj_sim_place bj_sim_place_in(const bj_sim_place *place, const char *name) {
    bj_sim_place inner;
    char shown[SHOWN_NAME + 1];
    copy_printable(shown, sizeof shown, name);
    int length =
        snprintf(inner.text, sizeof inner.text, "%.100s%s%s", place->text, place->text[0] != '\0' ? "." : "", shown);
    (void)length;
    return inner;
}

bj_sim_place bj_sim_place_at(const bj_sim_place *place, size_t position) {
    bj_sim_place inner;
    snprintf(inner.text, sizeof inner.text, "%.120s[%zu]", place->text, position);
    return inner;
}

bj_status bj_sim_expected(const bj_sim_reader *reader, const bj_sim_place *place, const char *format, ...) {
    char what[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return bj_base_set_error(reader->error, BJ_ERR_INPUT, "%.200s: %s: expected %s", reader->file,
                             place->text[0] != '\0' ? place->text : "top level", what);
}

static bj_status read_number(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                             const bj_sim_field *field) {
    double number = json_is_number(value) ? json_number_value(value) : 0;
    if (!json_is_number(value) || !(number >= field->lowest && number <= field->highest))
        return bj_sim_expected(reader, place, "a number from %g to %g", field->lowest, field->highest);
    *(double *)field->target = number;
    return BJ_OK;
}

static bj_status read_count(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                            const bj_sim_field *field) {
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || (double)number < field->lowest || (double)number > field->highest)
        return bj_sim_expected(reader, place, "a whole number from %.0f to %.0f", field->lowest, field->highest);
    *(uint64_t *)field->target = (uint64_t)number;
    return BJ_OK;
}

static bj_status read_text(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                           const bj_sim_field *field) {
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    size_t length = strlen(text);
    bool printable = length > 0;
    for (size_t i = 0; i < length; i++)
        printable = printable && (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
    if (!printable || length + 1 > field->room)
        return bj_sim_expected(reader, place, "a printable text of 1 to %zu bytes", field->room - 1);
    memcpy(field->target, text, length + 1);
    return BJ_OK;
}

static bj_status read_choice(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                             const bj_sim_field *field) {
    const char *text = json_is_string(value) ? json_string_value(value) : NULL;
    char listed[160] = "";
    for (int i = 0; field->choices[i] != NULL; i++) {
        if (text != NULL && strcmp(text, field->choices[i]) == 0) {
            *(int *)field->target = i;
            return BJ_OK;
        }
        size_t used = strlen(listed);
        snprintf(listed + used, sizeof listed - used, "%s\"%s\"", i > 0 ? " or " : "", field->choices[i]);
    }
    return bj_sim_expected(reader, place, "%s", listed);
}

bj_status bj_sim_read_value(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                            const bj_sim_field *field) {
    switch (field->kind) {
    case BJ_SIM_FIELD_NUMBER:
        return read_number(reader, place, value, field);
    case BJ_SIM_FIELD_COUNT:
        return read_count(reader, place, value, field);
    case BJ_SIM_FIELD_TEXT:
        return read_text(reader, place, value, field);
    case BJ_SIM_FIELD_CHOICE:
        return read_choice(reader, place, value, field);
    case BJ_SIM_FIELD_OBJECT:
        if (!json_is_object(value))
            return bj_sim_expected(reader, place, "an object");
        break;
    case BJ_SIM_FIELD_LIST:
        if (!json_is_array(value) || (double)json_array_size(value) < field->lowest ||
            (double)json_array_size(value) > field->highest)
            return bj_sim_expected(reader, place, "a list of %.0f to %.0f items", field->lowest, field->highest);
        break;
    case BJ_SIM_FIELD_ANY:
        break;
    }
    *(json_t **)field->target = value;
    return BJ_OK;
}

bj_status bj_sim_read_fields(const bj_sim_reader *reader, const bj_sim_place *place, json_t *object,
                             const bj_sim_field *fields, size_t field_count) {
    if (!json_is_object(object))
        return bj_sim_expected(reader, place, "an object");
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        size_t i = 0;
        while (i < field_count && strcmp(fields[i].name, name) != 0)
            i++;
        bj_sim_place inner = bj_sim_place_in(place, name);
        if (i == field_count)
            return bj_base_set_error(reader->error, BJ_ERR_INPUT, "%.200s: %s: unknown field", reader->file,
                                     inner.text);
        bj_status status = bj_sim_read_value(reader, &inner, value, &fields[i]);
        if (status != BJ_OK)
            return status;
    }
    for (size_t i = 0; i < field_count; i++) {
        if (fields[i].required && json_object_get(object, fields[i].name) == NULL)
            return bj_sim_expected(reader, place, "a field \"%s\"", fields[i].name);
    }
    return BJ_OK;
}

bj_status bj_sim_parse_json(const bj_sim_reader *reader, const char *text, size_t length, json_t **root) {
    if (length == 0)
        return bj_base_set_error(reader->error, BJ_ERR_INPUT, "%.200s: line 1: expected a machine, found an empty file",
                                 reader->file);
    if (bj_base_measure_json(text, length).depth > MAX_DEPTH)
        return bj_base_set_error(reader->error, BJ_ERR_INPUT, "%.200s: expected at most %d levels of nesting",
                                 reader->file, MAX_DEPTH);
    json_error_t trouble;
    *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &trouble);
    if (*root != NULL)
        return BJ_OK;
    char shown[120];
    copy_printable(shown, sizeof shown, trouble.text);
    return bj_base_set_error(reader->error, BJ_ERR_INPUT, "%.200s: line %d, column %d: expected JSON: %s", reader->file,
                             trouble.line, trouble.column, shown);
}
