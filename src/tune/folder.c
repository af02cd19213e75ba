#include "tune/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/output.h"
#include "base/text_stream.h"

/* The first words of a Makefile of ours, by which a folder is known again. */
#define MAKE_HEAD "# Written by blackjack tune."

void bj_tune_name_kernel(const bj_tune_job *job, size_t n, char name[BJ_TUNE_NAME_ROOM]) {
    if (n > 0)
        snprintf(name, BJ_TUNE_NAME_ROOM, "%.15s_%zu", job->name, n);
    else
        snprintf(name, BJ_TUNE_NAME_ROOM, "%.15s", job->name);
}

static void write_head(FILE *out, const bj_tune_job *job, const char *what) {
    fprintf(out,
            "/* C %s= A * B in %s, columns contiguous%s. Written by blackjack tune; needs a compiler with the vector\n"
            " * extensions of gcc or clang, and nothing else.\n",
            job->subtract ? "-" : "+", bj_tune_name_type(job->machine.type), what);
    for (size_t i = 0; i < job->model.reason_count; i++)
        fprintf(out, " * %s\n", job->model.reasons[i]);
    fputs(" */\n", out);
}

void bj_tune_write_general_file(FILE *out, const bj_tune_job *job, bj_tune_purpose purpose) {
    bj_tune_kernel kernel = bj_tune_plan_general(&job->machine, &job->model, job->subtract);
    char name[BJ_TUNE_NAME_ROOM];
    bj_tune_name_kernel(job, 0, name);
    kernel.name = name;
    write_head(out, job, ", for any size");
    if (purpose == BJ_TUNE_FOR_USERS)
        fprintf(out, "#include \"%s.h\"\n\n", job->name);
    bj_tune_write_prelude(out, kernel.type, kernel.lanes);
    bj_tune_write_general(out, &kernel);
    if (purpose == BJ_TUNE_FOR_TIMING)
        bj_tune_write_timed(out, &kernel);
}

void bj_tune_write_fixed_file(FILE *out, const bj_tune_job *job, bj_tune_purpose purpose) {
    write_head(out, job, ", each for one size");
    if (purpose == BJ_TUNE_FOR_USERS)
        fprintf(out, "#include \"%s.h\"\n\n", job->name);
    bj_tune_write_prelude(out, job->machine.type, job->machine.lanes);
    for (size_t i = 0; i < job->size_count; i++) {
        bj_tune_kernel kernel = bj_tune_plan_fixed(&job->machine, job->subtract, job->sizes[i]);
        char name[BJ_TUNE_NAME_ROOM];
        bj_tune_name_kernel(job, job->sizes[i], name);
        kernel.name = name;
        bj_tune_write_fixed(out, &kernel);
        if (purpose == BJ_TUNE_FOR_TIMING)
            bj_tune_write_timed(out, &kernel);
    }
}

void bj_tune_write_rivals_file(FILE *out, const bj_tune_job *job) {
    const char *type = bj_tune_name_type(job->machine.type);
    bj_tune_kernel kernel = bj_tune_plan_2012(&job->model, job->machine.type, job->subtract);
    char name[BJ_TUNE_NAME_ROOM];
    snprintf(name, sizeof name, "%.15s_2012", job->name);
    kernel.name = name;
    bj_tune_write_prelude(out, kernel.type, kernel.lanes);
    bj_tune_write_general(out, &kernel);
    bj_tune_write_timed(out, &kernel);
    fprintf(out,
            "\ndouble %s_plain_timed(size_t n, void *const *operands) {\n"
            "    const %s *a = operands[0], *b = operands[1];\n    %s *c = operands[2];\n"
            "    for (size_t i = 0; i < n; i++)\n        for (size_t j = 0; j < n; j++)\n"
            "            for (size_t k = 0; k < n; k++)\n"
            "                c[i + j * n] %s= a[i + k * n] * b[k + j * n];\n"
            "    return c[0];\n}\n",
            job->name, type, type, job->subtract ? "-" : "+");
}

static void write_header_file(FILE *out, const bj_tune_job *job) {
    char name[BJ_TUNE_NAME_ROOM];
    bj_tune_kernel kernel = {.name = job->name, .type = job->machine.type};
    write_head(out, job, "");
    fputs("#pragma once\n\n#include <stddef.h>\n\n#ifdef __cplusplus\n#define restrict __restrict\nextern \"C\" "
          "{\n#endif\n\n",
          out);
    fputs("/* A is m x k, B is k x n, C is m x n; element (i, j) of X is x[i + j * ldx]. C overlaps neither. */\n",
          out);
    bj_tune_write_declaration(out, &kernel);
    fputs(";\n\n/* All three of that one size, columns as far apart as they are long. */\n", out);
    for (size_t i = 0; i < job->size_count; i++) {
        bj_tune_name_kernel(job, job->sizes[i], name);
        kernel.name = name;
        kernel.n = job->sizes[i];
        bj_tune_write_declaration(out, &kernel);
        fputs(";\n", out);
    }
    fputs("\n#ifdef __cplusplus\n}\n#undef restrict\n#endif\n", out);
}

static void write_check_file(FILE *out, const bj_tune_job *job) {
    const char *type = bj_tune_name_type(job->machine.type), *sign = job->subtract ? "-" : "+";
    fprintf(out,
            "/* Compares all kernels with a plain triple loop. */\n#include <math.h>\n#include <stdio.h>\n#include "
            "<stdlib.h>\n\n"
            "#include \"%s.h\"\n\nenum { MOST = 160 };\n"
            "static %s a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], plain[MOST * MOST];\n\n",
            job->name, type);
    fprintf(out,
            "static void fill(size_t m, size_t n, size_t k, size_t ld) {\n"
            "    for (size_t i = 0; i < MOST * MOST; i++) {\n"
            "        a[i] = (%s)(rand() %% 64 - 32) / 32;\n        b[i] = (%s)(rand() %% 64 - 32) / 32;\n"
            "        c[i] = plain[i] = (%s)(rand() %% 64 - 32) / 32;\n    }\n"
            "    for (size_t i = 0; i < m; i++)\n        for (size_t j = 0; j < n; j++)\n"
            "            for (size_t p = 0; p < k; p++)\n"
            "                plain[i + j * ld] %s= a[i + p * ld] * b[p + j * ld];\n}\n\n",
            type, type, type, sign);
    fputs("/* Small multiples of 1/1024 add up without an error. */\n"
          "static int differs(const char *what, size_t n) {\n"
          "    for (size_t i = 0; i < MOST * MOST; i++)\n        if (c[i] != plain[i]) {\n"
          "            printf(\"%s of %zu: wrong at %zu\\n\", what, n, i);\n            return 1;\n        }\n"
          "    return 0;\n}\n\nint main(void) {\n    int wrong = 0;\n",
          out);
    fprintf(out,
            "    for (size_t n = 0; n <= 96; n++) {\n        fill(n, (n * 7) %% 61, (n * 5) %% 83, 101);\n"
            "        %s(n, (n * 7) %% 61, (n * 5) %% 83, a, 101, b, 101, c, 101);\n"
            "        wrong |= differs(\"%s\", n);\n    }\n",
            job->name, job->name);
    for (size_t i = 0; i < job->size_count; i++) {
        char name[BJ_TUNE_NAME_ROOM];
        bj_tune_name_kernel(job, job->sizes[i], name);
        if (job->sizes[i] <= 160)
            fprintf(out, "    fill(%zu, %zu, %zu, %zu);\n    %s(a, b, c);\n    wrong |= differs(\"%s\", %zu);\n",
                    job->sizes[i], job->sizes[i], job->sizes[i], job->sizes[i], name, name, job->sizes[i]);
    }
    fputs("    puts(wrong ? \"WRONG\" : \"all kernels agree with the plain loop\");\n    return wrong;\n}\n", out);
}

static void write_makefile(FILE *out, const bj_tune_job *job, const char *compiler) {
    const char *flags = strchr(compiler, ' ');
    fprintf(out,
            MAKE_HEAD
            " make: lib%s.a; make check: compares it with a plain loop.\n"
            "CC = %.*s\nCFLAGS = %s\n\nlib%s.a: %s.o %s_fixed.o\n\t$(AR) rcs $@ $^\n\n%%.o: %%.c %s.h\n"
            "\t$(CC) $(CFLAGS) -fPIC -c $< -o $@\n\ncheck: check.c lib%s.a\n\t$(CC) $(CFLAGS) check.c lib%s.a -lm -o "
            "check_%s\n"
            "\t./check_%s\n\nclean:\n\trm -f *.o lib%s.a check_%s\n\n.PHONY: check clean\n",
            job->name, flags != NULL ? (int)(flags - compiler) : (int)strlen(compiler), compiler,
            flags != NULL ? flags + 1 : "-O2", job->name, job->name, job->name, job->name, job->name, job->name,
            job->name, job->name, job->name, job->name);
}

typedef enum { FILE_GENERAL, FILE_FIXED, FILE_HEADER, FILE_CHECK, FILE_MAKE } file_kind;

static bj_status write_one(bj_output *output, file_kind kind, const bj_tune_job *job, const char *compiler,
                           bj_error *error) {
    char *text = NULL;
    size_t length = 0;
    bj_text_stream stream;
    BJ_TRY(bj_base_open_text_stream(&stream, error));
    FILE *out = stream.out;
    if (kind == FILE_GENERAL)
        bj_tune_write_general_file(out, job, BJ_TUNE_FOR_USERS);
    else if (kind == FILE_FIXED)
        bj_tune_write_fixed_file(out, job, BJ_TUNE_FOR_USERS);
    else if (kind == FILE_HEADER)
        write_header_file(out, job);
    else if (kind == FILE_CHECK)
        write_check_file(out, job);
    else
        write_makefile(out, job, compiler);
    bj_status status = bj_base_close_text_stream(&stream, &text, &length, error);
    if (status == BJ_OK)
        status = bj_base_write_output(output, text, length, error);
    free(text);
    return status;
}

/* In the order of file_kind. */
static void name_files(const bj_tune_job *job, char names[BJ_TUNE_FILES][BJ_TUNE_NAME_ROOM]) {
    snprintf(names[FILE_GENERAL], BJ_TUNE_NAME_ROOM, "%.15s.c", job->name);
    snprintf(names[FILE_FIXED], BJ_TUNE_NAME_ROOM, "%.15s_fixed.c", job->name);
    snprintf(names[FILE_HEADER], BJ_TUNE_NAME_ROOM, "%.15s.h", job->name);
    snprintf(names[FILE_CHECK], BJ_TUNE_NAME_ROOM, "check.c");
    snprintf(names[FILE_MAKE], BJ_TUNE_NAME_ROOM, "Makefile");
}

/* By its first words; it may be anything that somebody has put there. */
static bj_status ask_whose(const char *makefile, bool *ours, bj_error *error) {
    enum { MAKEFILE_MOST = 1 << 16 };
    char *text = NULL;
    bj_status status = bj_base_read_file(makefile, MAKEFILE_MOST, &text, NULL, error);
    *ours = status == BJ_OK && strncmp(text, MAKE_HEAD, sizeof MAKE_HEAD - 1) == 0;
    free(text);
    return status == BJ_ERR_RESOURCE ? status : BJ_OK;
}

bj_status bj_tune_open_folder(const char *folder, const bj_tune_job *job, bool replace, bj_tune_folder *opened,
                              bj_error *error) {
    /* Room for what is written, so that a full disk is known before anything is timed. */
    enum { TRIAL_BYTES = 1 << 16 };
    char names[BJ_TUNE_FILES][BJ_TUNE_NAME_ROOM], path[PATH_MAX];
    *opened = (bj_tune_folder){{NULL}};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return bj_base_set_error(error, BJ_ERR_IO, "%.200s: %s", folder, strerror(errno));
    name_files(job, names);
    snprintf(path, sizeof path, "%s/%s", folder, names[FILE_MAKE]);
    bool ours = false;
    BJ_TRY(ask_whose(path, &ours, error));
    bj_output_rules rules = {.replace = replace || ours, .otherwise = "--force replaces it"};
    for (size_t i = 0; i < BJ_TUNE_FILES; i++) {
        rules.trial_bytes = i == 0 ? TRIAL_BYTES : 0;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= sizeof path)
            return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: a path that is too long", folder);
        BJ_TRY(bj_base_open_output(path, &rules, &opened->files[i], error));
    }
    return BJ_OK;
}

bj_status bj_tune_write_folder(const bj_tune_folder *opened, const bj_tune_job *job, const char *compiler,
                               bj_error *error) {
    for (size_t i = 0; i < BJ_TUNE_FILES; i++)
        BJ_TRY(write_one(opened->files[i], (file_kind)i, job, compiler, error));
    return BJ_OK;
}

void bj_tune_close_folder(bj_tune_folder *opened) {
    for (size_t i = 0; i < BJ_TUNE_FILES; i++)
        bj_base_close_output(opened->files[i]);
    *opened = (bj_tune_folder){{NULL}};
}
