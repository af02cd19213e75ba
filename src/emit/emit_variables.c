/* For what reads variables: C and C++ programs that are tuned when they are compiled, CMake's include(), shells. All
 * answers, one variable each, with a comment that says how sure it is; what is not taken is a comment alone. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "emit/emit.h"

enum { NAME_ROOM = 80 };

struct bj_emit_language {
    const char *first_lines, *last_lines;
    const char *comment_begin, *comment_end; /* around one line */
    const char *comment_unsafe;              /* characters that could end a comment */
    bool is_c;                               /* 3 GHz is 3.0, since 3 / 2 would be 1; -1 is (-1), safe in a macro */
    /* An assignment is begin, name, between, value, end; a text has the quote on either side. */
    const char *begin, *between, *end, *quote;
    void (*print_quoted)(FILE *out, char letter); /* one letter of a text in quotes */
};

/* "BLACKJACK_CACHE_L1_SIZE_BYTES"; name has NAME_ROOM. */
static void name_variable(const char *key, char *name) {
    size_t used = (size_t)snprintf(name, NAME_ROOM, "BLACKJACK_");
    for (; *key != '\0' && used + 1 < NAME_ROOM; key++) {
        unsigned char letter = (unsigned char)*key;
        bool plain = letter < 0x80 && isalnum(letter);
        name[used++] = (char)(plain ? toupper(letter) : '_');
    }
    name[used] = '\0';
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

/* a.b and a_b would both become A_B, and one would silently win. */
static bj_status check_names(const bj_emit_request *request, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    char(*names)[NAME_ROOM] = calloc(answers->count + 1, sizeof *names);
    if (names == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu names", answers->count);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < answers->count; i++)
        name_variable(answers->items[i].key, names[i]);
    qsort(names, answers->count, sizeof *names, compare_names);
    for (size_t i = 1; i < answers->count && status == BJ_OK; i++)
        if (strcmp(names[i], names[i - 1]) == 0)
            status = bj_base_set_error(error, BJ_ERR_FAILED, "%s: two keys of the profile would both become %s",
                                       request->emitter->name, names[i]);
    free(names);
    return status;
}

static void print_comment(const bj_emit_language *language, FILE *out, const char *label, const char *text) {
    fprintf(out, "%s%s", language->comment_begin, label);
    bj_emit_print_safely(out, text, language->comment_unsafe);
    fprintf(out, "%s\n", language->comment_end);
}

static void print_origin(const bj_emit_request *request, FILE *out) {
    const bj_profile *profile = request->profile;
    char line[400];
    snprintf(line, sizeof line, "Made by 'blackjack emit %s' from a profile of %s, %s (%s).", request->emitter->name,
             profile->environment.cpu[0] != '\0' ? profile->environment.cpu : "an unnamed cpu",
             profile->environment.os[0] != '\0' ? profile->environment.os : "an unnamed system",
             profile->created[0] != '\0' ? profile->created : "no date");
    print_comment(request->emitter->language, out, "", line);
}

/* What comes in whole numbers by its nature; all else is measured on a scale and is whole by chance. */
static bool is_counted(const char *unit) {
    static const char *const units[] = {"", "bytes", "count", "ways", "entries", "lines", "pages", "levels", "cpus"};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static void print_number(const bj_emit_language *language, FILE *out, double value, const char *unit) {
    char number[BJ_NUMBER_ROOM];
    bj_data_format_number(value, number);
    bool whole = number[strspn(number, "-0123456789")] == '\0';
    bool in_parentheses = language->is_c && number[0] == '-';
    fprintf(out, "%s%s%s%s", in_parentheses ? "(" : "", number,
            language->is_c && whole && !is_counted(unit) ? ".0" : "", in_parentheses ? ")" : "");
}

/* "bytes; measured, 95%: 32768 .. 34816, medium", or that it is only claimed. */
static void print_note(const bj_emit_language *language, FILE *out, const bj_emit_value *value) {
    const bj_answer *answer = value->answer;
    char low[BJ_NUMBER_ROOM], high[BJ_NUMBER_ROOM], interval[2 * BJ_NUMBER_ROOM + 16] = "", line[300];
    if (answer->has_interval && answer->structured == NULL) {
        bj_data_format_number(answer->interval[0], low);
        bj_data_format_number(answer->interval[1], high);
        snprintf(interval, sizeof interval, ", 95%%: %s .. %s", low, high);
    }
    bool told = answer->confidence != BJ_CONFIDENCE_NONE;
    const char *semicolon = answer->unit[0] != '\0' ? "; " : "";
    if (value->claimed)
        snprintf(line, sizeof line, "%s%sclaimed by the operating system, not measured", answer->unit, semicolon);
    else
        snprintf(line, sizeof line, "%s%s%s%s%s%s", answer->unit, semicolon,
                 answer->status == BJ_ANSWER_OK ? "measured" : "unstable", interval, told ? ", " : "",
                 told ? bj_data_name_confidence(answer->confidence) : "");
    print_comment(language, out, "", line);
}

/* Beside the raw size what a loop is to be blocked for. */
static void print_block(const bj_emit_request *request, const bj_answer *size, FILE *out) {
    const bj_emit_language *language = request->emitter->language;
    bj_emit_block block;
    char key[sizeof size->key], name[NAME_ROOM], size_name[NAME_ROOM], line[200];
    if (!bj_emit_find_block(request, size, &block, key))
        return;
    name_variable(key, name);
    name_variable(size->key, size_name);
    snprintf(line, sizeof line, "bytes; %s rounded down to whole %s of %.0f bytes%s", size_name,
             block.whole_ways ? "ways" : "lines", block.part_bytes, block.claimed ? "; claimed, not measured" : "");
    print_comment(language, out, "", line);
    fprintf(out, "%s%s%s", language->begin, name, language->between);
    print_number(language, out, block.bytes, "bytes");
    fprintf(out, "%s\n", language->end);
}

static void print_answer(const bj_emit_request *request, const bj_answer *answer, FILE *out) {
    const bj_emit_language *language = request->emitter->language;
    char name[NAME_ROOM], label[NAME_ROOM + 20], reason[BJ_EMIT_REASON_ROOM];
    bj_emit_value value;
    name_variable(answer->key, name);
    if (!bj_emit_accepts(request, answer, &value)) {
        bj_emit_describe_refusal(request, answer, reason);
        snprintf(label, sizeof label, "%s is left out: ", name);
        print_comment(language, out, label, reason);
        bj_emit_note_left_out(request, name, reason);
        return;
    }
    bj_emit_note_claim(request, &value);
    print_note(language, out, &value);
    fprintf(out, "%s%s%s", language->begin, name, language->between);
    if (value.claimed || answer->structured == NULL) {
        print_number(language, out, value.value, answer->unit);
    } else {
        fputs(language->quote, out);
        for (const char *at = answer->structured; *at != '\0'; at++)
            language->print_quoted(out, *at);
        fputs(language->quote, out);
    }
    fprintf(out, "%s\n", language->end);
    print_block(request, answer, out);
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    bj_status status = bj_emit_check_any(request, error);
    if (status == BJ_OK)
        status = check_names(request, error);
    if (status != BJ_OK)
        return status;
    fputs(request->emitter->language->first_lines, out);
    print_origin(request, out);
    for (size_t i = 0; i < answers->count; i++)
        print_answer(request, &answers->items[i], out);
    fputs(request->emitter->language->last_lines, out);
    return BJ_OK;
}

static void print_c(FILE *out, char letter) {
    unsigned char byte = (unsigned char)letter;
    /* Three octal digits always: a digit may follow. '?' because of trigraphs. */
    if (byte < ' ' || byte >= 0x7f || strchr("\"\\?", byte) != NULL)
        fprintf(out, "\\%03o", byte);
    else
        putc(byte, out);
}

static void print_cmake(FILE *out, char letter) {
    if (strchr("\"\\$@", letter) != NULL)
        putc('\\', out);
    putc(letter, out);
}

static void print_sh(FILE *out, char letter) {
    if (letter == '\'')
        fputs("'\\''", out);
    else
        putc(letter, out);
}

static const bj_emit_language c_language = {
    .first_lines = "#ifndef BLACKJACK_PROFILE_MACROS_H\n#define BLACKJACK_PROFILE_MACROS_H\n",
    .last_lines = "#endif\n",
    .comment_begin = "/* ",
    .comment_end = " */",
    .comment_unsafe = "*\\", /* without the star nothing begins or ends a comment */
    .is_c = true,
    .begin = "#define ",
    .between = " ",
    .end = "",
    .quote = "\"",
    .print_quoted = print_c,
};

static const bj_emit_language cmake_language = {"", "", "# ", "", "", false, "set(", " ", ")", "\"", print_cmake};
static const bj_emit_language sh_language = {"", "", "# ", "", "", false, "", "=", "", "'", print_sh};

const bj_emitter bj_emitter_c_header = {
    .name = "c-header",
    .summary = "macros for C and C++, one for each answer of enough confidence",
    .language = &c_language,
    .has_comments = true,
    .emit = emit,
};

const bj_emitter bj_emitter_cmake = {
    .name = "cmake",
    .summary = "variables for CMake's include(), one for each answer of enough confidence",
    .language = &cmake_language,
    .has_comments = true,
    .emit = emit,
};

const bj_emitter bj_emitter_sh = {
    .name = "sh",
    .summary = "variables for POSIX shells to source, one for each answer of enough confidence",
    .language = &sh_language,
    .has_comments = true,
    .emit = emit,
};
