#include "kernels/kernels.h"

#define STEP pointer = *(void *const *)pointer;
#define STEP8 STEP STEP STEP STEP STEP STEP STEP STEP
#define STEP64 STEP8 STEP8 STEP8 STEP8 STEP8 STEP8 STEP8 STEP8

void *bj_kernel_chase(void *start, size_t blocks) {
    void *pointer = start;
    for (size_t i = 0; i < blocks; i++) {
        STEP64 STEP64
    }
    return pointer;
}
