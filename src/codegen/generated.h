/* What generated source offers, compiled into the program or loaded from another compiler's output. The generator
 * writes the same declarations into its text (src/codegen/codegen_text.c). */
#pragma once

#include <stddef.h>

/* Goes on with `values` for so many passes (at least one) and puts them back. */
typedef void (*bj_generated_kernel)(void *values, const void *operands, size_t passes);

/* Whether this processor has those instructions: bj_platform_has_instructions. Handed to what is generated, which may
 * be another compiler's library and must not link with us. */
typedef _Bool bj_generated_has(const char *instructions);

/* Kernels of chains: for one stream unrolled once and twice, for two abreast, and so on. Of live variables: for
 * BJ_CODEGEN_LIVE_LEAST of them, one more, and so on. */
typedef struct {
    const char *name; /* NULL: after the last */
    const bj_generated_kernel *kernels;
    int (*is_supported)(
        bj_generated_has *has); /* 0: this processor, or this compiler's target, has no such instruction */
} bj_generated_family;

extern const bj_generated_family bj_generated_families[];
