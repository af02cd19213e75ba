#include "timer/build.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/process.h"

#define LIMIT_SECONDS 120.0
#define SIGNATURE "double %s(size_t n, void *const *operands)"
enum { MORE_WORDS = 10 };

typedef struct {
    const bj_timer_build *build;
    char **words;
    size_t word_count;
} compiling;

/* Runs the compiler with these words behind the user's. */
static bj_status compile(const compiling *c, char *const *more, bj_process *process, bj_error *error) {
    char **words = calloc(c->word_count + MORE_WORDS + 1, sizeof *words);
    if (words == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a command line");
    memcpy(words, c->words, c->word_count * sizeof *words);
    for (size_t i = 0; i < MORE_WORDS && more[i] != NULL; i++)
        words[c->word_count + i] = more[i];
    *process = (bj_process){.words = words};
    bj_process_rules rules = {
        .jobs = 1, .limit_s = LIMIT_SECONDS, .is_stopped = c->build->is_stopped, .context = c->build->context};
    bj_status status = bj_platform_run_processes(process, 1, &rules, error);
    bj_base_hide_controls(process->output);
    free(words);
    return status;
}

static bj_status say_failure(const compiling *c, const char *source, const bj_process *process, bj_error *error) {
    if (process->exit_status == 127 && process->output[0] == '\0')
        return bj_base_set_error(error, BJ_ERR_INPUT, "--cc: %.80s cannot be started", c->words[0]);
    return bj_base_set_error(error, BJ_ERR_INPUT, "%.80s: %.60s failed%s%.200s", source, c->words[0],
                             process->output[0] != '\0' ? ": " : "", process->output);
}

/* Whether the compiler takes the user's source with this line behind it. */
static bj_status try_line(const compiling *c, const char *source, const char *line, char *include, bool *works,
                          bj_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/signature.c", c->build->folder);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return bj_base_set_error(error, BJ_ERR_IO, "%.200s: cannot be written", path);
    fprintf(out, "#include <stddef.h>\n#include \"%s\"\n%s\n", source, line);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return bj_base_set_error(error, BJ_ERR_IO, "%.200s: cannot be written", path);
    char *more[] = {"-w", "-fsyntax-only", include, path, NULL};
    bj_process process;
    BJ_TRY(compile(c, more, &process, error));
    *works = process.exit_status == 0;
    return BJ_OK;
}

/* Has the compiler compare the symbol's type with ours, which a shared object no longer tells. */
static bj_status check_signature(const compiling *c, const char *source, const char *symbol, char *include,
                                 bj_error *error) {
    char whole[PATH_MAX], line[400];
    bool works = true, is_there = true;
    if (realpath(source, whole) == NULL || strpbrk(whole, "\"\\\n") != NULL)
        return BJ_OK; /* no #include can name it */
    snprintf(
        line, sizeof line,
        "_Static_assert(__builtin_types_compatible_p(__typeof__(&%.80s), double (*)(size_t, void *const *)), \"\");",
        symbol);
    BJ_TRY(try_line(c, whole, line, include, &works, error));
    if (works)
        return BJ_OK;
    snprintf(line, sizeof line, "void *bj_signature(void) { return (void *)&%.80s; }", symbol);
    BJ_TRY(try_line(c, whole, line, include, &is_there, error));
    if (!is_there)
        return bj_base_set_error(error, BJ_ERR_INPUT, "%.80s: has no function '%.40s'", source, symbol);
    return bj_base_set_error(error, BJ_ERR_INPUT, "%.80s: '%.40s' has another signature than " SIGNATURE, source,
                             symbol, symbol);
}

static bool is_name(const char *symbol) {
    for (const char *at = symbol; *at != '\0'; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
              (at > symbol && *at >= '0' && *at <= '9')))
            return false;
    return symbol[0] != '\0';
}

static bj_status build(const compiling *c, const char *source, const char *symbol, char *library, bj_error *error) {
    char include[PATH_MAX], path[PATH_MAX];
    snprintf(include, sizeof include, "-I%s", c->build->include != NULL ? c->build->include : c->build->folder);
    /* A file, also where its name begins like an option. */
    snprintf(path, sizeof path, "%s%s", source[0] == '-' ? "./" : "", source);
    char *more[] = {"-fPIC", "-shared", include, path, "-o", library, "-lm", NULL};
    bj_process process;
    if (!is_name(symbol))
        return bj_base_set_error(error, BJ_ERR_USAGE, "'%.40s' is no name of a C function", symbol);
    BJ_TRY(compile(c, more, &process, error));
    if (process.exit_status != 0)
        return say_failure(c, source, &process, error);
    return check_signature(c, source, symbol, include, error);
}

bj_status bj_timer_build_kernel(const bj_timer_build *how, const char *source, const char *symbol, char **library,
                                bj_error *error) {
    compiling c = {.build = how};
    size_t room = strlen(how->folder) + 40;
    *library = malloc(room);
    if (*library == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
    snprintf(*library, room, "%s/kernel%u.so", how->folder, how->number);
    bj_status status = bj_platform_split_words(how->command != NULL ? how->command : BJ_TIMER_COMPILER, &c.words,
                                               &c.word_count, error);
    if (status == BJ_OK && c.word_count == 0)
        status = bj_base_set_error(error, BJ_ERR_USAGE, "--cc: expected a compiler, with its flags");
    if (status == BJ_OK)
        status = build(&c, source, symbol, *library, error);
    bj_platform_free_words(c.words);
    if (status != BJ_OK) {
        free(*library);
        *library = NULL;
    }
    return status;
}
