/* Writes the generated kernels into a folder: what the build calls before it compiles them. */
#include <stdio.h>
#include <string.h>

#include "codegen/codegen.h"

static int write_file(const char *folder, const bj_codegen_file *file) {
    char name[64], path[4096];
    bj_codegen_name_file(file, name, sizeof name);
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        fprintf(stderr, "write_kernels: %.100s...: the path is too long\n", folder);
        return 1;
    }
    FILE *out = fopen(path, "w");
    if (out != NULL)
        bj_codegen_write_file(file, out);
    bool failed = out == NULL || ferror(out) != 0;
    if (out != NULL && fclose(out) != 0)
        failed = true;
    if (failed)
        fprintf(stderr, "write_kernels: %s: cannot be written\n", path);
    return failed;
}

int main(int count, char **words) {
    if (count != 2) {
        fputs("usage: write_kernels FOLDER\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < bj_codegen_count_files(); i++) {
        bj_codegen_file file = bj_codegen_file_at(i);
        if (write_file(words[1], &file) != 0)
            return 1;
    }
    return 0;
}
