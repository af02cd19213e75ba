/* For CMake: include() it. */
#include <string.h>

#include "emit/variables.h"

static void print_quoted(FILE *out, char letter) {
    if (strchr("\"\\$", letter) != NULL)
        putc('\\', out);
    putc(letter, out);
}

static const bj_emit_language language = {
    .first_lines = "",
    .last_lines = "",
    .comment_begin = "# ",
    .comment_end = "",
    .comment_unsafe = "",
    .begin = "set(",
    .between = " ",
    .end = ")",
    .quote = "\"",
    .print_quoted = print_quoted,
};

const bj_emitter bj_emitter_cmake = {
    .name = "cmake",
    .summary = "variables for CMake's include(), one for each answer that is certain enough",
    .language = &language,
    .emit = bj_emit_print_variables,
};
