/* Calls of somebody's kernel, timed, and the touches that put its operands where they are to be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/clock.h"

/* As include/blackjack/kernel.h has it. */
typedef double bj_kernel_function(size_t n, void *const *operands);

typedef struct {
    bj_kernel_function *kernel;
    size_t n, operand_count;
    char **at;                /* operands of the next call; one room a operand */
    char *const *first;       /* those of the first set */
    const ptrdiff_t *strides; /* to those of the next; 0: the operand stays */
    const uint32_t *order;    /* of sets that are visited at random; NULL: one after the other */
    size_t sets, left;        /* left of this traversal; begin with all */
    double alpha, sum;        /* begin with 1 and 0 */
} bj_timed_calls;

/* The time of so many calls, in the clock's unit. Goes on where the last one stopped. */
uint64_t bj_kernel_time_calls(bj_timed_calls *calls, size_t count, bj_clock clock);
/* A kernel that does nothing: what calling costs. */
bj_kernel_function bj_kernel_do_nothing;

/* Reads one byte of every line; returns their sum, for the compiler's sake. */
uint64_t bj_kernel_read_range(const char *from, size_t bytes, size_t line_bytes);
/* The same with pages, and the lines of each, out of order: caches that resist scans keep what they held while lines
 * come one after the other. `bytes` is cut to whole pages of 4 KiB, unless it is less than one. */
uint64_t bj_kernel_read_scattered(const char *from, size_t bytes, size_t line_bytes);
/* Whether the compiler offers an instruction for it. */
bool bj_kernel_can_drop_lines(void);
/* Out of all caches. */
void bj_kernel_drop_lines(const char *from, size_t bytes, size_t line_bytes);
/* The time of so many dependent loads along a chain of pointers. */
uint64_t bj_kernel_time_chase(void **start, size_t loads, bj_clock clock);
