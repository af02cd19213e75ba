/* For C and C++ programs that are tuned when they are compiled. */
#include <string.h>

#include "emit/variables.h"

static void print_number(FILE *out, const char *name, const char *text) {
    /* A bare -1 after an operator is a trap in a macro. */
    fprintf(out, text[0] == '-' ? "#define %s (%s)\n" : "#define %s %s\n", name, text);
}

static void print_text(FILE *out, const char *name, const char *text) {
    fprintf(out, "#define %s \"", name);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        /* Three octal digits always: a digit may follow. '?' because of trigraphs. */
        if (*at < ' ' || *at >= 0x7f || strchr("\"\\?", *at) != NULL)
            fprintf(out, "\\%03o", *at);
        else
            putc(*at, out);
    }
    fputs("\"\n", out);
}

static const bj_emit_language language = {
    .comment_begin = "/* ",
    .comment_end = " */",
    .comment_unsafe = "*/\\?",
    .reals_have_point = true,
    .print_number = print_number,
    .print_text = print_text,
};

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    fputs("#ifndef BLACKJACK_PROFILE_MACROS_H\n#define BLACKJACK_PROFILE_MACROS_H\n", out);
    bj_status status = bj_emit_print_variables(request, &language, out, error);
    fputs("#endif\n", out);
    return status;
}

const bj_emitter bj_emitter_c_header = {
    .name = "c-header",
    .summary = "macros for C and C++, one for each answer that is certain enough",
    .emit = emit,
};
