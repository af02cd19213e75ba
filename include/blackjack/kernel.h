/* What `blackjack time` and bj_lib_time_kernel() call: a kernel gets a size and its operands.
 *
 *     #include <blackjack/kernel.h>
 *
 *     double dot(size_t n, void *const *operands) {
 *         const double *x = operands[0], *y = operands[1];
 *         ...
 *     }
 *     BLACKJACK_KERNEL(dot);
 *
 * Whatever it returns is summed up, so that no compiler can leave a call out: return something of the result. The last
 * line is not needed; with it, a wrong signature is an error where the kernel is compiled. */
#ifndef BLACKJACK_KERNEL_H
#define BLACKJACK_KERNEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef double bj_lib_kernel(size_t n, void *const *operands);

#ifdef __cplusplus
}
#endif

#define BLACKJACK_KERNEL(name) extern bj_lib_kernel name

#endif
