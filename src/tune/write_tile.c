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
            "#define INLINE static inline WIDE __attribute__((always_inline))\n",
            8 * lanes * bytes);
}

static void write_step(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned columns,
                       unsigned at) {
    fputs("        {\n", out);
    for (unsigned i = 0; i < rows; i++)
        fprintf(out, "            const V%u a%u = *(const U%u *)(a + %u * lda + %u);\n", lanes, i, lanes, at,
                i * lanes);
    for (unsigned j = 0; j < columns; j++) {
        fprintf(out, "            const T b%u = b[%u * sp + %u * sj];\n           ", j, at, j);
        for (unsigned i = 0; i < rows; i++)
            fprintf(out, " c%u_%u %s= a%u * b%u;", i, j, kernel->subtract ? "-" : "+", i, j);
        fputc('\n', out);
    }
    fputs("        }\n", out);
}

static void write_sums(FILE *out, unsigned lanes, unsigned rows, unsigned columns, bool store) {
    for (unsigned j = 0; j < columns; j++)
        for (unsigned i = 0; i < rows; i++) {
            if (store)
                fprintf(out, "    *(U%u *)(c + %u + %u * ldc) = c%u_%u;\n", lanes, i * lanes, j, i, j);
            else
                fprintf(out, "    V%u c%u_%u = *(const U%u *)(c + %u + %u * ldc);\n", lanes, i, j, lanes, i * lanes, j);
        }
}

void bj_tune_write_tile(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned columns,
                        unsigned unroll) {
    fprintf(out,
            "\nINLINE void tile%u_%ux%u_%u(size_t k, const T *a, size_t lda, const T *b, size_t sp, size_t sj, T *c,\n"
            "                            size_t ldc) {\n",
            lanes, rows, columns, unroll);
    write_sums(out, lanes, rows, columns, false);
    fprintf(out, "    size_t p = k;\n    for (; p >= %u; p -= %u, a += %u * lda, b += %u * sp) {\n", unroll, unroll,
            unroll, unroll);
    for (unsigned at = 0; at < unroll; at++)
        write_step(out, kernel, lanes, rows, columns, at);
    fputs("    }\n", out);
    if (unroll > 1) {
        fputs("    for (; p > 0; p--, a += lda, b += sp) {\n", out);
        write_step(out, kernel, lanes, rows, columns, 0);
        fputs("    }\n", out);
    }
    write_sums(out, lanes, rows, columns, true);
    fputs("}\n", out);
}
