#include "base/json_read.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

size_t bj_json_skip_string(const char *text, size_t length, size_t at) {
    for (at++; at < length && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < length ? at + 1 : length;
}

bj_json_size bj_json_measure(const char *text, size_t length) {
    bj_json_size size = {.values = length > 0};
    size_t depth = 0;
    for (size_t i = 0; i < length;) {
        switch (text[i]) {
        case '"':
            i = bj_json_skip_string(text, length, i);
            continue;
        case '{':
        case '[':
            size.containers++;
            size.values++;
            depth++;
            size.depth = depth > size.depth ? depth : size.depth;
            break;
        case '}':
        case ']':
            depth -= depth > 0;
            break;
        case ',':
            size.values++;
            break;
        case ':':
            size.members++;
            break;
        default:
            break;
        }
        i++;
    }
    return size;
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

bj_json_place bj_json_enter(const bj_json_place *at, const char *member) {
    bj_json_place inner = {.file = at->file, .error = at->error};
    char shown[64];
    copy_printable(shown, sizeof shown, member);
    snprintf(inner.place, sizeof inner.place, "%.90s%s%s", at->place, at->place[0] != '\0' ? "." : "", shown);
    return inner;
}

bj_json_place bj_json_enter_item(const bj_json_place *at, size_t index) {
    bj_json_place inner = {.file = at->file, .error = at->error};
    snprintf(inner.place, sizeof inner.place, "%.120s[%zu]", at->place, index);
    return inner;
}

/* Errors are one line, though what they cite from the file may hold anything. */
static bj_status make_line(bj_error *error) {
    if (error != NULL)
        bj_base_hide_controls(error->text);
    return BJ_ERR_INPUT;
}

bj_status bj_json_expected(const bj_json_place *at, const char *member, const char *format, ...) {
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    bj_json_place inner = member != NULL ? bj_json_enter(at, member) : *at;
    /* The parts are cut one by one, so that "what" always has its place in the text. */
    (void)bj_base_set_error(at->error, BJ_ERR_INPUT, "%.120s: %.110s: expected %s", at->file,
                            inner.place[0] != '\0' ? inner.place : "top level", what);
    return make_line(at->error);
}

static bj_status check_size(const bj_json_place *at, const bj_json_size *size, const bj_json_size *most) {
    const struct {
        size_t found, most;
        const char *name;
    } limits[] = {{size->depth, most->depth, "levels of nesting"},
                  {size->containers, most->containers, "lists and objects"},
                  {size->members, most->members, "members of objects"},
                  {size->values, most->values, "values"}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i].found > limits[i].most)
            return bj_json_expected(at, NULL, "at most %zu %s", limits[i].most, limits[i].name);
    return BJ_OK;
}

bj_status bj_json_parse(const bj_json_place *at, const char *what, const char *text, size_t length,
                        const bj_json_size *most, json_t **root) {
    if (length == 0)
        return bj_base_set_error(at->error, BJ_ERR_INPUT, "%.200s: line 1: expected %s, found an empty file", at->file,
                                 what);
    bj_json_size size = bj_json_measure(text, length);
    BJ_TRY(check_size(at, &size, most));
    json_error_t trouble;
    *root = bj_json_load(text, length, &trouble);
    if (*root != NULL)
        return BJ_OK;
    if (bj_base_take_no_memory())
        return bj_base_set_error(at->error, BJ_ERR_RESOURCE, "%.120s: out of memory", at->file);
    (void)bj_base_set_error(at->error, BJ_ERR_INPUT, "%.120s: line %d, column %d: expected JSON: %s", at->file,
                            trouble.line, trouble.column, trouble.text);
    return make_line(at->error);
}

bj_status bj_json_check_object(const bj_json_place *at, const json_t *value) {
    return json_is_object(value) ? BJ_OK : bj_json_expected(at, NULL, "an object");
}

/* The longest beginning of `text` below `room` bytes that does not end inside a UTF-8 sequence. */
static size_t cut_length(const char *text, size_t length, size_t room) {
    if (length < room)
        return length;
    length = room - 1;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

bj_status bj_json_read_text(const bj_json_place *at, const json_t *object, const char *member, bj_text_mode mode,
                            char *field, size_t room) {
    const json_t *value = json_object_get(object, member);
    if (value == NULL)
        return BJ_OK;
    if (!json_is_string(value))
        return bj_json_expected(at, member, "a string");
    size_t length = json_string_length(value);
    if (mode == BJ_TEXT_WHOLE && length >= room)
        return bj_json_expected(at, member, "at most %zu bytes", room - 1);
    length = cut_length(json_string_value(value), length, room);
    memcpy(field, json_string_value(value), length);
    field[length] = '\0';
    return BJ_OK;
}

bj_status bj_json_require_text(const bj_json_place *at, const json_t *object, const char *member, bj_text_mode mode,
                               char *field, size_t room) {
    if (json_object_get(object, member) == NULL)
        return bj_json_expected(at, member, "a string, found nothing");
    return bj_json_read_text(at, object, member, mode, field, room);
}

bj_status bj_json_read_number(const bj_json_place *at, const json_t *object, const char *member, bool nullable,
                              double *field, bool *here) {
    const json_t *value = json_object_get(object, member);
    if (here != NULL)
        *here = false;
    if (value == NULL || (nullable && json_is_null(value)))
        return BJ_OK;
    if (!json_is_number(value))
        return bj_json_expected(at, member, nullable ? "a number or null" : "a number");
    *field = json_number_value(value);
    if (here != NULL)
        *here = true;
    return BJ_OK;
}

bj_status bj_json_read_u64(const bj_json_place *at, const json_t *object, const char *member, uint64_t largest,
                           uint64_t *field) {
    const json_t *value = json_object_get(object, member);
    if (value == NULL)
        return BJ_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > largest)
        return bj_json_expected(at, member, "a whole number from 0 to %" PRIu64, largest);
    *field = (uint64_t)json_integer_value(value);
    return BJ_OK;
}

static bj_status read_number(const bj_json_place *at, const json_t *value, const bj_json_field *field) {
    double number = json_is_number(value) ? json_number_value(value) : 0;
    if (!json_is_number(value) || !(number >= field->lowest && number <= field->highest))
        return bj_json_expected(at, NULL, "a number from %g to %g", field->lowest, field->highest);
    *(double *)field->target = number;
    return BJ_OK;
}

static bj_status read_count(const bj_json_place *at, const json_t *value, const bj_json_field *field) {
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || (double)number < field->lowest || (double)number > field->highest)
        return bj_json_expected(at, NULL, "a whole number from %.0f to %.0f", field->lowest, field->highest);
    *(uint64_t *)field->target = (uint64_t)number;
    return BJ_OK;
}

static bj_status read_printable(const bj_json_place *at, const json_t *value, const bj_json_field *field) {
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    size_t length = strlen(text);
    bool printable = length > 0;
    for (size_t i = 0; i < length; i++)
        printable = printable && (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
    if (!printable || length + 1 > field->room)
        return bj_json_expected(at, NULL, "a printable text of 1 to %zu bytes", field->room - 1);
    memcpy(field->target, text, length + 1);
    return BJ_OK;
}

static bj_status read_choice(const bj_json_place *at, const json_t *value, const bj_json_field *field) {
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
    return bj_json_expected(at, NULL, "%s", listed);
}

bj_status bj_json_read_value(const bj_json_place *at, json_t *value, const bj_json_field *field) {
    switch (field->kind) {
    case BJ_JSON_NUMBER:
        return read_number(at, value, field);
    case BJ_JSON_COUNT:
        return read_count(at, value, field);
    case BJ_JSON_TEXT:
        return read_printable(at, value, field);
    case BJ_JSON_CHOICE:
        return read_choice(at, value, field);
    case BJ_JSON_ANY:
        *(json_t **)field->target = value;
        break;
    }
    return BJ_OK;
}

bj_status bj_json_read_fields(const bj_json_place *at, json_t *object, const bj_json_field *fields,
                              size_t field_count) {
    bj_status status = object == NULL ? BJ_OK : bj_json_check_object(at, object);
    if (object == NULL || status != BJ_OK)
        return status;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        size_t i = 0;
        while (i < field_count && strcmp(fields[i].name, name) != 0)
            i++;
        bj_json_place inner = bj_json_enter(at, name);
        if (i == field_count)
            return bj_base_set_error(at->error, BJ_ERR_INPUT, "%.200s: %s: unknown field", at->file, inner.place);
        status = bj_json_read_value(&inner, value, &fields[i]);
        if (status != BJ_OK)
            return status;
    }
    for (size_t i = 0; i < field_count; i++)
        if (fields[i].required && json_object_get(object, fields[i].name) == NULL)
            return bj_json_expected(at, NULL, "a field \"%s\"", fields[i].name);
    return BJ_OK;
}

bj_status bj_json_read_items(const bj_json_place *at, json_t *list, size_t least, size_t most,
                             bj_json_item_reader *read_item, void *target) {
    size_t count = json_array_size(list);
    if (list != NULL && (!json_is_array(list) || count < least || count > most))
        return bj_json_expected(at, NULL, "a list of %zu to %zu items", least, most);
    bj_status status = BJ_OK;
    for (size_t i = 0; status == BJ_OK && i < count; i++) {
        bj_json_place inner = bj_json_enter_item(at, i);
        status = read_item(&inner, json_array_get(list, i), i, target);
    }
    return status;
}
