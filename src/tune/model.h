/* From measured answers to the blocks of a matrix kernel C ± A·B, by arithmetic alone: nothing is timed or searched.
 *
 * Two models. The one of 2012 (section 6 of the BlackjackBench paper) counts scalar values in R places. The vector
 * model, the default, asks what a core can start in a cycle: enough independent sums to hide the latency of a
 * multiply-add, no more vectors than live in registers, no more loads than can be issued. Columns are contiguous;
 * vectors run along a column of A and C, and elements of B are broadcast. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "data/answer.h"

typedef enum { BJ_TUNE_DOUBLE, BJ_TUNE_FLOAT } bj_tune_type;

/* Tiles that a kernel may have; further registers than BJ_TUNE_ROWS_MAX can use are left alone. */
enum {
    BJ_TUNE_ROWS_MAX = 6,     /* vectors in a column of a tile */
    BJ_TUNE_COLUMNS_MAX = 16, /* of a tile */
    BJ_TUNE_REASONS_MAX = 12,
    BJ_TUNE_INPUTS_MAX = 20
};

/* What the model must know; times in additions of 32-bit integers, which take a cycle on most machines. */
typedef struct {
    bj_tune_type type;
    unsigned lanes;          /* of a vector */
    unsigned registers;      /* vectors that live in registers at once */
    bool registers_named;    /* that the compiler names: the probe could not tell */
    unsigned scalars;        /* plain variables that do; 0: unknown */
    double fma_latency;      /* of a multiply-add, or of product and sum where the compiler has none */
    double fma_per_cycle;    /* that can be started */
    double loads_per_cycle;  /* of vectors */
    double stores_per_cycle; /* the same */
    size_t l1_bytes;
    size_t l2_bytes; /* 0: unknown */
    size_t line_bytes;
    double l2_latency; /* of the next level, in cycles; 0: unknown */
    bool fused;        /* the compiler has a multiply-add */
} bj_tune_machine;

/* Which answers were read, for the record. */
typedef struct {
    char key[64];
    double value;
} bj_tune_input;

typedef struct {
    bj_tune_input items[BJ_TUNE_INPUTS_MAX];
    size_t count;
} bj_tune_inputs;

/* What a compiler with its flags makes of C, see target.h. */
typedef struct {
    unsigned vector_bytes; /* widest vectors that become one instruction; the size of a scalar: none */
    unsigned registers;    /* that the instruction set names */
    bool fused;
} bj_tune_target;

size_t bj_tune_size_of(bj_tune_type type);
const char *bj_tune_name_type(bj_tune_type type);
/* Reads the answers that the model needs. BJ_ERR_FAILED names the first that is missing, and the probe that gives it.
 */
bj_status bj_tune_read_machine(const bj_answers *answers, bj_tune_type type, const bj_tune_target *target,
                               bj_tune_machine *machine, bj_tune_inputs *inputs, bj_error *error) BJ_WARN_UNUSED;

/* ---- the model of 2012 */

typedef struct {
    unsigned m, n, k;
} bj_tune_block;

/* The block that makes the share of arithmetic 2mnk / (2mnk + mn + mk + nk) largest with mn + mk + nk <= places. k is
 * 1: that is a constraint of the model, not a result. Ties go to the squarer block, then to the larger m. */
bj_tune_block bj_tune_fit_2012(size_t places);
/* The constraint as printed, m + n + k <= places. */
bj_tune_block bj_tune_fit_2012_printed(size_t places);
/* The register block that leaves no edge at even sizes: m a multiple of 4 and n of 2, the best by the same measure. */
bj_tune_block bj_tune_practical_2012(size_t registers);
/* The largest square block of which mn values, a column of m and, since the other operand has a stride, a line for
 * each of n fit into the cache, in multiples of `multiple`. 0: none does. */
size_t bj_tune_cache_block_2012(size_t cache_bytes, size_t element_bytes, size_t line_bytes, size_t multiple);

/* ---- the vector model */

/* Cycles of one step of k for a tile of so many vectors by columns: the slowest of arithmetic, loads and latency. */
double bj_tune_step_cycles(const bj_tune_machine *machine, unsigned rows, unsigned columns);
/* Most columns of a tile with so many rows; 0: none. */
unsigned bj_tune_most_columns(const bj_tune_machine *machine, unsigned rows);
/* The rows of the tile that is best for an update of that shape. */
unsigned bj_tune_choose_rows(const bj_tune_machine *machine, size_t row_vectors, size_t columns, size_t k,
                             unsigned *most_columns);

typedef struct {
    unsigned rows, columns; /* of the tile of large problems: mr = rows * lanes, nr = columns */
    unsigned mr, nr, kr;    /* kr: steps of k that are written out in the loop */
    size_t kc, mc;          /* block of k, and of rows of A that is packed at once */
    size_t block;           /* largest square size whose operands stay in the first cache: beyond it, pack */
    size_t pack_from;       /* least size of the general kernel that packs A */
    size_t prefetch_bytes;  /* distance at which the next panel is asked for; 0: none */
    bj_tune_block registers_2012, practical_2012, cache_2012;
    size_t block_2012;
    char reasons[BJ_TUNE_REASONS_MAX][200];
    size_t reason_count;
} bj_tune_model;

bj_status bj_tune_make_model(const bj_tune_machine *machine, bj_tune_model *model, bj_error *error) BJ_WARN_UNUSED;
/* Steps of k that are written out in the loop of a tile; k 0: not known. */
unsigned bj_tune_choose_unroll(unsigned rows, unsigned columns, size_t k);
