/* A kernel for one size: all strides and counts are constants, tiles cover the matrix without a remainder. */
#include "tune/kernel_text.h"

typedef struct {
    size_t count, size; /* so many blocks of that size */
} run_of_blocks;

/* Blocks that differ by one at most, the larger ones first. */
static void split(size_t whole, size_t most, run_of_blocks runs[2]) {
    size_t blocks = (whole + most - 1) / most;
    runs[0] = (run_of_blocks){blocks > 0 ? whole % blocks : 0, blocks > 0 ? whole / blocks + 1 : 0};
    runs[1] = (run_of_blocks){blocks - runs[0].count, blocks > 0 ? whole / blocks : 0};
}

static unsigned unroll_of(const bj_tune_kernel *kernel, size_t rows, size_t columns) {
    unsigned unroll =
        kernel->unroll > 0 ? kernel->unroll : bj_tune_choose_unroll((unsigned)rows, (unsigned)columns, kernel->n);
    return unroll < kernel->n ? unroll : (unsigned)kernel->n;
}

typedef struct {
    FILE *out;
    const bj_tune_kernel *kernel;
    bool tiles; /* write the tiles, not their calls */
    bool packs; /* write the copies of A */
    size_t columns;
} writer;

/* All tiles of one kind: rows [begin, end) by the writer's columns. */
static void write_kind(const writer *w, unsigned lanes, size_t rows, size_t begin, size_t end) {
    size_t n = w->kernel->n;
    unsigned unroll = unroll_of(w->kernel, rows, w->columns);
    if (w->tiles) {
        fprintf(w->out, "\n#ifndef HAS_%u_%zux%zu_%u\n#define HAS_%u_%zux%zu_%u", lanes, rows, w->columns, unroll,
                lanes, rows, w->columns, unroll);
        bj_tune_write_tile(w->out, w->kernel, lanes, (unsigned)rows, (unsigned)w->columns, unroll);
        fputs("#endif\n", w->out);
        return;
    }
    if (w->packs) {
        fprintf(w->out,
                "    for (size_t i = %zu; i < %zu; i += %zu)\n        for (size_t p = 0; p < %zu; p++)\n"
                "            for (size_t r = 0; r < %zu; r++)\n"
                "                block[i * %zu + p * %zu + r] = a[i + r + p * %zu];\n",
                begin, end, rows * lanes, n, rows * lanes, n, rows * lanes, n);
        return;
    }
    if (w->kernel->pack_from > 0) {
        fprintf(
            w->out,
            "        for (size_t i = %zu; i < %zu; i += %zu)\n"
            "            tile%u_%zux%zu_%u(%zu, block + i * %zu, %zu, b + j * %zu, 1, %zu, c + i + j * %zu, %zu);\n",
            begin, end, rows * lanes, lanes, rows, w->columns, unroll, n, n, rows * lanes, n, n, n, n);
        return;
    }
    fprintf(w->out,
            "        for (size_t i = %zu; i < %zu; i += %zu)\n"
            "            tile%u_%zux%zu_%u(%zu, a + i, %zu, b + j * %zu, 1, %zu, c + i + j * %zu, %zu);\n",
            begin, end, rows * lanes, lanes, rows, w->columns, unroll, n, n, n, n, n, n);
}

static void write_rows(const writer *w) {
    size_t lanes = w->kernel->lanes, vectors = w->kernel->n / lanes, at = 0, left = w->kernel->n % lanes;
    run_of_blocks runs[2] = {{0, 0}, {0, 0}};
    if (vectors > 0)
        split(vectors, w->kernel->rows, runs);
    for (size_t i = 0; i < 2; i++) {
        size_t end = at + runs[i].count * runs[i].size * lanes;
        if (end > at)
            write_kind(w, (unsigned)lanes, runs[i].size, at, end);
        at = end;
    }
    for (size_t narrow = lanes / 2; narrow > 0; narrow /= 2)
        if ((left & narrow) != 0) {
            write_kind(w, (unsigned)narrow, 1, at, at + narrow);
            at += narrow;
        }
}

static void write_columns(writer *w) {
    run_of_blocks runs[2];
    size_t at = 0;
    split(w->kernel->n, w->kernel->columns, runs);
    for (size_t i = 0; i < 2; i++) {
        if (runs[i].count == 0)
            continue;
        w->columns = runs[i].size;
        if (!w->tiles)
            fprintf(w->out, "    for (size_t j = %zu; j < %zu; j += %zu) {\n", at, at + runs[i].count * runs[i].size,
                    runs[i].size);
        write_rows(w);
        if (!w->tiles)
            fputs("    }\n", w->out);
        at += runs[i].count * runs[i].size;
    }
}

void bj_tune_write_fixed(FILE *out, const bj_tune_kernel *kernel) {
    writer w = {.out = out, .kernel = kernel, .tiles = true};
    write_columns(&w);
    fputs("\nWIDE ", out);
    bj_tune_write_declaration(out, kernel);
    fputs(" {\n", out);
    w.tiles = false;
    if (kernel->pack_from > 0) {
        fprintf(out, "    T block[%zu] __attribute__((aligned(64)));\n", kernel->n * kernel->n);
        w.packs = true;
        write_rows(&w);
        w.packs = false;
    }
    write_columns(&w);
    fputs("}\n", out);
}
