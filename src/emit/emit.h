/* Emitters: a profile in the form that compilers, build systems and libraries read.
 *
 * An emitter leaves out rather than guesses: what it writes must be `ok` and of the confidence asked for, unless the
 * reader takes the operating system's claim instead. It asks only for what it uses, and what it leaves out is noted
 * with the reason, in the output where the format has a place for that. To add one: write emit_<name>.c with the
 * descriptor last, add its line to emit_list.h, and its row to docs/emit.md. One more language of variables goes into
 * emit_variables.c. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "profile/placement.h"
#include "profile/profile.h"

typedef struct {
    bj_confidence least_confidence;       /* low: unstable answers and numbers without one are taken, too */
    bool strict;                          /* refuse where something would be left out */
    bool allow_claimed;                   /* what lacks confidence is replaced by what the operating system says */
    bj_cpu_order order;                   /* omp-places, rankfile */
    const char *host;                     /* rankfile */
    const char *type;                     /* blis: "double" or "float" */
    unsigned vector_bytes;                /* blis */
    unsigned kernel_rows, kernel_columns; /* blis: MR and NR; 0: by the model */
} bj_emit_options;

typedef struct bj_emitter bj_emitter;
typedef struct bj_emit_language bj_emit_language;

/* What became of the answers that an emitter asked for. */
typedef struct {
    bj_strings left_out; /* of what the format is made for, one line each: what, the key and why */
    bj_strings unsure;   /* the same of what would only add to it; --strict does without */
    bj_strings claimed;  /* keys of what is taken without being measured */
    bool no_memory;
} bj_emit_notes;

void bj_emit_free_notes(bj_emit_notes *notes);

typedef struct {
    const bj_emitter *emitter;
    const bj_profile *profile;
    bj_emit_options options;
    bj_emit_notes *notes; /* filled in; never NULL */
    /* The probe that answers a key, so that a note can say what to run; NULL for none. */
    const char *(*name_probe)(const char *key);
} bj_emit_request;

struct bj_emitter {
    const char *name;                 /* as the command line takes it */
    const char *summary;              /* one line: for whom, and what it needs */
    const bj_emit_language *language; /* of those that print variables (emit_variables.c); else NULL */
    bool has_comments;                /* the output tells by itself what is left out */
    /* BJ_ERR_FAILED: nothing can be written, the error says why. Write errors are the caller's to find on `out`. */
    bj_status (*emit)(const bj_emit_request *request, FILE *out, bj_error *error);
};

extern const bj_emitter *const bj_emitters[];
extern const size_t bj_emitter_count;
const bj_emitter *bj_emit_find_emitter(const char *name);

/* Whole or not at all; *text is the caller's to free. BJ_ERR_FAILED: refused. */
bj_status bj_emit_to_text(const bj_emit_request *request, char **text, size_t *length, bj_error *error) BJ_WARN_UNUSED;

/* For emitters: what to take of an answer. */
typedef struct {
    const bj_answer *answer;
    double value;
    bool claimed; /* not measured */
} bj_emit_value;

/* Whether the request takes the answer, and from where. Structured ones are never claimed. */
bool bj_emit_accepts(const bj_emit_request *request, const bj_answer *answer, bj_emit_value *value);
/* Why an answer is not taken and what the reader can do about it, in one line; text has BJ_EMIT_REASON_ROOM. */
#define BJ_EMIT_REASON_ROOM 480
void bj_emit_describe_refusal(const bj_emit_request *request, const bj_answer *answer, char *text);

/* A number above 0 by key. False: it is not taken, and why (BJ_EMIT_REASON_ROOM, or NULL) says so with the key. Notes
 * nothing. */
bool bj_emit_find(const bj_emit_request *request, const char *key, bj_emit_value *value, char *why);
/* The same for `what` of the output that cannot be written without it: notes a claim, and what is left out. */
bool bj_emit_want(const bj_emit_request *request, const char *what, const char *key, bj_emit_value *value);
bool bj_emit_want_cache(const bj_emit_request *request, const char *what, unsigned level, const char *quantity,
                        bj_emit_value *value);
/* The same for what only adds to the output: its absence is not worth a word, its uncertainty is. */
bool bj_emit_use(const bj_emit_request *request, const char *key, bj_emit_value *value);
bool bj_emit_use_cache(const bj_emit_request *request, unsigned level, const char *quantity, bj_emit_value *value);
/* An answer of any shape that the output is made of; the error says what is wrong with it. */
bj_status bj_emit_take_answer(const bj_emit_request *request, const char *key, bj_emit_value *value,
                              bj_error *error) BJ_WARN_UNUSED;
/* "what is left out: why", for whoever finds that out by itself. */
void bj_emit_note_left_out(const bj_emit_request *request, const char *what, const char *why);
/* The same of what would only add to the output. */
void bj_emit_note_unsure(const bj_emit_request *request, const char *what, const char *why);
void bj_emit_note_claim(const bj_emit_request *request, const bj_emit_value *value);
/* BJ_ERR_FAILED, since all that the emitter asked for is left out. */
bj_status bj_emit_refuse(const bj_emit_request *request, bj_error *error);
/* BJ_ERR_FAILED when the request takes no answer at all. */
bj_status bj_emit_check_any(const bj_emit_request *request, bj_error *error) BJ_WARN_UNUSED;
/* How many levels of cache there are: 0 where that is not taken, or more than any machine has. Notes nothing. */
unsigned bj_emit_count_levels(const bj_emit_request *request, bj_emit_value *levels, char *why);

/* For blocking: the effective size of a level, rounded down to whole ways where they are known, else to whole lines. */
typedef struct {
    double bytes;
    double part_bytes; /* of a way or a line */
    bool whole_ways;
    bool claimed; /* size or line */
} bj_emit_block;
/* False: the answer is no size of a cache, or there is no line to round to. */
bool bj_emit_find_block(const bj_emit_request *request, const bj_answer *size, bj_emit_block *block, char *key);

/* Text from a profile where a comment or a quoted line is being written: one line, no control characters, and none of
 * the characters of `unsafe`, which become '?'. */
void bj_emit_print_safely(FILE *out, const char *text, const char *unsafe);
