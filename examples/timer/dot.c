/* Dot product with 16 sums side by side: one sum alone would wait for its own additions, and hide the caches. */
#include <blackjack/kernel.h>

enum { SUMS = 16 };

double dot(size_t n, void *const *operands) {
    const double *x = operands[0], *y = operands[1];
    double sums[SUMS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t j = 0; j < SUMS; j++)
            sums[j] += x[i + j] * y[i + j];
    for (; i < n; i++)
        sum += x[i] * y[i];
    for (size_t j = 0; j < SUMS; j++)
        sum += sums[j];
    return sum;
}
BLACKJACK_KERNEL(dot);
