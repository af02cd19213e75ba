/* The hot loops: the only code inside a timed region. Compiled with flags of their own (CMakeLists.txt), so that
 * the loops stay what the source says whatever the user's CFLAGS. */
#ifndef BJ_KERNELS_KERNELS_H
#define BJ_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Loads of one block of the chase: unrolled so far that the loop around them costs nothing measurable. */
#define BJ_KERNEL_CHASE_BLOCK 128u

/* Follows the pointer chain for blocks × BJ_KERNEL_CHASE_BLOCK loads; returns where it stopped. */
void *bj_kernel_chase(void *start, size_t blocks);

/* Dependent additions of one block of the add chain. */
#define BJ_KERNEL_ADD_BLOCK 256u

/* blocks × BJ_KERNEL_ADD_BLOCK dependent 32-bit additions with register operands; returns the sum. */
uint32_t bj_kernel_add_int32(uint32_t start, uint32_t addend, size_t blocks);

#endif
