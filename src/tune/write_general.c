/* A kernel for any size and leading dimension. Tiles of all shapes that the registers hold stand in tables; rows and
 * columns are cut into blocks of which none is a thin remainder. */
#include "tune/kernel_text.h"

static unsigned unroll_of(const bj_tune_kernel *kernel, unsigned rows, unsigned columns) {
    return kernel->unroll > 0 ? kernel->unroll : bj_tune_choose_unroll(rows, columns, 0);
}

static void write_table(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned most) {
    for (unsigned c = 1; c <= most; c++) {
        bj_tune_write_tile(out, kernel, lanes, rows, c, unroll_of(kernel, rows, c));
        fprintf(out,
                "WIDE static void run%u_%ux%u(size_t k, const T *a, size_t lda, const T *b, size_t sj, T *c, size_t "
                "ldc) {\n"
                "    tile%u_%ux%u_%u(k, a, lda, b, 1, sj, c, ldc);\n}\n",
                lanes, rows, c, lanes, rows, c, unroll_of(kernel, rows, c));
    }
}

static unsigned widest(const bj_tune_kernel *kernel) {
    unsigned most = 0;
    for (unsigned r = 1; r <= BJ_TUNE_ROWS_MAX; r++)
        most = kernel->most_columns[r] > most ? kernel->most_columns[r] : most;
    return most;
}

/* Rows of the tallest tile. */
static unsigned tallest(const bj_tune_kernel *kernel) {
    unsigned rows = 0;
    for (unsigned r = 1; r <= BJ_TUNE_ROWS_MAX; r++)
        rows = kernel->most_columns[r] > 0 ? r : rows;
    return rows;
}

static void write_tables(FILE *out, const bj_tune_kernel *kernel) {
    unsigned most = widest(kernel);
    for (unsigned r = 1; r <= tallest(kernel); r++)
        write_table(out, kernel, kernel->lanes, r, kernel->most_columns[r]);
    for (unsigned w = kernel->lanes / 2; w > 0; w /= 2)
        write_table(out, kernel, w, 1, most);
    fprintf(out,
            "\ntypedef void tile(size_t, const T *, size_t, const T *, size_t, T *, size_t);\n"
            "/* By rows and columns. */\nstatic tile *const tiles[%u][%u] = {\n",
            tallest(kernel) + 1, most + 1);
    for (unsigned r = 1; r <= tallest(kernel); r++) {
        fprintf(out, "    [%u] = {0", r);
        for (unsigned c = 1; c <= kernel->most_columns[r]; c++)
            fprintf(out, ", run%u_%ux%u", kernel->lanes, r, c);
        fputs("},\n", out);
    }
    fputs("};\n", out);
    if (kernel->lanes > 1) {
        fprintf(out, "/* One narrower vector, by its lanes and columns. */\nstatic tile *const edges[%u][%u] = {\n",
                kernel->lanes / 2 + 1, most + 1);
        for (unsigned w = kernel->lanes / 2; w > 0; w /= 2) {
            fprintf(out, "    [%u] = {0", w);
            for (unsigned c = 1; c <= most; c++)
                fprintf(out, ", run%u_1x%u", w, c);
            fputs("},\n", out);
        }
        fputs("};\n", out);
    }
}

static void write_bytes(FILE *out, const char *name, const unsigned char *values, size_t count) {
    fprintf(out, "static const unsigned char %s[%zu] = {", name, count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%u", i > 0 ? ", " : "", values[i]);
    fputs("};\n", out);
}

static void write_choices(FILE *out, const bj_tune_kernel *kernel) {
    unsigned char most[BJ_TUNE_ROWS_MAX + 1] = {0};
    for (unsigned r = 1; r <= BJ_TUNE_ROWS_MAX; r++)
        most[r] = (unsigned char)kernel->most_columns[r];
    fputs("/* Rows and columns of a tile, where a column has so many vectors. */\n", out);
    write_bytes(out, "rows_for", kernel->rows_for, sizeof kernel->rows_for);
    write_bytes(out, "columns_for", kernel->columns_for, sizeof kernel->columns_for);
    fputs("/* Columns that a tile of so many rows may have. */\n", out);
    write_bytes(out, "most_columns", most, (size_t)tallest(kernel) + 1);
}

/* All rows of one block of columns. Where A is packed, its tiles follow one another without gaps. Blocks are cut
 * without a division, which would cost a small problem more than its arithmetic. */
static void write_strip(FILE *out, const bj_tune_kernel *kernel) {
    fprintf(out,
            "\n/* Blocks of `most`, the last two shared evenly: none is a thin remainder. */\n"
            "INLINE size_t next_block(size_t left, size_t most) {\n"
            "    return left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;\n}\n"
            "\nINLINE void strip(size_t m, size_t columns, size_t rows, size_t k, const T *a, size_t lda, int packed,\n"
            "                 const T *b, size_t ldb, T *c, size_t ldc) {\n"
            "    for (size_t vectors = m / %u, r; vectors > 0; vectors -= r) {\n"
            "        r = next_block(vectors, rows);\n"
            "        tiles[r][columns](k, a, packed ? r * %u : lda, b, ldb, c, ldc);\n"
            "        a += packed ? r * %u * k : r * %u;\n"
            "        c += r * %u;\n"
            "    }\n",
            kernel->lanes, kernel->lanes, kernel->lanes, kernel->lanes, kernel->lanes);
    if (kernel->lanes > 1)
        fprintf(out,
                "    if (m %% %u == 0)\n        return;\n"
                "    for (size_t w = %u; w > 0; w /= 2)\n"
                "        if ((m & w) != 0) {\n"
                "            edges[w][columns](k, a, packed ? w : lda, b, ldb, c, ldc);\n"
                "            a += packed ? w * k : w;\n"
                "            c += w;\n"
                "        }\n",
                kernel->lanes, kernel->lanes / 2);
    fputs(
        "}\n\n"
        "/* In blocks of columns, all of them at once with operands as they are, or with a packed block of A. */\n"
        "INLINE void update(size_t m, size_t n, size_t k, const T *a, size_t lda, int packed, const T *b, size_t ldb,\n"
        "                  T *c, size_t ldc, size_t rows, size_t most) {\n"
        "    for (size_t columns; n > 0; n -= columns) {\n"
        "        columns = next_block(n, most);\n"
        "        strip(m, columns, rows, k, a, lda, packed, b, ldb, c, ldc);\n"
        "        b += columns * ldb;\n"
        "        c += columns * ldc;\n"
        "    }\n"
        "}\n",
        out);
}

static void write_packing(FILE *out, const bj_tune_kernel *kernel) {
    fprintf(out,
            "\n/* Copies m rows and k columns of A, tile by tile, into one contiguous block. */\n"
            "static void pack(size_t m, size_t k, const T *a, size_t lda, T *to, size_t rows) {\n"
            "    for (size_t vectors = m / %u, r; vectors > 0; vectors -= r) {\n"
            "        r = next_block(vectors, rows);\n"
            "        for (size_t p = 0; p < k; p++)\n"
            "            for (size_t i = 0; i < r; i++, to += %u)\n"
            "                *(U%u *)to = *(const U%u *)(a + i * %u + p * lda);\n"
            "        a += r * %u;\n"
            "    }\n"
            "    for (size_t w = %u; w > 0; w /= 2)\n"
            "        if ((m & w) != 0) {\n"
            "            for (size_t p = 0; p < k; p++)\n"
            "                for (size_t i = 0; i < w; i++)\n"
            "                    *to++ = a[i + p * lda];\n"
            "            a += w;\n"
            "        }\n"
            "}\n",
            kernel->lanes, kernel->lanes, kernel->lanes, kernel->lanes, kernel->lanes, kernel->lanes,
            kernel->lanes / 2);
    fprintf(out,
            "\nstatic int packed_update(size_t m, size_t n, size_t k, const T *a, size_t lda, const T *b, size_t ldb, "
            "T *c,\n"
            "                         size_t ldc) {\n"
            "    enum { MC = %zu, KC = %zu };\n"
            "    size_t mc = m < MC ? m : MC, kc = k < KC ? k : KC;\n"
            "    T *block = malloc(mc * kc * sizeof(T));\n"
            "    if (block == NULL)\n"
            "        return 0;\n"
            "    for (size_t p = 0; p < k; p += kc)\n"
            "        for (size_t i = 0; i < m; i += mc) {\n"
            "            size_t mm = m - i < mc ? m - i : mc, kk = k - p < kc ? k - p : kc;\n"
            "            pack(mm, kk, a + i + p * lda, lda, block, %u);\n"
            "            update(mm, n, kk, block, 0, 1, b + p, ldb, c + i, ldc, %u, %u);\n"
            "        }\n"
            "    free(block);\n"
            "    return 1;\n"
            "}\n",
            kernel->mc, kernel->kc, kernel->rows, kernel->rows, kernel->columns);
}

/* Problems of more than one tile. */
static void write_many(FILE *out, const bj_tune_kernel *kernel) {
    fprintf(
        out,
        "\nNEVER_INLINE static void many(size_t m, size_t n, size_t k, const T *a, size_t lda, const T *b, size_t ldb, "
        "T *c,\n"
        "                              size_t ldc) {\n    size_t vectors = m / %u;\n",
        kernel->lanes);
    if (kernel->pack_from > 0)
        fprintf(out,
                "    /* Worth a copy of A: it is used again for every block of columns. Without memory, unpacked. */\n"
                "    if (m >= %zu && n >= %zu && k >= %zu && packed_update(m, n, k, a, lda, b, ldb, c, ldc))\n"
                "        return;\n",
                kernel->pack_from, kernel->pack_from, kernel->pack_from);
    fprintf(out,
            "    update(m, n, k, a, lda, 0, b, ldb, c, ldc, vectors < 17 ? rows_for[vectors] : %u,\n"
            "           vectors < 17 ? columns_for[vectors] : %u);\n"
            "}\n",
            kernel->rows, kernel->columns);
}

void bj_tune_write_general(FILE *out, const bj_tune_kernel *kernel) {
    if (kernel->pack_from > 0)
        fputs("#include <stdlib.h>\n", out);
    write_tables(out, kernel);
    write_choices(out, kernel);
    write_strip(out, kernel);
    if (kernel->pack_from > 0)
        write_packing(out, kernel);
    write_many(out, kernel);
    fputc('\n', out);
    bj_tune_write_declaration(out, kernel);
    fprintf(out,
            " {\n    size_t vectors = m / %u;\n"
            "    /* One tile: what is around it would take as long. */\n"
            "    if (m %% %u == 0 && vectors - 1 < %u && n - 1 < most_columns[vectors])\n"
            "        tiles[vectors][n](k, a, lda, b, ldb, c, ldc);\n"
            "    else\n        many(m, n, k, a, lda, b, ldb, c, ldc);\n}\n",
            kernel->lanes, kernel->lanes, tallest(kernel));
}
