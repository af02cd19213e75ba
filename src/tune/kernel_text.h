/* Writes matrix kernels as plain C with the vector extensions of gcc and clang. The text includes nothing of ours. */
#pragma once

#include <stdio.h>

#include "tune/model.h"

typedef enum { BJ_TUNE_COLUMNS_OUTER, BJ_TUNE_ROWS_OUTER } bj_tune_order;

/* How a kernel is written; bj_tune_plan_general() and bj_tune_plan_fixed() fill it from the model. */
typedef struct {
    const char *name; /* of the function */
    bj_tune_type type;
    bool subtract; /* C -= A·B, otherwise C += A·B */
    unsigned lanes;
    size_t n;                                    /* the one size that it is for, columns n apart; 0: any */
    unsigned rows, columns;                      /* of the tile at most; of the general kernel for large problems */
    unsigned most_columns[BJ_TUNE_ROWS_MAX + 1]; /* of tiles with so many rows */
    unsigned unroll;                             /* steps of k in the loop; 0: as the model has it for each tile */
    bj_tune_order order;
    size_t kc, mc, pack_from; /* pack_from 0: A is never packed; for one size: any other number packs it */
    /* The tile at most where a column has so many vectors. */
    unsigned char rows_for[17], columns_for[17];
} bj_tune_kernel;

bj_tune_kernel bj_tune_plan_general(const bj_tune_machine *machine, const bj_tune_model *model, bool subtract);
bj_tune_kernel bj_tune_plan_fixed(const bj_tune_machine *machine, bool subtract, size_t n);
/* The kernel of 2012: scalars in the practical register block, unpacked. */
bj_tune_kernel bj_tune_plan_2012(const bj_tune_model *model, bj_tune_type type, bool subtract);

/* Types and what tiles share: once a file, before any kernel. */
void bj_tune_write_prelude(FILE *out, bj_tune_type type, unsigned lanes);
/* One tile, as a function that is inlined where it is called. */
void bj_tune_write_tile(FILE *out, const bj_tune_kernel *kernel, unsigned lanes, unsigned rows, unsigned columns,
                        unsigned unroll);
/* NAME(m, n, k, a, lda, b, ldb, c, ldc). */
void bj_tune_write_general(FILE *out, const bj_tune_kernel *kernel);
/* NAME(a, b, c): all three n × n, columns n apart. */
void bj_tune_write_fixed(FILE *out, const bj_tune_kernel *kernel);
/* double NAME_timed(size_t n, void *const *operands), as the kernel timer calls it: a, b, c of n × n. */
void bj_tune_write_timed(FILE *out, const bj_tune_kernel *kernel);
/* The function's declaration, without its semicolon. */
void bj_tune_write_declaration(FILE *out, const bj_tune_kernel *kernel);
