/* All answers as named variables: what c-header, cmake and sh have in common. */
#ifndef BJ_EMIT_VARIABLES_H
#define BJ_EMIT_VARIABLES_H

#include "emit/emit.h"

struct bj_emit_language {
    const char *first_lines, *last_lines;
    const char *comment_begin, *comment_end; /* around one line */
    const char *comment_unsafe;              /* characters that could end a comment */
    bool reals_have_point;                   /* 3 GHz is 3.0, since 3 / 2 would be 1 */
    bool negatives_in_parentheses;           /* -1 is (-1) */
    /* An assignment is begin, name, between, value, end; text has the quote on either side. */
    const char *begin, *between, *end, *quote;
    void (*print_quoted)(FILE *out, char letter); /* one letter of a text in quotes */
};

/* For bj_emitter.emit, where the emitter has a language: a comment that says where the values come from, then a
 * variable for each answer that the request takes and a comment for each other. Refuses when none is taken, or when two
 * keys would get one name. */
bj_status bj_emit_print_variables(const bj_emit_request *request, FILE *out, bj_error *error) BJ_WARN_UNUSED;
/* BJ_ERR_FAILED when the request takes no answer at all. */
bj_status bj_emit_check_any(const bj_emit_request *request, bj_error *error) BJ_WARN_UNUSED;

#endif
