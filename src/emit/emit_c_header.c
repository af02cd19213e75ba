/* For C and C++ programs that are tuned when they are compiled. */
#include <string.h>

#include "emit/variables.h"

static void print_quoted(FILE *out, char letter) {
    unsigned char byte = (unsigned char)letter;
    /* Three octal digits always: a digit may follow. '?' because of trigraphs. */
    if (byte < ' ' || byte >= 0x7f || strchr("\"\\?", byte) != NULL)
        fprintf(out, "\\%03o", byte);
    else
        putc(byte, out);
}

static const bj_emit_language language = {
    .first_lines = "#ifndef BLACKJACK_PROFILE_MACROS_H\n#define BLACKJACK_PROFILE_MACROS_H\n",
    .last_lines = "#endif\n",
    .comment_begin = "/* ",
    .comment_end = " */",
    .comment_unsafe = "*/\\?",
    .reals_have_point = true,
    .negatives_in_parentheses = true, /* a bare -1 after an operator is a trap in a macro */
    .begin = "#define ",
    .between = " ",
    .end = "",
    .quote = "\"",
    .print_quoted = print_quoted,
};

const bj_emitter bj_emitter_c_header = {
    .name = "c-header",
    .summary = "macros for C and C++, one for each answer that is certain enough",
    .language = &language,
    .emit = bj_emit_print_variables,
};
