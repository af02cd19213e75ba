/* Reading a JSON object by a table of its fields, with the place of every mistake.
 *
 * A field says its name, kind, range and where the value goes; a field that the table lacks is an error. */
#ifndef BJ_MACHINE_SIM_MACHINE_JSON_H
#define BJ_MACHINE_SIM_MACHINE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct {
    const char *file;
    bj_error *error;
} bj_sim_reader;

/* Where we are, as in "caches[1].ways". */
typedef struct {
    char text[160];
} bj_sim_place;

typedef enum {
    BJ_SIM_FIELD_NUMBER, /* double */
    BJ_SIM_FIELD_COUNT,  /* uint64_t */
    BJ_SIM_FIELD_TEXT,   /* char[], `room` long */
    BJ_SIM_FIELD_CHOICE, /* int: position in `choices` */
    BJ_SIM_FIELD_OBJECT, /* json_t *, borrowed, for a table of its own */
    BJ_SIM_FIELD_LIST,   /* json_t *, borrowed; at most `highest` items */
    BJ_SIM_FIELD_ANY     /* json_t *, borrowed */
} bj_sim_field_kind;

typedef struct {
    const char *name;
    bj_sim_field_kind kind;
    void *target;
    double lowest, highest;     /* of a number or count, both allowed; of a list: its length */
    const char *const *choices; /* NULL-terminated */
    size_t room;
    bool required;
} bj_sim_field;

bj_sim_place bj_sim_place_top(void);
bj_sim_place bj_sim_place_in(const bj_sim_place *place, const char *name);
bj_sim_place bj_sim_place_at(const bj_sim_place *place, size_t position);

/* Fills the error as "FILE: PLACE: expected …" and returns BJ_ERR_INPUT. */
bj_status bj_sim_expected(const bj_sim_reader *reader, const bj_sim_place *place, const char *format, ...)
    BJ_PRINTF(3, 4);
bj_status bj_sim_read_fields(const bj_sim_reader *reader, const bj_sim_place *place, json_t *object,
                             const bj_sim_field *fields, size_t field_count) BJ_WARN_UNUSED;
/* One value by the rules of one field. */
bj_status bj_sim_read_value(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                            const bj_sim_field *field) BJ_WARN_UNUSED;
/* The text of a whole file as one JSON value of limited depth; *root is the caller's to json_decref(). */
bj_status bj_sim_parse_json(const bj_sim_reader *reader, const char *text, size_t length, json_t **root) BJ_WARN_UNUSED;

#endif
