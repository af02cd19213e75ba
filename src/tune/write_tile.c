/* The tile: sums in named variables, so that every compiler keeps them in registers; edges of m in narrower vectors, so
 * that nothing outside of the operands is touched. */
#include "tune/kernel_text.h"

void bj_tune_write_prelude(FILE *out, bj_tune_type type, unsigned lanes) {
    unsigned bytes = (unsigned)bj_tune_size_of(type);
    fprintf(out, "#include <stddef.h>\n\ntypedef %s T;\n", bj_tune_name_type(type));
    fprintf(
        out,
        "/* Vectors of some lanes, and the same where only elements are aligned. */\ntypedef T V1;\ntypedef T U1;\n");
    for (unsigned w = 2; w <= lanes; w *= 2)
        fprintf(out,
                "typedef T V%u __attribute__((vector_size(%u)));\n"
                "typedef T U%u __attribute__((vector_size(%u), aligned(%u), may_alias));\n",
                w, w * bytes, w, w * bytes, bytes);
    /* Where a processor slows down for wide vectors clang halves them unless it is told that they are meant. */
    fprintf(out,
            "#if defined(__has_attribute)\n#if __has_attribute(min_vector_width)\n"
            "#define WIDE __attribute__((min_vector_width(%u)))\n#endif\n#endif\n#ifndef WIDE\n#define WIDE\n#endif\n"
            "#define INLINE static inline WIDE __attribute__((always_inline))\n"
            "#define NEVER_INLINE WIDE __attribute__((noinline))\n",
            8 * lanes * bytes);
}

/* Where the columns of B begin in this turn of the loop. Said for each turn, and each from the one before it: written
 * as b + j * sj, compilers keep an address for each column and step, and run out of registers. */
static void write_columns_of_b(FILE *out, unsigned columns) {
    for (unsigned j = 1; j < columns; j++)
        fprintf(out, "        const T *const from%u = from%u + sj;\n", j, j - 1);
}

static void write_step(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned columns,
                       unsigned at) {
    fputs("        {\n", out);
    /* Volatile: one load for all columns. gcc 12 reads A again for each use of it where registers are many but not
     * plenty, which asks for more loads than a cycle has. */
    for (unsigned i = 0; i < rows; i++)
        fprintf(out, "            const V%u a%u = *(const %sU%u *)(a + %u);\n", lanes, i,
                columns > 1 ? "volatile " : "", lanes, i * lanes);
    for (unsigned j = 0; j < columns; j++) {
        fprintf(out, "            const T b%u = from%u[%u * sp];\n           ", j, j, at);
        for (unsigned i = 0; i < rows; i++)
            fprintf(out, " c%u_%u %s= a%u * b%u;", i, j, kernel->subtract ? "-" : "+", i, j);
        fputc('\n', out);
    }
    fputs("            a += lda;\n        }\n", out);
}

/* Columns of C one after the other; their distance is read again for the stores, so that no address must be kept
 * through the loop. For one size it is a constant. */
static void write_sums(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned columns,
                       bool store) {
    const char *to = store ? "into" : "to", *apart = store && kernel->n == 0 ? "apart" : "ldc";
    if (!store && kernel->n == 0)
        fputs("    const volatile size_t kept = ldc;\n", out);
    if (store && kernel->n == 0)
        fputs("    const size_t apart = kept;\n", out);
    for (unsigned j = 0; j < columns; j++) {
        if (j == 0)
            fprintf(out, "    T *const %s0 = c;\n", to);
        else
            fprintf(out, "    T *const %s%u = %s%u + %s;\n", to, j, to, j - 1, apart);
        for (unsigned i = 0; i < rows; i++) {
            if (store)
                fprintf(out, "    *(U%u *)(%s%u + %u) = c%u_%u;\n", lanes, to, j, i * lanes, i, j);
            else
                fprintf(out, "    V%u c%u_%u = *(const U%u *)(%s%u + %u);\n", lanes, i, j, lanes, to, j, i * lanes);
        }
    }
}

/* Asks for the C of the tile below, which is the next one: the arithmetic of this tile hides a miss, whereas the first
 * sum of the next would wait for it. Warm it costs 0.3%. Tiles of one vector mostly have none below. */
static void write_prefetch(FILE *out, unsigned lanes, unsigned rows, unsigned columns) {
    for (unsigned j = 0; j < columns && rows > 1 && lanes > 1; j++)
        for (unsigned i = 0; i < rows; i++)
            fprintf(out, "    __builtin_prefetch(to%u + %u, 1);\n", j, (rows + i) * lanes);
}

void bj_tune_write_tile(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned columns,
                        unsigned unroll) {
    fprintf(
        out,
        "\nINLINE void tile%u_%ux%u_%u(size_t k, const T *a, size_t lda, const T *from0, size_t sp, size_t sj, T *c,\n"
        "                            size_t ldc) {\n",
        lanes, rows, columns, unroll);
    write_sums(out, kernel, lanes, rows, columns, false);
    write_prefetch(out, lanes, rows, columns);
    fprintf(out, "    size_t p = k;\n    for (; p >= %u; p -= %u, from0 += %u * sp) {\n", unroll, unroll, unroll);
    write_columns_of_b(out, columns);
    for (unsigned at = 0; at < unroll; at++)
        write_step(out, kernel, lanes, rows, columns, at);
    fputs("    }\n", out);
    if (unroll > 1) {
        fputs("    for (; p > 0; p--, from0 += sp) {\n", out);
        write_columns_of_b(out, columns);
        write_step(out, kernel, lanes, rows, columns, 0);
        fputs("    }\n", out);
    }
    write_sums(out, kernel, lanes, rows, columns, true);
    fputs("}\n", out);
}
