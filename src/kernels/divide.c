#include "kernels/kernels.h"

/* The compiler knows no operand, so that no division can be left out, nor that the chains begin alike, or it would make
 * one of them. Four side by side keep a pipelined divider busy, where a single one would leave room for a sibling
 * thread.
 */
#define STEP a /= divisor, b /= divisor, c /= divisor, d /= divisor;
#define STEP4 STEP STEP STEP STEP
#define STEP16 STEP4 STEP4 STEP4 STEP4

_Static_assert(BJ_KERNEL_DIVIDE_BLOCK == 4 * 16, "a block is sixteen divisions of each chain");

uint32_t bj_kernel_divide_int(const volatile uint32_t *one, size_t blocks) {
    uint32_t a = *one, b = *one, c = *one, d = *one, divisor = *one;
    for (size_t i = 0; i < blocks; i++) {
        STEP16
    }
    return a + b + c + d;
}

double bj_kernel_divide_double(const volatile double *one, size_t blocks) {
    double a = *one, b = *one, c = *one, d = *one, divisor = *one;
    for (size_t i = 0; i < blocks; i++) {
        STEP16
    }
    return a + b + c + d;
}
