/* For CMake: include() it. */
#include <string.h>

#include "emit/variables.h"

static void print_number(FILE *out, const char *name, const char *text) {
    fprintf(out, "set(%s %s)\n", name, text);
}

static void print_text(FILE *out, const char *name, const char *text) {
    fprintf(out, "set(%s \"", name);
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr("\"\\$", *at) != NULL)
            putc('\\', out);
        putc(*at, out);
    }
    fputs("\")\n", out);
}

static const bj_emit_language language = {
    .comment_begin = "# ",
    .comment_end = "",
    .comment_unsafe = "",
    .print_number = print_number,
    .print_text = print_text,
};

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    return bj_emit_print_variables(request, &language, out, error);
}

const bj_emitter bj_emitter_cmake = {
    .name = "cmake",
    .summary = "variables for CMake's include(), one for each answer that is certain enough",
    .emit = emit,
};
