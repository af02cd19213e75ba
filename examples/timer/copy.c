/* A copy by vectors of 32 bytes: where its operands are not aligned to them, every second access splits a line. */
#include <string.h>

#include <blackjack/kernel.h>

typedef struct {
    double part[4];
} vector;

double copy(size_t n, void *const *operands) {
    const char *from = operands[0];
    char *to = operands[1];
    size_t bytes = n * sizeof(double), i = 0;
    for (; i + 4 * sizeof(vector) <= bytes; i += 4 * sizeof(vector)) {
        vector moved[4];
        memcpy(moved, from + i, sizeof moved);
        memcpy(to + i, moved, sizeof moved);
    }
    memcpy(to + i, from + i, bytes - i);
    return (double)to[0];
}
BLACKJACK_KERNEL(copy);
