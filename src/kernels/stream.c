/* Reading, writing and copying memory in order, as wide as the processor can.
 *
 * Vectors by the compilers' extension, so that no loop depends on a vectoriser's mood: the widest kind that the
 * processor has is chosen when it runs, since what is built must run on the oldest. Reading only loads: additions, even
 * eight independent ones, took the units that the loop needs and a quarter of the rate. Stores past the caches are what
 * a C library's memcpy does with much memory: nothing is fetched that will be overwritten. */
#include "kernels/kernels.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

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

/* Elsewhere clang's builtin may be an ordinary store in the end; here it is an instruction of its own (stnp). */
#if defined(__aarch64__) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define HAS_PAIRS_PAST 1
#endif
#endif
#ifndef HAS_PAIRS_PAST
#define HAS_PAIRS_PAST 0
#endif

#define FOR8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SET(i) at[i] = value;
#define COPY(i) to[i] = at[i];

#define DEFINE_READ(NAME, BYTES, TARGET)                                                                               \
    TARGET static void NAME##_read(const void *memory, size_t bytes, size_t passes) {                                  \
        NAME##_vector sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};                                                  \
        NAME##_vector sum4 = {0}, sum5 = {0}, sum6 = {0}, sum7 = {0};                                                  \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            const NAME##_vector *at = memory;                                                                          \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * (BYTES)); i++, at += BLOCK_VECTORS) {                      \
                FOR8(LOAD)                                                                                             \
            }                                                                                                          \
            PASS_DONE();                                                                                               \
        }                                                                                                              \
        sum0 += sum1 + sum2 + sum3 + sum4 + sum5 + sum6 + sum7;                                                        \
        __asm__ volatile("" : : "r"((size_t)sum0[0]));                                                                 \
    }

/* Writing and copying with one kind of stores: NAME_write and NAME_copy, or NAME_write_past and NAME_copy_past. */
#define DEFINE_WRITE(NAME, KIND, BYTES, TARGET, STORE_VALUE, DONE)                                                     \
    TARGET static void NAME##_write##KIND(void *memory, size_t bytes, size_t passes, uint64_t filler) {                \
        NAME##_vector value = {0};                                                                                     \
        value += filler;                                                                                               \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            NAME##_vector *at = memory;                                                                                \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * (BYTES)); i++, at += BLOCK_VECTORS) {                      \
                FOR8(STORE_VALUE)                                                                                      \
            }                                                                                                          \
            DONE();                                                                                                    \
        }                                                                                                              \
    }

#define DEFINE_COPY(NAME, KIND, BYTES, TARGET, STORE_COPY, DONE)                                                       \
    TARGET static void NAME##_copy##KIND(void *target, const void *source, size_t bytes, size_t passes) {              \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            NAME##_vector *restrict to = target;                                                                       \
            const NAME##_vector *restrict at = source;                                                                 \
            for (size_t i = 0; i < bytes / (BLOCK_VECTORS * (BYTES)); i++, at += BLOCK_VECTORS, to += BLOCK_VECTORS) { \
                FOR8(STORE_COPY)                                                                                       \
            }                                                                                                          \
            DONE();                                                                                                    \
        }                                                                                                              \
    }

#define DEFINE_STORES(NAME, KIND, BYTES, TARGET, STORE_VALUE, STORE_COPY, DONE)                                        \
    DEFINE_WRITE(NAME, KIND, BYTES, TARGET, STORE_VALUE, DONE)                                                         \
    DEFINE_COPY(NAME, KIND, BYTES, TARGET, STORE_COPY, DONE)

#define DEFINE_STREAMS(NAME, BYTES, TARGET)                                                                            \
    typedef uint64_t NAME##_vector __attribute__((vector_size(BYTES), may_alias));                                     \
    DEFINE_READ(NAME, BYTES, TARGET)                                                                                   \
    DEFINE_STORES(NAME, , BYTES, TARGET, SET, COPY, PASS_DONE)

#define KERNELS_PAST(NAME, BYTES)                                                                                      \
    { BYTES, NAME##_read, NAME##_write, NAME##_copy, NAME##_write_past, NAME##_copy_past }

DEFINE_STREAMS(plain, 16, )
#if defined(__SSE2__)
#define SET_16(i) _mm_stream_si128((__m128i *)&at[i], (__m128i)value);
#define COPY_16(i) _mm_stream_si128((__m128i *)&to[i], (__m128i)at[i]);
DEFINE_STORES(plain, _past, 16, , SET_16, COPY_16, _mm_sfence)
static const bj_stream_kernels plain_kernels = KERNELS_PAST(plain, 16);
#elif HAS_PAIRS_PAST
#define SET_PAST(i) __builtin_nontemporal_store(value, &at[i]);
#define COPY_PAST(i) __builtin_nontemporal_store(at[i], &to[i]);
DEFINE_STORES(plain, _past, 16, , SET_PAST, COPY_PAST, PASS_DONE)
static const bj_stream_kernels plain_kernels = KERNELS_PAST(plain, 16);
#else
static const bj_stream_kernels plain_kernels = {16, plain_read, plain_write, plain_copy, NULL, NULL};
#endif

#if defined(__x86_64__) || defined(__i386__)
#define AVX2 __attribute__((target("avx2")))
#define SET_32(i) _mm256_stream_si256((__m256i *)&at[i], (__m256i)value);
#define COPY_32(i) _mm256_stream_si256((__m256i *)&to[i], (__m256i)at[i]);
DEFINE_STREAMS(avx2, 32, AVX2)
DEFINE_STORES(avx2, _past, 32, AVX2, SET_32, COPY_32, _mm_sfence)
static const bj_stream_kernels avx2_kernels = KERNELS_PAST(avx2, 32);

#define AVX512 __attribute__((target("avx512f")))
#define SET_64(i) _mm512_stream_si512((__m512i *)&at[i], (__m512i)value);
#define COPY_64(i) _mm512_stream_si512((__m512i *)&to[i], (__m512i)at[i]);
DEFINE_STREAMS(avx512, 64, AVX512)
DEFINE_STORES(avx512, _past, 64, AVX512, SET_64, COPY_64, _mm_sfence)
static const bj_stream_kernels avx512_kernels = KERNELS_PAST(avx512, 64);
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
