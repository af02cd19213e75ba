/* Reading, writing and copying memory in order, as wide as the processor can.
 *
 * Vectors by the compilers' extension, so that no loop depends on a vectoriser's mood: the widest kind that the
 * processor has is chosen when it runs, since what is built must run on the oldest. Reading only loads: additions, even
 * eight independent ones, took the units that the loop needs and a quarter of the rate. */
#include "kernels/kernels.h"

#define BLOCK_VECTORS 8u

/* Stops the compiler from moving loads and stores of one pass into another. */
#define PASS_DONE() __asm__ volatile("" ::: "memory")

/* Emits no instruction, only wants the value in a register. Where we do not know what vector registers are called, a
 * sum is wanted instead. */
#if defined(__x86_64__) || defined(__i386__)
#define LOAD(i) __asm__ volatile("" : : "x"(at[i]));
#elif defined(__aarch64__)
#define LOAD(i) __asm__ volatile("" : : "w"(at[i]));
#else
#define LOAD(i) sum##i += at[i];
#endif

#define FOR8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SET(i) at[i] = value;
#define COPY(i) to[i] = at[i];

#define DEFINE_STREAMS(NAME, BYTES, TARGET)                                                                            \
    typedef uint64_t NAME##_vector __attribute__((vector_size(BYTES), may_alias));                                     \
    TARGET static void NAME##_read(const void *memory, size_t bytes, size_t passes) {                                  \
        NAME##_vector sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};                                                  \
        NAME##_vector sum4 = {0}, sum5 = {0}, sum6 = {0}, sum7 = {0};                                                  \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            const NAME##_vector *at = memory;                                                                          \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * BYTES); i++, at += BLOCK_VECTORS) {                        \
                FOR8(LOAD)                                                                                             \
            }                                                                                                          \
            PASS_DONE();                                                                                               \
        }                                                                                                              \
        sum0 += sum1 + sum2 + sum3 + sum4 + sum5 + sum6 + sum7;                                                        \
        __asm__ volatile("" : : "r"((size_t)sum0[0]));                                                                 \
    }                                                                                                                  \
    TARGET static void NAME##_write(void *memory, size_t bytes, size_t passes, uint64_t filler) {                      \
        NAME##_vector value = {0};                                                                                     \
        value += filler;                                                                                               \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            NAME##_vector *at = memory;                                                                                \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * BYTES); i++, at += BLOCK_VECTORS) {                        \
                FOR8(SET)                                                                                              \
            }                                                                                                          \
            PASS_DONE();                                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    TARGET static void NAME##_copy(void *target, const void *source, size_t bytes, size_t passes) {                    \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            NAME##_vector *restrict to = target;                                                                       \
            const NAME##_vector *restrict at = source;                                                                 \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * BYTES); i++, at += BLOCK_VECTORS, to += BLOCK_VECTORS) {   \
                FOR8(COPY)                                                                                             \
            }                                                                                                          \
            PASS_DONE();                                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static const bj_stream_kernels NAME##_kernels = {BYTES, NAME##_read, NAME##_write, NAME##_copy};

DEFINE_STREAMS(plain, 16, )
#if defined(__x86_64__) || defined(__i386__)
DEFINE_STREAMS(avx2, 32, __attribute__((target("avx2"))))
DEFINE_STREAMS(avx512, 64, __attribute__((target("avx512f"))))
#endif

const bj_stream_kernels *bj_kernel_pick_streams(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return &avx512_kernels;
    if (__builtin_cpu_supports("avx2"))
        return &avx2_kernels;
#endif
    return &plain_kernels;
}
