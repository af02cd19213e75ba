/* From the model to the plan of a kernel. */
#include <string.h>

#include "tune/kernel_text.h"

static unsigned most(unsigned a, unsigned b) {
    return a > b ? a : b;
}

bj_tune_kernel bj_tune_plan_general(const bj_tune_machine *machine, const bj_tune_model *model, bool subtract) {
    bj_tune_kernel kernel = {.type = machine->type,
                             .subtract = subtract,
                             .lanes = machine->lanes,
                             .rows = model->rows,
                             .columns = model->columns,
                             .kc = model->kc,
                             .mc = model->mc,
                             .pack_from = model->pack_from};
    for (unsigned v = 1; v < sizeof kernel.rows_for; v++) {
        unsigned columns;
        size_t n = (size_t)v * machine->lanes;
        kernel.rows_for[v] = (unsigned char)bj_tune_choose_rows(machine, v, n, n, &columns);
        kernel.columns_for[v] = (unsigned char)columns;
    }
    kernel.rows_for[0] = 1;
    kernel.columns_for[0] = kernel.columns_for[1];
    /* Blocks of rows that are left over have the columns of the others. */
    for (unsigned v = 0; v < sizeof kernel.rows_for; v++)
        for (unsigned r = 1; r <= kernel.rows_for[v]; r++)
            kernel.most_columns[r] = most(kernel.most_columns[r], kernel.columns_for[v]);
    for (unsigned r = 1; r <= kernel.rows; r++)
        kernel.most_columns[r] = most(kernel.most_columns[r], kernel.columns);
    return kernel;
}

bj_tune_kernel bj_tune_plan_fixed(const bj_tune_machine *machine, bool subtract, size_t n) {
    bj_tune_kernel kernel = {.type = machine->type, .subtract = subtract, .lanes = machine->lanes, .n = n};
    size_t vectors = n / machine->lanes;
    kernel.rows = bj_tune_choose_rows(machine, vectors > 0 ? vectors : 1, n, n, &kernel.columns);
    return kernel;
}

bj_tune_kernel bj_tune_plan_2012(const bj_tune_model *model, bj_tune_type type, bool subtract) {
    bj_tune_kernel kernel = {.type = type,
                             .subtract = subtract,
                             .lanes = 1,
                             .rows = model->practical_2012.m,
                             .columns = model->practical_2012.n,
                             .unroll = 1};
    if (kernel.rows > BJ_TUNE_ROWS_MAX)
        kernel.rows = BJ_TUNE_ROWS_MAX;
    for (unsigned r = 1; r <= kernel.rows; r++)
        kernel.most_columns[r] = kernel.columns;
    memset(kernel.rows_for, (int)kernel.rows, sizeof kernel.rows_for);
    memset(kernel.columns_for, (int)kernel.columns, sizeof kernel.columns_for);
    return kernel;
}

static const char *const general_parameters =
    "(size_t m, size_t n, size_t k, const %s *a, size_t lda, const %s *b, size_t ldb, %s *c, size_t ldc)";

void bj_tune_write_declaration(FILE *out, const bj_tune_kernel *kernel) {
    const char *type = bj_tune_name_type(kernel->type);
    fprintf(out, "void %s", kernel->name);
    if (kernel->n > 0)
        fprintf(out, "(const %s *restrict a, const %s *restrict b, %s *restrict c)", type, type, type);
    else
        fprintf(out, general_parameters, type, type, type);
}

void bj_tune_write_timed(FILE *out, const bj_tune_kernel *kernel) {
    const char *type = bj_tune_name_type(kernel->type);
    fprintf(out, "\ndouble %s_timed(size_t n, void *const *operands) {\n", kernel->name);
    fprintf(out, "    const %s *a = operands[0], *b = operands[1];\n    %s *c = operands[2];\n", type, type);
    fprintf(out, kernel->n > 0 ? "    (void)n;\n    %s(a, b, c);\n" : "    %s(n, n, n, a, n, b, n, c, n);\n",
            kernel->name);
    fputs("    return c[0];\n}\n", out);
}
