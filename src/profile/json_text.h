/* JSON text, appended piece by piece. Reading is jansson's; the text is ours because the profile wants one answer
 * a line, one round a line, and numbers as data/number.h has them, none of which jansson's writer offers. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    char *text;
    size_t length, room;
    bool failed; /* out of memory: later calls do nothing, bj_json_finish() says so */
} bj_json_text;

void bj_json_append(bj_json_text *json, const char *raw);
/* Quoted and escaped; bytes that are not UTF-8 (a cpu's model name may hold any) become U+FFFD. */
void bj_json_append_string(bj_json_text *json, const char *string);
void bj_json_append_number(bj_json_text *json, double value);
void bj_json_append_u64(bj_json_text *json, uint64_t value);
/* "[1, 2]" */
void bj_json_append_numbers(bj_json_text *json, const double *values, size_t count);
/* Compact, members in their order. */
void bj_json_append_value(bj_json_text *json, const json_t *value);
/* "key": with a comma before it unless it is the object's first. */
void bj_json_append_key(bj_json_text *json, const char *key);
/* Members with their key. */
void bj_json_append_text_member(bj_json_text *json, const char *key, const char *string);
void bj_json_append_number_member(bj_json_text *json, const char *key, double value);
void bj_json_append_u64_member(bj_json_text *json, const char *key, uint64_t value);

/* *text is the caller's to free; the builder is empty afterwards in any case. */
bj_status bj_json_finish(bj_json_text *json, char **text, size_t *length, bj_error *error) BJ_WARN_UNUSED;
void bj_json_discard(bj_json_text *json);
