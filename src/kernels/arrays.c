/* Several arrays read, changed and written side by side, a line of each in turn: what a loop over many arrays asks of
 * the memory system. Vectors of 16 bytes, which every processor of the baseline has: the time goes to memory. */
#include "kernels/kernels.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef uint64_t vector __attribute__((vector_size(16), may_alias));

#define LINE_VECTORS (BJ_KERNEL_ARRAY_LINE / sizeof(vector))

void bj_kernel_update_arrays(char *const *arrays, size_t count, size_t from, size_t bytes) {
    for (size_t at = from; at < from + bytes; at += BJ_KERNEL_ARRAY_LINE)
        for (size_t a = 0; a < count; a++) {
            vector *line = (vector *)(void *)(arrays[a] + at);
            for (size_t v = 0; v < LINE_VECTORS; v++)
                line[v] += 1;
        }
    /* Stops the compiler from joining passes. */
    __asm__ volatile("" ::: "memory");
}

void bj_kernel_write_arrays_past(char *const *arrays, size_t count, size_t from, size_t bytes) {
    const vector value = {1, 1};
    for (size_t at = from; at < from + bytes; at += BJ_KERNEL_ARRAY_LINE)
        for (size_t a = 0; a < count; a++) {
            vector *line = (vector *)(void *)(arrays[a] + at);
            for (size_t v = 0; v < LINE_VECTORS; v++) {
#if defined(__SSE2__)
                _mm_stream_si128((__m128i *)&line[v], (__m128i)value);
#else
                line[v] = value;
#endif
            }
        }
    __asm__ volatile("" ::: "memory");
}
