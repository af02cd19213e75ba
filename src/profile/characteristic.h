/* Characteristics: answers with unit, interval, confidence, and the reason where there is none. */
#ifndef BJ_PROFILE_CHARACTERISTIC_H
#define BJ_PROFILE_CHARACTERISTIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef enum {
    BJ_ANSWER_OK,
    BJ_ANSWER_UNSTABLE,
    BJ_ANSWER_UNDETERMINED,
    BJ_ANSWER_UNSUPPORTED,
    BJ_ANSWER_FAILED
} bj_answer_status;
typedef enum { BJ_CONFIDENCE_NONE, BJ_CONFIDENCE_LOW, BJ_CONFIDENCE_MEDIUM, BJ_CONFIDENCE_HIGH } bj_confidence;

typedef struct {
    char key[64];
    char unit[16];
    bj_answer_status status;
    double value;     /* meaningful when the status is ok or unstable and structured is NULL */
    char *structured; /* JSON text of a value that is not one number, owned; NULL otherwise */
    bool has_interval;
    double interval[2];
    bj_confidence confidence; /* none: not in the JSON */
    bool has_p;
    double p;
    char reason[240]; /* when not ok */
    char method[48];
    bool has_claimed;
    double claimed;
    char evidence[4][48]; /* ids of curves */
    size_t evidence_count;
} bj_characteristic;

typedef struct {
    bj_characteristic *items;
    size_t count, room;
} bj_answers;

void bj_answers_free(bj_answers *answers);
const bj_characteristic *bj_answers_find(const bj_answers *answers, const char *key);
/* True and the number when the key is there with a value (ok or unstable). */
bool bj_answers_get_number(const bj_answers *answers, const char *key, double *value);
/* Adds, or replaces the one of the same key; returned cleared but for the key and unit. */
bj_status bj_answers_put(bj_answers *answers, const char *key, const char *unit, bj_characteristic **put,
                         bj_error *error) BJ_WARN_UNUSED;
void bj_answers_remove(bj_answers *answers, const char *key);
/* Whether it answers at all: ok or unstable. */
bool bj_characteristic_has_value(const bj_characteristic *answer);
void bj_characteristic_cite(bj_characteristic *answer, const char *curve_id);

const char *bj_answer_status_name(bj_answer_status status);
const char *bj_confidence_name(bj_confidence confidence);
/* False when the name is none of ours. */
bool bj_answer_status_parse(const char *name, bj_answer_status *status);
bool bj_confidence_parse(const char *name, bj_confidence *confidence);

#endif
