/* All answers as named variables: what c-header, cmake and sh have in common. */
#ifndef BJ_EMIT_VARIABLES_H
#define BJ_EMIT_VARIABLES_H

#include "emit/emit.h"

typedef struct {
    const char *comment_begin, *comment_end; /* around one line */
    const char *comment_unsafe;              /* characters that could end a comment */
    bool reals_have_point;                   /* 3 GHz is 3.0, since 3 / 2 would be 1 */
    /* One assignment; `text` is a number, or JSON that is not yet quoted for the language. */
    void (*print_number)(FILE *out, const char *name, const char *text);
    void (*print_text)(FILE *out, const char *name, const char *text);
} bj_emit_language;

/* A comment that says where the values come from, then a variable for each answer that the request takes and a comment
 * for each other. Refuses when none is taken, or when two keys would get one name. */
bj_status bj_emit_print_variables(const bj_emit_request *request, const bj_emit_language *language, FILE *out,
                                  bj_error *error) BJ_WARN_UNUSED;
void bj_emit_print_origin(const bj_emit_request *request, const bj_emit_language *language, FILE *out);
/* BJ_ERR_FAILED when the request takes no answer at all. */
bj_status bj_emit_check_any(const bj_emit_request *request, bj_error *error) BJ_WARN_UNUSED;

#endif
