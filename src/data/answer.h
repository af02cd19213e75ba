/* Answers, "characteristics" in the profile: values with unit, interval, confidence, and the reason where there is
 * none. */
#pragma once

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
    char probe[24]; /* that gave it; empty: handed over by a person */
    bj_answer_status status;
    double value;     /* meaningful when the status is ok or unstable and structured is NULL */
    char *structured; /* JSON text of a value that is not one number, owned; NULL otherwise */
    bool has_interval;
    double interval[2];
    bj_confidence confidence; /* none: not in the JSON */
    bool has_p;
    double p;
    char reason[240]; /* when not ok */
    char caveat[160]; /* why it cannot be surer than it is, however rounds agree; empty: it could be */
    char method[48];
    char pages[8]; /* "huge" or "base": that the walk had; empty: they do not matter, or are not known */
    bool has_claimed;
    double claimed;
    char evidence[4][48]; /* ids of curves */
    size_t evidence_count;
} bj_answer;

typedef struct {
    bj_answer *items;
    size_t count, room;
} bj_answers;

void bj_data_free_answers(bj_answers *answers);
const bj_answer *bj_data_find_answer(const bj_answers *answers, const char *key);
/* True and the number when the key is there with a value (ok or unstable). */
bool bj_data_get_number(const bj_answers *answers, const char *key, double *value);
/* Adds, or replaces the one of the same key; returned cleared but for the key and unit. */
bj_status bj_data_put_answer(bj_answers *answers, const char *key, const char *unit, bj_answer **put,
                             bj_error *error) BJ_WARN_UNUSED;
/* Whether it answers at all: ok or unstable. */
bool bj_data_has_value(const bj_answer *answer);
/* Whether an interval is wider than from value (1 - t) to value (1 + t), compared by the ratio of its ends. */
bool bj_data_is_wide(const double interval[2], double tolerance);
void bj_data_cite_curve(bj_answer *answer, const char *curve_id);

const char *bj_data_name_status(bj_answer_status status);
const char *bj_data_name_confidence(bj_confidence confidence);
/* False when the name is none of ours. */
bool bj_data_parse_status(const char *name, bj_answer_status *status);
bool bj_data_parse_confidence(const char *name, bj_confidence *confidence);
