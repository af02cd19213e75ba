/* The loops of streams, for one kind of vectors after the other. Private to the stream kernels.
 *
 * NAME_vector is the kind, of BYTES; TARGET the attribute that a function needs to use it. LOAD, STORE_VALUE and
 * STORE_COPY are macros that move vector number i of a block. */
#pragma once

#include "kernels/kernels.h"

#define BLOCK_VECTORS 8u
/* Where the next block begins; 0: moving has gone on to it vector by vector. */
#define NEXT_BLOCK BLOCK_VECTORS

/* Stops the compiler from moving loads and stores of one pass into another. */
#define PASS_DONE() __asm__ volatile("" ::: "memory")

#define FOR8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SET(i) at[i] = value;
#define COPY(i) to[i] = at[i];

#define DEFINE_VECTOR(NAME, BYTES) typedef uint64_t NAME##_vector __attribute__((vector_size(BYTES), may_alias));

#define DEFINE_READ(NAME, BYTES, TARGET, LOAD)                                                                         \
    TARGET static void NAME##_read(const void *memory, size_t bytes, size_t passes) {                                  \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            const NAME##_vector *at = memory;                                                                          \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * (BYTES)); i++, at += NEXT_BLOCK) {                         \
                FOR8(LOAD)                                                                                             \
            }                                                                                                          \
            PASS_DONE();                                                                                               \
        }                                                                                                              \
    }

/* Writing and copying with one kind of stores: NAME_write and NAME_copy, or NAME_write_past and NAME_copy_past. */
#define DEFINE_WRITE(NAME, KIND, BYTES, TARGET, STORE_VALUE, DONE)                                                     \
    TARGET static void NAME##_write##KIND(void *memory, size_t bytes, size_t passes, uint64_t filler) {                \
        NAME##_vector value = {0};                                                                                     \
        value += filler;                                                                                               \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            NAME##_vector *at = memory;                                                                                \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * (BYTES)); i++, at += NEXT_BLOCK) {                         \
                FOR8(STORE_VALUE)                                                                                      \
            }                                                                                                          \
            DONE();                                                                                                    \
        }                                                                                                              \
    }

#define DEFINE_COPY(NAME, KIND, BYTES, TARGET, STORE_COPY, DONE)                                                       \
    TARGET static void NAME##_copy##KIND(void *target, const void *source, size_t bytes, size_t passes) {              \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            NAME##_vector *restrict to = target;                                                                       \
            const NAME##_vector *restrict at = source;                                                                 \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * (BYTES)); i++, at += NEXT_BLOCK, to += NEXT_BLOCK) {       \
                FOR8(STORE_COPY)                                                                                       \
            }                                                                                                          \
            DONE();                                                                                                    \
        }                                                                                                              \
    }

#define DEFINE_STORES(NAME, KIND, BYTES, TARGET, STORE_VALUE, STORE_COPY, DONE)                                        \
    DEFINE_WRITE(NAME, KIND, BYTES, TARGET, STORE_VALUE, DONE)                                                         \
    DEFINE_COPY(NAME, KIND, BYTES, TARGET, STORE_COPY, DONE)

#define DEFINE_STREAMS(NAME, BYTES, TARGET, LOAD)                                                                      \
    DEFINE_VECTOR(NAME, BYTES)                                                                                         \
    DEFINE_READ(NAME, BYTES, TARGET, LOAD)                                                                             \
    DEFINE_STORES(NAME, , BYTES, TARGET, SET, COPY, PASS_DONE)

#define KERNELS(NAME)                                                                                                  \
    { #NAME, NAME##_read, NAME##_write, NAME##_copy, NULL, NULL }
#define KERNELS_PAST(NAME)                                                                                             \
    { #NAME, NAME##_read, NAME##_write, NAME##_copy, NAME##_write_past, NAME##_copy_past }

/* Those of registers whose length only the processor knows (SVE, RVV). NULL: this processor, or this compiler, has
 * none, or they are no wider than the baseline's. */
const bj_stream_kernels *bj_kernel_pick_long_streams(void);
