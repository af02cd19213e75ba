/* The calls of a user's kernel between two readings of a clock, and what comes before them.
 *
 * The loop around the calls has one `if`, taken once per traversal of the sets. The kernel's results are summed up, so
 * that no compiler may call a pure one only once; the sign of the sum's factor flips with every traversal, so that the
 * same numbers are added and then taken away again and nothing can overflow. */
#include "kernels/timed_calls.h"

/* Prefetchers follow lines within a page of this size, and most stop at its end. */
enum { SCATTER_BYTES = 4096 };

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

/* The step between members of a ring of `count` that are visited one after the other: near its golden section, so that
 * neighbours in time are far apart, and without a common divisor, so that each is visited once. */
static size_t find_step(size_t count) {
    size_t step = count * 618 / 1000 | 1;
    for (size_t a = count, b = step;;) {
        size_t rest = a % b;
        if (rest == 0 && b == 1)
            return step;
        if (rest == 0) {
            step += 2;
            a = count;
            b = step;
        } else {
            a = b;
            b = rest;
        }
    }
}

uint64_t bj_kernel_read_scattered(const char *from, size_t bytes, size_t line_bytes) {
    size_t pages = bytes / SCATTER_BYTES, lines = SCATTER_BYTES / line_bytes;
    if (pages < 2 || lines < 2)
        return bj_kernel_read_range(from, bytes, line_bytes);
    size_t page_step = find_step(pages), line_step = find_step(lines);
    uint64_t sum = 0;
    for (size_t i = 0, page = 0; i < pages; i++, page = (page + page_step) % pages)
        for (size_t j = 0, line = 0; j < lines; j++, line = (line + line_step) % lines)
            sum += *(const volatile unsigned char *)(from + page * SCATTER_BYTES + line * line_bytes);
    return sum;
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
