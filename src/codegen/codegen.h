/* C source of the kernels that come in hundreds: chains of operations, and sums over many live variables, of scalars
 * and of vectors.
 *
 * The build writes and compiles them for the program itself; `run --cc` writes the same text into a temporary folder
 * and has another compiler build it. The text needs no header of ours, so that an installed program is enough. A file
 * holds the kernels of one type; a unit is one table of kernels in it; the index names all units (codegen/generated.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* Chains side by side, at most. */
#define BJ_CODEGEN_ABREAST 20u
/* Of vectors only these numbers of chains, one bit each from 1 up. */
#define BJ_CODEGEN_SPARSE 0x88AAFu
/* Variables that live at once. */
#define BJ_CODEGEN_LIVE_LEAST 3u
#define BJ_CODEGEN_LIVE_MOST 132u
#define BJ_CODEGEN_LIVE_VECTORS_MOST 80u
/* Bytes of the largest type. */
#define BJ_CODEGEN_WIDEST 64u
/* Operands of a chain, in values of its type. */
#define BJ_CODEGEN_OPERANDS 6u
/* What loads read and stores write: so many values, behind those of the chains or the live vectors. */
#define BJ_CODEGEN_PLACES 32u
#define BJ_CODEGEN_CHAIN_VALUES (BJ_CODEGEN_ABREAST + BJ_CODEGEN_PLACES)

typedef enum { BJ_CODEGEN_CHAINS, BJ_CODEGEN_LIVE } bj_codegen_kind;

typedef struct {
    const char *name;    /* "int32", "doublex4" */
    const char *element; /* "int32", "double" */
    unsigned bytes, lanes;
    bool is_float;
    bool has_chains, has_live;
    /* Of vectors that newer processors have more registers for: the kernels for those, or "". */
    const char *variant;
} bj_codegen_type;

/* A step of a chain is one operation, or two in turn. */
typedef struct {
    bj_codegen_kind kind;
    const bj_codegen_type *type;
    const char *operation; /* "add"; of live variables "" */
    const char *then;      /* the second operation; NULL: none */
    unsigned abreast;      /* there are kernels for 1 to so many, of vectors not all; of live variables 0 */
} bj_codegen_family;

/* A file of the generated source: one kind and type, or the index. */
typedef struct {
    bj_codegen_kind kind;
    const bj_codegen_type *type; /* NULL: the index */
} bj_codegen_file;

size_t bj_codegen_count_familys(void);
bj_codegen_family bj_codegen_family_at(size_t number);
/* False: there is none. `then` may be NULL. Where there are variants it is the first: the others follow it, and the
 * first that is supported is the one to run. */
bool bj_codegen_find_family(bj_codegen_kind kind, const char *type, const char *operation, const char *then,
                            size_t *number);
/* Whether a step of the chain has that operation. */
bool bj_codegen_uses(const bj_codegen_family *unit, const char *operation);
/* Whether both are kernels of the same, for different processors. */
bool bj_codegen_is_variant(const bj_codegen_family *a, const bj_codegen_family *b);
/* Whether it has a kernel for so many chains. */
bool bj_codegen_has_abreast(const bj_codegen_family *unit, unsigned abreast);
/* Live variables of that type, at most. */
unsigned bj_codegen_most_live(const bj_codegen_type *type);
/* Loads and stores: their chains depend on nothing, and what they touch counts among the values. */
bool bj_codegen_is_memory(const bj_codegen_family *unit);
/* Where the sum of that live vector is stored, among the values. */
unsigned bj_codegen_place_of(unsigned variable);
/* The values that a kernel of so many chains or variables reads and writes. */
size_t bj_codegen_count_values(const bj_codegen_family *unit, unsigned abreast);
/* "op_int32_add", "op_double_sqrt_mul", "live_float": what its table is called in the source, after "bj_generated_". */
void bj_codegen_name_family(const bj_codegen_family *unit, char *name, size_t room);

size_t bj_codegen_count_files(void);
bj_codegen_file bj_codegen_file_at(size_t number);
/* "op_int32.c", "live_double.c", "index.c" */
void bj_codegen_name_file(const bj_codegen_file *file, char *name, size_t room);
/* Whether all could be written shows in ferror(). */
void bj_codegen_write_file(const bj_codegen_file *file, FILE *out);

/* Steps of each stream in one pass of a chain's loop: even, and exactly twice as many when unrolled twice. */
unsigned bj_codegen_count_steps(unsigned abreast, bool twice);
/* Times that each of so many live variables is added to in one pass. */
unsigned bj_codegen_count_sweeps(unsigned variables);

/* What a chain starts from (a value a stream) and goes on with; starts has room for BJ_CODEGEN_CHAIN_VALUES. In range
 * for as long as it may run: integers wrap or come back, and floating point neither grows to infinity nor shrinks to
 * denormal numbers. */
void bj_codegen_fill_operands(const bj_codegen_family *unit, void *starts, void *operands);
/* The values after so many steps of all chains abreast, or so many sweeps over all variables: computed one operation at
 * a time, for comparison with what a kernel returns. */
void bj_codegen_compute_result(const bj_codegen_family *unit, size_t abreast, size_t steps, const void *operands,
                               void *values);
