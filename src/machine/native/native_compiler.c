/* Has another compiler build the generated kernels.
 *
 * The flags that keep the loops what the source says come after the user's, so they win. Compilers differ in which of
 * them they know: where all together are refused on an empty file, each is tried alone and the refused ones are left
 * out. */
#include "machine/native/native_compiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codegen/codegen.h"
#include "machine/native/native_machine.h"
#include "platform/process.h"

/* Flags that the kernels must be built with; src/kernels has the same in CMakeLists.txt. -w: the user's warnings are
 * not about our source. */
static const char *const must_have[] = {
    "-w",
    "-fPIC",
    "-fno-lto",
    "-fno-fast-math",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-fno-tree-loop-distribute-patterns",
    "-fno-builtin",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-sanitize=all",
};
enum { FLAG_COUNT = sizeof must_have / sizeof must_have[0], FILES_MOST = 32 };

#define LIMIT_SECONDS 300.0
#define PROBE_LIMIT_SECONDS 20.0

typedef struct {
    const bj_native_compiler *compiler;
    size_t jobs;
    char **words; /* of the command */
    size_t word_count;
    bool is_known[FLAG_COUNT];
    char *folder;
} building;

static char *join_path(const char *folder, const char *name) {
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s/%s", folder, name);
    return path;
}

/* The user's words, those of our flags that are known, then `last`, NULL at the end. *words points to words of others.
 */
static char **make_words(const building *b, const bool *flags, char *const *last) {
    size_t last_count = 0;
    while (last[last_count] != NULL)
        last_count++;
    char **words = calloc(b->word_count + FLAG_COUNT + last_count + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    size_t count = 0;
    for (size_t i = 0; i < b->word_count; i++)
        words[count++] = b->words[i];
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (flags[i])
            words[count++] = (char *)must_have[i];
    for (size_t i = 0; i < last_count; i++)
        words[count++] = last[i];
    return words;
}

static bj_status run_words(const building *b, bj_process *processes, size_t count, double limit_s, bj_error *error) {
    bj_process_rules rules = {.jobs = b->jobs,
                              .limit_s = limit_s,
                              .stop_at_first = true,
                              .is_stopped = b->compiler->is_stopped,
                              .context = b->compiler->context};
    for (size_t i = 0; i < count; i++)
        if (processes[i].words == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a command line");
    return bj_platform_run_processes(processes, count, &rules, error);
}

static bj_status say_failure(const building *b, const bj_process *process, bj_error *error) {
    char output[sizeof process->output];
    memcpy(output, process->output, sizeof output);
    bj_base_hide_controls(output);
    if (process->exit_status == 127 && output[0] == '\0')
        return bj_base_set_error(error, BJ_ERR_INPUT, "--cc: %.80s cannot be started", b->words[0]);
    return bj_base_set_error(error, BJ_ERR_INPUT, "--cc: %.80s failed%s%.160s", b->words[0],
                             output[0] != '\0' ? ": " : "", output);
}

/* Compiles the empty file with those of our flags; *works tells how it went. */
static bj_status try_flags(const building *b, const bool *flags, char *source, bool *works, bj_process *process,
                           bj_error *error) {
    char *last[] = {"-c", source, "-o", "/dev/null", NULL};
    char **words = make_words(b, flags, last);
    *process = (bj_process){.words = words};
    bj_status status = run_words(b, process, 1, PROBE_LIMIT_SECONDS, error);
    *works = status == BJ_OK && process->exit_status == 0;
    free(words);
    return status;
}

static bj_status find_flags(building *b, char *source, bj_error *error) {
    bool works, flags[FLAG_COUNT] = {false};
    bj_process process;
    bj_status status = try_flags(b, flags, source, &works, &process, error);
    if (status != BJ_OK)
        return status;
    if (!works)
        return say_failure(b, &process, error);
    memset(b->is_known, true, sizeof b->is_known);
    status = try_flags(b, b->is_known, source, &works, &process, error);
    for (size_t i = 0; i < FLAG_COUNT && status == BJ_OK && !works; i++) {
        bool works_alone;
        memset(flags, false, sizeof flags);
        flags[i] = true;
        status = try_flags(b, flags, source, &works_alone, &process, error);
        b->is_known[i] = works_alone;
    }
    return status;
}

static bj_status write_source(const building *b, const bj_codegen_file *file, char **path, bj_error *error) {
    char name[64] = "empty.c";
    if (file != NULL)
        bj_codegen_name_file(file, name, sizeof name);
    *path = join_path(b->folder, name);
    FILE *out = *path != NULL ? fopen(*path, "w") : NULL;
    if (out == NULL)
        return bj_base_set_error(error, BJ_ERR_IO, "--cc: %.120s/%s: cannot be written", b->folder, name);
    if (file != NULL)
        bj_codegen_write_file(file, out);
    else
        fputs("extern int bj_nothing;\n", out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return bj_base_set_error(error, BJ_ERR_IO, "--cc: %.120s/%s: cannot be written", b->folder, name);
    return BJ_OK;
}

static bj_status check_all(const building *b, const bj_process *processes, size_t count, bj_error *error) {
    for (size_t i = 0; i < count; i++)
        if (processes[i].is_done && processes[i].exit_status != 0)
            return say_failure(b, &processes[i], error);
    return BJ_OK;
}

/* Writes and compiles every file; paths[2 i] is a source, paths[2 i + 1] its object, the caller's to free. */
static bj_status compile_files(const building *b, char **paths, size_t count, bj_error *error) {
    bj_process processes[FILES_MOST] = {{0}};
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        bj_codegen_file file = bj_codegen_file_at(i);
        char name[32];
        snprintf(name, sizeof name, "%zu.o", i);
        status = write_source(b, &file, &paths[2 * i], error);
        paths[2 * i + 1] = join_path(b->folder, name);
        char *last[] = {"-c", paths[2 * i], "-o", paths[2 * i + 1], NULL};
        processes[i].words = paths[2 * i + 1] != NULL ? make_words(b, b->is_known, last) : NULL;
    }
    if (status == BJ_OK)
        status = run_words(b, processes, count, LIMIT_SECONDS, error);
    if (status == BJ_OK)
        status = check_all(b, processes, count, error);
    for (size_t i = 0; i < count; i++)
        free((void *)processes[i].words);
    return status;
}

static bj_status link_files(const building *b, char *const *paths, size_t count, char *library, bj_error *error) {
    char *last[FILES_MOST + 4] = {"-shared", "-o", library};
    for (size_t i = 0; i < count; i++)
        last[3 + i] = paths[2 * i + 1];
    bj_process process = {.words = make_words(b, b->is_known, last)};
    bj_status status = run_words(b, &process, 1, LIMIT_SECONDS, error);
    if (status == BJ_OK)
        status = check_all(b, &process, 1, error);
    free((void *)process.words);
    return status;
}

static bj_status load_library(const char *path, bj_native_kernels **kernels, bj_error *error) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const bj_generated_family *units = library != NULL ? dlsym(library, "bj_generated_families") : NULL;
    if (units == NULL) {
        const char *reason = dlerror();
        bj_status status = bj_base_set_error(error, BJ_ERR_INPUT, "--cc: what was built cannot be loaded: %.200s",
                                             reason != NULL ? reason : "no reason given");
        if (library != NULL)
            dlclose(library);
        return status;
    }
    return bj_native_open_kernels(units, library, kernels, error);
}

static bj_status build_library(building *b, bj_native_kernels **kernels, bj_error *error) {
    size_t count = bj_codegen_count_files();
    char *paths[2 * FILES_MOST] = {NULL}, *empty = NULL, *library = join_path(b->folder, "kernels.so");
    bj_status status = library != NULL && count <= FILES_MOST
                           ? write_source(b, NULL, &empty, error)
                           : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu paths", count);
    if (status == BJ_OK)
        status = find_flags(b, empty, error);
    if (status == BJ_OK)
        status = compile_files(b, paths, count, error);
    if (status == BJ_OK)
        status = link_files(b, paths, count, library, error);
    if (status == BJ_OK)
        status = load_library(library, kernels, error);
    for (size_t i = 0; i < 2 * FILES_MOST; i++)
        free(paths[i]);
    free(empty);
    free(library);
    return status;
}

/* What the compiler calls itself; one that does not say is known by its command. */
static bj_status describe_build(const building *b, bj_native_build *build, bj_error *error) {
    char *words[] = {b->words[0], "--version", NULL};
    bj_process process = {.words = words};
    BJ_TRY(run_words(b, &process, 1, PROBE_LIMIT_SECONDS, error));
    bool says = process.exit_status == 0 && process.output[0] != '\0';
    snprintf(build->version, sizeof build->version, "%.95s", says ? process.output : b->words[0]);
    bj_base_hide_controls(build->version);
    size_t used = 0;
    build->flags[0] = '\0';
    for (size_t i = 1; i < b->word_count + FLAG_COUNT; i++) {
        const char *word = i < b->word_count ? b->words[i] : must_have[i - b->word_count];
        if ((i >= b->word_count && !b->is_known[i - b->word_count]) || strchr(word, '/') != NULL)
            continue;
        int length = snprintf(build->flags + used, sizeof build->flags - used, "%s%s", used > 0 ? " " : "", word);
        if (length < 0 || (size_t)length >= sizeof build->flags - used)
            break;
        used += (size_t)length;
    }
    bj_base_hide_controls(build->flags);
    return BJ_OK;
}

bj_status bj_machine_use_compiler(bj_machine *machine, const bj_native_compiler *compiler, bj_native_build *build,
                                  bj_error *error) {
    building b = {.compiler = compiler, .jobs = machine->facts.cpu_count};
    bj_native_kernels *kernels = NULL;
    if (machine->facts.simulated)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--cc: a simulated machine runs no compiled code");
    bj_status status = bj_platform_split_words(compiler->command, &b.words, &b.word_count, error);
    if (status == BJ_OK && b.word_count == 0)
        status = bj_base_set_error(error, BJ_ERR_USAGE, "--cc: expected a compiler, with its flags");
    if (status == BJ_OK)
        status = bj_platform_make_folder(&b.folder, error);
    if (status == BJ_OK) {
        status = build_library(&b, &kernels, error);
        /* What is loaded stays loaded without its file. */
        bj_platform_remove_folder(b.folder);
    }
    if (status == BJ_OK)
        status = describe_build(&b, build, error);
    if (status == BJ_OK) {
        bj_native_machine *self = machine->self;
        bj_native_close_kernels(self->kernels);
        self->kernels = kernels;
    } else {
        bj_native_close_kernels(kernels);
    }
    bj_platform_free_words(b.words);
    free(b.folder);
    return status;
}
