/* Counters that do not share a line, in a block that stays in the first level: both known when this is compiled. */
#include <stdio.h>

typedef struct {
    _Alignas(LINE_BYTES) unsigned long count;
} counter;

enum { COUNTERS = BLOCK_BYTES / sizeof(counter) };

static counter counters[COUNTERS];

int main(void) {
    for (unsigned long i = 0; i < 10ul * COUNTERS; i++)
        counters[i % COUNTERS].count++;
    printf("%d counters of %zu bytes in blocks of %d\n", COUNTERS, sizeof(counter), BLOCK_BYTES);
    return counters[COUNTERS - 1].count == 10 ? 0 : 1;
}
