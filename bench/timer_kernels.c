/* Kernels whose time is known: nothing, and a chain of n dependent 32-bit additions. */
#include <stdint.h>

#include <blackjack/kernel.h>

double empty(size_t n, void *const *operands) {
    (void)n;
    (void)operands;
    return 0;
}
BLACKJACK_KERNEL(empty);

#define HIDE(variable) __asm__ volatile("" : "+r"(variable))
#define ADD                                                                                                            \
    sum += addend;                                                                                                     \
    HIDE(sum);
#define ADD8 ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD64 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8

double add_chain(size_t n, void *const *operands) {
    uint32_t sum = 1, addend = 1;
    (void)operands;
    HIDE(addend);
    for (size_t i = 0; i < n / 64; i++) {
        ADD64
    }
    return sum;
}
BLACKJACK_KERNEL(add_chain);
