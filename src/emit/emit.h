/* Emitters: a profile in the form that compilers, build systems and libraries read.
 *
 * An emitter refuses rather than guesses: what it needs must be `ok` and of the confidence asked for, unless the
 * reader takes the operating system's claim instead. To add one: write emit_<name>.c with the descriptor last, add its
 * line to emit_list.h, and its row to docs/emit.md. One more language of variables goes into emit_variables.c. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"

typedef enum { BJ_ORDER_NEAR, BJ_ORDER_SPREAD } bj_cpu_order;

typedef struct {
    bj_confidence least_confidence;       /* low: unstable answers and numbers without one are taken, too */
    bool allow_claimed;                   /* what lacks confidence is replaced by what the operating system says */
    bj_cpu_order order;                   /* omp-places, rankfile */
    const char *host;                     /* rankfile */
    const char *type;                     /* blis: "double" or "float" */
    unsigned vector_bytes;                /* blis */
    unsigned kernel_rows, kernel_columns; /* blis: MR and NR; 0: by the model */
} bj_emit_options;

typedef struct bj_emitter bj_emitter;
typedef struct bj_emit_language bj_emit_language;

typedef struct {
    const bj_emitter *emitter;
    const bj_profile *profile;
    bj_emit_options options;
} bj_emit_request;

struct bj_emitter {
    const char *name;                 /* as the command line takes it */
    const char *summary;              /* one line: for whom, and what it needs */
    const bj_emit_language *language; /* of those that print variables (emit_variables.c); else NULL */
    /* BJ_ERR_FAILED: refused, the error says why. Write errors are the caller's to find on `out`. */
    bj_status (*emit)(const bj_emit_request *request, FILE *out, bj_error *error);
};

extern const bj_emitter *const bj_emitters[];
extern const size_t bj_emitter_count;
const bj_emitter *bj_emit_find_emitter(const char *name);

/* Whole or not at all; *text is the caller's to free. */
bj_status bj_emit_to_text(const bj_emit_request *request, char **text, size_t *length, bj_error *error) BJ_WARN_UNUSED;

/* For emitters: what to take of an answer. */
typedef struct {
    const bj_answer *answer;
    double value;
    bool claimed; /* not measured */
} bj_emit_value;

/* Whether the request takes the answer, and from where. Structured ones are never claimed. */
bool bj_emit_accepts(const bj_emit_request *request, const bj_answer *answer, bj_emit_value *value);
/* The same by key; the error says what is wrong with it and what the reader can do. */
bj_status bj_emit_take_answer(const bj_emit_request *request, const char *key, bj_emit_value *value,
                              bj_error *error) BJ_WARN_UNUSED;
/* An answer that must be a number. */
bj_status bj_emit_take(const bj_emit_request *request, const char *key, bj_emit_value *value,
                       bj_error *error) BJ_WARN_UNUSED;
/* BJ_ERR_FAILED when the request takes no answer at all. */
bj_status bj_emit_check_any(const bj_emit_request *request, bj_error *error) BJ_WARN_UNUSED;
/* A key with a level in it: cache.L<level>.<what>. */
bj_status bj_emit_take_cache(const bj_emit_request *request, unsigned level, const char *what, bj_emit_value *value,
                             bj_error *error) BJ_WARN_UNUSED;
/* cache.levels, which must be a whole number from `least` to 16, more than any machine has. */
bj_status bj_emit_take_levels(const bj_emit_request *request, unsigned least, bj_emit_value *levels,
                              bj_error *error) BJ_WARN_UNUSED;

/* Why an answer is not taken, in one line; text has BJ_EMIT_REASON_ROOM. */
#define BJ_EMIT_REASON_ROOM 400
void bj_emit_describe_refusal(const bj_emit_request *request, const bj_answer *answer, char *text);
/* Text from a profile where a comment or a quoted line is being written: one line, no control characters, and none of
 * the characters of `unsafe`, which become '?'. */
void bj_emit_print_safely(FILE *out, const char *text, const char *unsafe);
