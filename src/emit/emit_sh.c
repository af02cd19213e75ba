/* For shells: source it. */
#include "emit/variables.h"

static void print_quoted(FILE *out, char letter) {
    if (letter == '\'')
        fputs("'\\''", out);
    else
        putc(letter, out);
}

static const bj_emit_language language = {
    .first_lines = "",
    .last_lines = "",
    .comment_begin = "# ",
    .comment_end = "",
    .comment_unsafe = "",
    .begin = "",
    .between = "=",
    .end = "",
    .quote = "'",
    .print_quoted = print_quoted,
};

const bj_emitter bj_emitter_sh = {
    .name = "sh",
    .summary = "variables for POSIX shells to source, one for each answer that is certain enough",
    .language = &language,
    .emit = bj_emit_print_variables,
};
