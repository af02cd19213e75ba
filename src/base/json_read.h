/* Reading JSON that may come from anywhere: limits before parsing, checked types, and for every mistake one line with
 * "FILE: place: expected what". */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* How large a JSON text becomes in memory. A parser spends a hundred bytes on what takes two in a file, and recurses
 * with the nesting, so a limit on the file's size alone leaves both open. */
typedef struct {
    size_t depth;      /* of the deepest list or object */
    size_t containers; /* lists and objects */
    size_t members;    /* of objects */
    size_t values;     /* of any kind; at most one too many for each empty list or object */
} bj_json_size;

/* Of a text that may be anything: where it is not JSON the counts mean little, and parsing it says so. */
bj_json_size bj_json_measure(const char *text, size_t length);
/* Behind the string whose opening quote is at `at`; `length` where it does not end. */
size_t bj_json_skip_string(const char *text, size_t length, size_t at);

/* From now on a failed allocation of jansson, of whatever it reads or builds, is noted (base/memory.h). Reading does it
 * by itself. */
void bj_json_watch_memory(void);
/* NULL: it is not JSON, as `trouble` says, or has a name twice; or memory ran out, which is noted. */
json_t *bj_json_load(const char *text, size_t length, json_error_t *trouble);
json_t *bj_json_load_value(const char *text);

/* Where in a file we are, as in "caches[1].ways". */
typedef struct {
    const char *file;
    char place[160]; /* "": the whole */
    bj_error *error;
} bj_json_place;

/* Inside of a place: a member of an object, an item of a list. */
bj_json_place bj_json_enter(const bj_json_place *at, const char *member);
bj_json_place bj_json_enter_item(const bj_json_place *at, size_t index);

/* BJ_ERR_INPUT with "FILE: place.member: expected …"; `member` may be NULL. */
bj_status bj_json_expected(const bj_json_place *at, const char *member, const char *format, ...) BJ_PRINTF(3, 4);

/* The text of a whole file, which holds `what` ("a machine"), within the limits; *root is the caller's to
 * json_decref(). */
bj_status bj_json_parse(const bj_json_place *at, const char *what, const char *text, size_t length,
                        const bj_json_size *most, json_t **root) BJ_WARN_UNUSED;

bj_status bj_json_check_object(const bj_json_place *at, const json_t *value) BJ_WARN_UNUSED;

/* ---- one member after the other; others may be there, too */

typedef enum {
    BJ_TEXT_WHOLE, /* a name: too long is an error */
    BJ_TEXT_CUT    /* for people: cut off where there is no more room */
} bj_text_mode;

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

/* ---- an object by a table of its members; any other is an error */

typedef enum {
    BJ_JSON_NUMBER, /* double */
    BJ_JSON_COUNT,  /* uint64_t */
    BJ_JSON_TEXT,   /* char[], `room` long: printable and not empty */
    BJ_JSON_CHOICE, /* int: position in `choices` */
    BJ_JSON_ANY     /* json_t *, borrowed */
} bj_json_kind;

typedef struct {
    const char *name;
    bj_json_kind kind;
    void *target;               /* stays as it is when the member is absent */
    double lowest, highest;     /* of a number or count, both allowed */
    const char *const *choices; /* NULL-terminated */
    size_t room;
    bool required;
} bj_json_field;

/* An object that is NULL is absent: nothing is read. */
bj_status bj_json_read_fields(const bj_json_place *at, json_t *object, const bj_json_field *fields,
                              size_t field_count) BJ_WARN_UNUSED;
/* One value by the rules of one field, whose name is not read. */
bj_status bj_json_read_value(const bj_json_place *at, json_t *value, const bj_json_field *field) BJ_WARN_UNUSED;

typedef bj_status bj_json_item_reader(const bj_json_place *at, json_t *item, size_t index, void *target);
/* Each item of a list of so many; a list that is NULL has none. */
bj_status bj_json_read_items(const bj_json_place *at, json_t *list, size_t least, size_t most,
                             bj_json_item_reader *read_item, void *target) BJ_WARN_UNUSED;
