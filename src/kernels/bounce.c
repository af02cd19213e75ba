#include "kernels/kernels.h"

void bj_kernel_count_up(_Atomic uint64_t *word, size_t increments) {
    /* A fetch_add, not a plain store: stores gather in the store buffer and a core would write many of them during one
     * visit of the line. */
    for (size_t i = 0; i < increments; i++)
        atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
}

void bj_kernel_update_block(uint64_t *block, size_t words) {
    for (size_t i = 0; i < words; i++)
        block[i]++;
}
