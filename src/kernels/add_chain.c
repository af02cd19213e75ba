#include "kernels/kernels.h"

/* The empty statement emits no instruction. It only hides the sum from the compiler, which would otherwise turn
 * 256 additions of the same number into one multiplication. */
#define OPAQUE(variable) __asm__ volatile("" : "+r"(variable))

#define ADD                                                                                                            \
    sum += addend;                                                                                                     \
    OPAQUE(sum);
#define ADD8 ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD64 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8

uint32_t bj_kernel_add_int32(uint32_t start, uint32_t addend, size_t blocks) {
    uint32_t sum = start;
    /* A register operand, never an immediate: newer cores add small immediates for free at rename. */
    OPAQUE(addend);
    for (size_t i = 0; i < blocks; i++) {
        ADD64 ADD64 ADD64 ADD64
    }
    return sum;
}
