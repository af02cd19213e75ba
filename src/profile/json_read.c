#include "profile/json_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bj_status bj_json_expected(const bj_json_place *at, const char *member, const char *format, ...) {
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *name = member != NULL ? member : "";
    const char *point = at->place[0] != '\0' && name[0] != '\0' ? "." : "";
    const char *colon = at->place[0] != '\0' || name[0] != '\0' ? ": " : "";
    /* The parts are cut one by one, so that "what" always has its place in the text. */
    (void)bj_base_set_error(at->error, BJ_ERR_INPUT, "%.120s: %.70s%s%.40s%sexpected %s", at->file, at->place, point,
                            name, colon, what);
    bj_json_make_line(at->error);
    return BJ_ERR_INPUT;
}

void bj_json_make_line(bj_error *error) {
    if (error != NULL)
        bj_base_hide_controls(error->text);
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
