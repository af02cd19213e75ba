/* The calls of a user's kernel between two readings of a clock, and what comes before them.
 *
 * The loop around the calls has one `if`, taken once per traversal of the sets. The kernel's results are summed up, so
 * that no compiler may call a pure one only once; the sign of the sum's factor flips with every traversal, so that the
 * same numbers are added and then taken away again and nothing can overflow. */
#include "kernels/timed_calls.h"

static double add_up(bj_timed_calls *calls, size_t count) {
    double sum = calls->sum, alpha = calls->alpha;
    size_t left = calls->left, operands = calls->operand_count;
    char **at = calls->at;
    const ptrdiff_t *strides = calls->strides;
    for (size_t i = 0; i < count; i++) {
        sum += alpha * calls->kernel(calls->n, (void *const *)at);
        for (size_t o = 0; o < operands; o++)
            at[o] += strides[o];
        if (--left == 0) {
            left = calls->sets;
            alpha = -alpha;
            for (size_t o = 0; o < operands; o++)
                at[o] = calls->first[o];
        }
    }
    calls->alpha = alpha;
    calls->left = left;
    return sum;
}

/* The same with sets visited at random. */
static double add_up_shuffled(bj_timed_calls *calls, size_t count) {
    double sum = calls->sum, alpha = calls->alpha;
    size_t left = calls->left, operands = calls->operand_count;
    char **at = calls->at;
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t set = (ptrdiff_t)calls->order[left - 1];
        for (size_t o = 0; o < operands; o++)
            at[o] = calls->first[o] + set * calls->strides[o];
        sum += alpha * calls->kernel(calls->n, (void *const *)at);
        if (--left == 0) {
            left = calls->sets;
            alpha = -alpha;
        }
    }
    calls->alpha = alpha;
    calls->left = left;
    return sum;
}

uint64_t bj_kernel_time_calls(bj_timed_calls *calls, size_t count, bj_clock clock) {
    double (*const run)(bj_timed_calls *, size_t) = calls->order != NULL ? add_up_shuffled : add_up;
    uint64_t begin = bj_platform_read_clock(clock);
    calls->sum = run(calls, count);
    return bj_platform_read_clock(clock) - begin;
}

double bj_kernel_do_nothing(size_t n, void *const *operands) {
    /* Not known to be empty by whoever inlines across files. */
    __asm__ volatile("" : : "r"(n), "r"(operands));
    return 0;
}

uint64_t bj_kernel_read_range(const char *from, size_t bytes, size_t line_bytes) {
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i += line_bytes)
        sum += *(const volatile unsigned char *)(from + i);
    return sum;
}

#if defined(__SSE2__)
#define DROP_LINE(address) __builtin_ia32_clflush(address)
#define WAIT_FOR_DROPS() __builtin_ia32_mfence()
#endif

bool bj_kernel_can_drop_lines(void) {
#ifdef DROP_LINE
    return true;
#else
    return false;
#endif
}

void bj_kernel_drop_lines(const char *from, size_t bytes, size_t line_bytes) {
#ifdef DROP_LINE
    for (size_t i = 0; i < bytes; i += line_bytes)
        DROP_LINE(from + i);
    DROP_LINE(from + bytes - 1);
    WAIT_FOR_DROPS();
#else
    (void)from;
    (void)bytes;
    (void)line_bytes;
#endif
}

uint64_t bj_kernel_time_chase(void **start, size_t loads, bj_clock clock) {
    void *pointer = start;
    uint64_t begin = bj_platform_read_clock(clock);
    for (size_t i = 0; i < loads; i++)
        pointer = *(void *volatile *)pointer;
    /* The last load must be done before the clock is read. */
    __asm__ volatile("" : : "r"(pointer) : "memory");
    uint64_t end = bj_platform_read_clock(clock);
    return pointer != NULL ? end - begin : 0;
}
