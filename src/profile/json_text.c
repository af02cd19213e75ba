#include "profile/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/number.h"

static void append_bytes(bj_json_text *json, const char *bytes, size_t count) {
    if (json->failed)
        return;
    if (json->room - json->length <= count) {
        size_t room = json->room == 0 ? 4096 : json->room;
        while (room - json->length <= count)
            room *= 2;
        char *grown = realloc(json->text, room);
        if (grown == NULL) {
            json->failed = true;
            return;
        }
        json->text = grown;
        json->room = room;
    }
    memcpy(json->text + json->length, bytes, count);
    json->length += count;
    json->text[json->length] = '\0';
}

void bj_json_append(bj_json_text *json, const char *raw) {
    append_bytes(json, raw, strlen(raw));
}

/* Bytes of the well-formed UTF-8 sequence at `text` (no overlong forms, no surrogates); 0: not well-formed. */
static size_t utf8_length(const unsigned char *text) {
    unsigned char lead = text[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) || (lead == 0xf0 && text[1] < 0x90) ||
        (lead == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void bj_json_append_string(bj_json_text *json, const char *string) {
    bj_json_append(json, "\"");
    const unsigned char *at = (const unsigned char *)string;
    while (*at != '\0') {
        size_t length = utf8_length(at);
        if (length == 0) {
            bj_json_append(json, "\xef\xbf\xbd");
            at++;
            continue;
        }
        char escaped[8];
        if (*at == '"' || *at == '\\') {
            snprintf(escaped, sizeof escaped, "\\%c", *at);
            bj_json_append(json, escaped);
        } else if (*at < 0x20 || *at == 0x7f) {
            snprintf(escaped, sizeof escaped, "\\u%04x", *at);
            bj_json_append(json, escaped);
        } else if (*at == 0xc2 && at[1] < 0xa0) { /* controls of two bytes, which some terminals heed */
            snprintf(escaped, sizeof escaped, "\\u%04x", at[1]);
            bj_json_append(json, escaped);
        } else if (bj_base_measure_bidi(at) > 0) {
            unsigned letter = length == 2 ? 0x61cu : 0x2000u | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
            snprintf(escaped, sizeof escaped, "\\u%04x", letter);
            bj_json_append(json, escaped);
        } else {
            append_bytes(json, (const char *)at, length);
        }
        at += length;
    }
    bj_json_append(json, "\"");
}

void bj_json_append_number(bj_json_text *json, double value) {
    char text[BJ_NUMBER_ROOM];
    bj_data_format_number(value, text);
    bj_json_append(json, text);
}

void bj_json_append_numbers(bj_json_text *json, const double *values, size_t count) {
    bj_json_append(json, "[");
    for (size_t i = 0; i < count; i++) {
        bj_json_append(json, i == 0 ? "" : ", ");
        bj_json_append_number(json, values[i]);
    }
    bj_json_append(json, "]");
}

void bj_json_append_u64(bj_json_text *json, uint64_t value) {
    char text[BJ_NUMBER_ROOM];
    /* "Unlimited" is often all ones, and few JSON readers hold more than a signed integer. */
    snprintf(text, sizeof text, "%" PRIu64, value <= INT64_MAX ? value : (uint64_t)INT64_MAX);
    bj_json_append(json, text);
}

static void append_object(bj_json_text *json, const json_t *object) {
    bj_json_append(json, "{");
    /* jansson's iterators take no const, though they change nothing. */
    json_t *members = (json_t *)object;
    const char *key;
    json_t *member;
    json_object_foreach(members, key, member) {
        bj_json_append_key(json, key);
        bj_json_append_value(json, member);
    }
    bj_json_append(json, "}");
}

void bj_json_append_value(bj_json_text *json, const json_t *value) {
    char integer[BJ_NUMBER_ROOM];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        append_object(json, value);
        break;
    case JSON_ARRAY:
        bj_json_append(json, "[");
        for (size_t i = 0; i < json_array_size(value); i++) {
            bj_json_append(json, i == 0 ? "" : ", ");
            bj_json_append_value(json, json_array_get(value, i));
        }
        bj_json_append(json, "]");
        break;
    case JSON_STRING:
        bj_json_append_string(json, json_string_value(value));
        break;
    case JSON_INTEGER:
        snprintf(integer, sizeof integer, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        bj_json_append(json, integer);
        break;
    case JSON_REAL:
        bj_json_append_number(json, json_real_value(value));
        break;
    case JSON_TRUE:
        bj_json_append(json, "true");
        break;
    case JSON_FALSE:
        bj_json_append(json, "false");
        break;
    case JSON_NULL:
        bj_json_append(json, "null");
        break;
    }
}

void bj_json_append_key(bj_json_text *json, const char *key) {
    if (json->length > 0 && json->text[json->length - 1] != '{')
        bj_json_append(json, ", ");
    bj_json_append_string(json, key);
    bj_json_append(json, ": ");
}

void bj_json_append_text_member(bj_json_text *json, const char *key, const char *string) {
    bj_json_append_key(json, key);
    bj_json_append_string(json, string);
}

void bj_json_append_number_member(bj_json_text *json, const char *key, double value) {
    bj_json_append_key(json, key);
    bj_json_append_number(json, value);
}

void bj_json_append_u64_member(bj_json_text *json, const char *key, uint64_t value) {
    bj_json_append_key(json, key);
    bj_json_append_u64(json, value);
}

bj_status bj_json_finish(bj_json_text *json, char **text, size_t *length, bj_error *error) {
    if (json->failed || json->text == NULL) {
        bj_json_discard(json);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the JSON text");
    }
    *text = json->text;
    if (length != NULL)
        *length = json->length;
    *json = (bj_json_text){0};
    return BJ_OK;
}

void bj_json_discard(bj_json_text *json) {
    free(json->text);
    *json = (bj_json_text){0};
}
