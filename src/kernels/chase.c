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

/* Up to twelve chains have their pointers in variables of their own: so many stay in registers where there are 16, with
 * room left for the counter and two that the system keeps. */
#define EACH2(DO) DO(0) DO(1)
#define EACH3(DO) EACH2(DO) DO(2)
#define EACH4(DO) EACH3(DO) DO(3)
#define EACH5(DO) EACH4(DO) DO(4)
#define EACH6(DO) EACH5(DO) DO(5)
#define EACH7(DO) EACH6(DO) DO(6)
#define EACH8(DO) EACH7(DO) DO(7)
#define EACH9(DO) EACH8(DO) DO(8)
#define EACH10(DO) EACH9(DO) DO(9)
#define EACH11(DO) EACH10(DO) DO(10)
#define EACH12(DO) EACH11(DO) DO(11)

#define TAKE(i) void *pointer##i = positions[i];
#define STEP_OF(i) pointer##i = *(void *const *)pointer##i;
#define KEEP(i) positions[i] = pointer##i;
#define STEPS(n) EACH##n(STEP_OF) EACH##n(STEP_OF) EACH##n(STEP_OF) EACH##n(STEP_OF)

#define DEFINE_CHASE(n)                                                                                                \
    static void chase_##n(void **positions, size_t blocks) {                                                           \
        EACH##n(TAKE) for (size_t i = 0; i < blocks; i++){STEPS(n) STEPS(n)} EACH##n(KEEP)                             \
    }

DEFINE_CHASE(2)
DEFINE_CHASE(3)
DEFINE_CHASE(4)
DEFINE_CHASE(5)
DEFINE_CHASE(6)
DEFINE_CHASE(7)
DEFINE_CHASE(8)
DEFINE_CHASE(9)
DEFINE_CHASE(10)
DEFINE_CHASE(11)
DEFINE_CHASE(12)

/* More would spill whatever the source says. In memory, a step of a chain takes two loads and a store, and waits some
 * five cycles for the pointer that was just stored: little beside the misses that so many chains are for, and three
 * operations a chain leave room for 64 chains in the reorder buffers of today. */
static void chase_in_memory(void **positions, unsigned chains, size_t blocks) {
    for (size_t i = 0; i < blocks * BJ_KERNEL_CHASE_STEPS; i++) {
        unsigned c = 0;
        for (; c + 4 <= chains; c += 4) {
            positions[c] = *(void *const *)positions[c];
            positions[c + 1] = *(void *const *)positions[c + 1];
            positions[c + 2] = *(void *const *)positions[c + 2];
            positions[c + 3] = *(void *const *)positions[c + 3];
        }
        for (; c < chains; c++)
            positions[c] = *(void *const *)positions[c];
    }
}

void bj_kernel_chase_many(void **positions, unsigned chains, size_t blocks) {
    static void (*const chase[])(void **, size_t) = {chase_2, chase_3, chase_4,  chase_5,  chase_6, chase_7,
                                                     chase_8, chase_9, chase_10, chase_11, chase_12};
    if (chains >= 2 && chains < 2 + sizeof chase / sizeof chase[0])
        chase[chains - 2](positions, blocks);
    else
        chase_in_memory(positions, chains, blocks);
}
