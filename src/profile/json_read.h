/* Members of JSON objects with checked types; every complaint is "FILE: place: expected what". */
#ifndef BJ_PROFILE_JSON_READ_H
#define BJ_PROFILE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    const char *file;
    const char *place; /* of the object that is being read, "" for the whole */
    bj_error *error;
} bj_json_place;

typedef enum {
    BJ_TEXT_WHOLE, /* a name: too long is an error */
    BJ_TEXT_CUT    /* for people: cut off where there is no more room */
} bj_text_mode;

/* BJ_ERR_INPUT with "FILE: place.member: expected …"; `member` may be NULL. */
bj_status bj_json_expected(const bj_json_place *at, const char *member, const char *format, ...) BJ_PRINTF(3, 4);
/* Errors are one line, though the names in the file that they cite may hold anything. */
void bj_json_make_line(bj_error *error);
bj_status bj_json_check_object(const bj_json_place *at, const json_t *value) BJ_WARN_UNUSED;

/* These leave *field as it is when the member is absent; the bj_json_require_… ones complain. */
bj_status bj_json_read_text(const bj_json_place *at, const json_t *object, const char *member, bj_text_mode mode,
                            char *field, size_t room) BJ_WARN_UNUSED;
bj_status bj_json_require_text(const bj_json_place *at, const json_t *object, const char *member, bj_text_mode mode,
                               char *field, size_t room) BJ_WARN_UNUSED;
/* *here (may be NULL) says whether it was there; null counts as absent only where `nullable`. */
bj_status bj_json_read_number(const bj_json_place *at, const json_t *object, const char *member, bool nullable,
                              double *field, bool *here) BJ_WARN_UNUSED;
bj_status bj_json_read_u64(const bj_json_place *at, const json_t *object, const char *member, uint64_t largest,
                           uint64_t *field) BJ_WARN_UNUSED;

#endif
