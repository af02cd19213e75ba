/* The hot loops: the only code inside a timed region. Compiled with flags of their own (CMakeLists.txt), so that
 * the loops stay what the source says whatever the user's CFLAGS. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Loads of one block of the chase: unrolled so far that the loop around them costs nothing measurable. */
#define BJ_KERNEL_CHASE_BLOCK 128u

/* Follows the pointer chain for blocks × BJ_KERNEL_CHASE_BLOCK loads; returns where it stopped. */
void *bj_kernel_chase(void *start, size_t blocks);

/* Steps of each chain in one block. */
#define BJ_KERNEL_CHASE_STEPS 8u

/* Follows `chains` chains (two or more) side by side for blocks × BJ_KERNEL_CHASE_STEPS loads each, from positions[]
 * and back into it. */
void bj_kernel_chase_many(void **positions, unsigned chains, size_t blocks);

/* Passes over memory that is aligned to 64 bytes, of bytes that are a multiple of BJ_KERNEL_STREAM_BLOCK. */
typedef struct {
    const char *instructions; /* "avx2", "sve"; "plain": the baseline's */
    void (*read)(const void *memory, size_t bytes, size_t passes);
    void (*write)(void *memory, size_t bytes, size_t passes, uint64_t filler);
    void (*copy)(void *target, const void *source, size_t bytes, size_t passes);
    /* With stores that pass by the caches; NULL: we know of none. */
    void (*write_past)(void *memory, size_t bytes, size_t passes, uint64_t filler);
    void (*copy_past)(void *target, const void *source, size_t bytes, size_t passes);
} bj_stream_kernels;

/* Eight vectors of 64 bytes. */
#define BJ_KERNEL_STREAM_BLOCK 512u

/* The widest that this processor has. */
const bj_stream_kernels *bj_kernel_pick_streams(void);

/* What is passed of one array before the next has its turn. */
#define BJ_KERNEL_ARRAY_LINE 64u

/* Adds one to every word of `count` arrays side by side: of each the bytes from `from` on, multiples of a line. */
void bj_kernel_update_arrays(char *const *arrays, size_t count, size_t from, size_t bytes);
/* The same, but only written, and past the caches where we know how. */
void bj_kernel_write_arrays_past(char *const *arrays, size_t count, size_t from, size_t bytes);

/* Adds one so many times, each time for all to see. */
void bj_kernel_count_up(_Atomic uint64_t *word, size_t increments);

/* Adds one to every word of a block: the update of the 2012 paper's exchange (3.1.4). */
void bj_kernel_update_block(uint64_t *block, size_t words);

/* Dependent additions of one block of the add chain. */
#define BJ_KERNEL_ADD_BLOCK 256u

/* blocks × BJ_KERNEL_ADD_BLOCK dependent 32-bit additions with register operands; returns the sum. */
uint32_t bj_kernel_add_int32(uint32_t start, uint32_t addend, size_t blocks);

/* Divisions of one block, of four chains together. */
#define BJ_KERNEL_DIVIDE_BLOCK 64u

/* Divides one by one for blocks × BJ_KERNEL_DIVIDE_BLOCK times, if the caller keeps it from the compiler that `one` is
 * one; returns four. */
uint32_t bj_kernel_divide_int(const volatile uint32_t *one, size_t blocks);
double bj_kernel_divide_double(const volatile double *one, size_t blocks);

/* Reads the clock for length_ns and keeps the first `room` gaps of more than least_ns between two readings; returns how
 * many. */
size_t bj_kernel_watch_gaps(uint64_t length_ns, uint64_t least_ns, double *gaps_ns, size_t room);
