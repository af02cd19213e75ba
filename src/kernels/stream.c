/* Reading, writing and copying memory in order, as wide as the processor can.
 *
 * Vectors by the compilers' extension, so that no loop depends on a vectoriser's mood: the widest kind that the
 * processor has is chosen when it runs, since what is built must run on the oldest. Reading only loads: additions, even
 * eight independent ones, took the units that the loop needs and a quarter of the rate. Stores past the caches are what
 * a C library's memcpy does with much memory: nothing is fetched that will be overwritten. */
#include "kernels/stream_loops.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#else
#include "platform/processor.h"
#endif

/* Emits no instruction, only wants the value in a register: in two for numbers where vectors are not in the baseline or
 * we do not know what their registers are called. */
#define LOAD_HALVES(i) __asm__ volatile("" : : "r"(at[i][0]), "r"(at[i][1]));
#if defined(__x86_64__) || defined(__i386__)
#define LOAD(i) __asm__ volatile("" : : "x"(at[i]));
#elif defined(__aarch64__)
#define LOAD(i) __asm__ volatile("" : : "w"(at[i]));
#elif defined(__VSX__)
#define LOAD(i) __asm__ volatile("" : : "wa"(at[i]));
#else
#define LOAD LOAD_HALVES
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

DEFINE_STREAMS(plain, 16, , LOAD)
#if defined(__SSE2__)
#define SET_16(i) _mm_stream_si128((__m128i *)&at[i], (__m128i)value);
#define COPY_16(i) _mm_stream_si128((__m128i *)&to[i], (__m128i)at[i]);
DEFINE_STORES(plain, _past, 16, , SET_16, COPY_16, _mm_sfence)
static const bj_stream_kernels plain_kernels = KERNELS_PAST(plain);
#elif HAS_PAIRS_PAST
#define SET_PAST(i) __builtin_nontemporal_store(value, &at[i]);
#define COPY_PAST(i) __builtin_nontemporal_store(at[i], &to[i]);
DEFINE_STORES(plain, _past, 16, , SET_PAST, COPY_PAST, PASS_DONE)
static const bj_stream_kernels plain_kernels = KERNELS_PAST(plain);
#else
static const bj_stream_kernels plain_kernels = KERNELS(plain);
#endif

#if defined(__x86_64__) || defined(__i386__)
#define AVX2 __attribute__((target("avx2")))
#define SET_32(i) _mm256_stream_si256((__m256i *)&at[i], (__m256i)value);
#define COPY_32(i) _mm256_stream_si256((__m256i *)&to[i], (__m256i)at[i]);
DEFINE_STREAMS(avx2, 32, AVX2, LOAD)
DEFINE_STORES(avx2, _past, 32, AVX2, SET_32, COPY_32, _mm_sfence)
static const bj_stream_kernels avx2_kernels = KERNELS_PAST(avx2);

#define AVX512 __attribute__((target("avx512f")))
#define SET_64(i) _mm512_stream_si512((__m512i *)&at[i], (__m512i)value);
#define COPY_64(i) _mm512_stream_si512((__m512i *)&to[i], (__m512i)at[i]);
DEFINE_STREAMS(avx512, 64, AVX512, LOAD)
DEFINE_STORES(avx512, _past, 64, AVX512, SET_64, COPY_64, _mm_sfence)
static const bj_stream_kernels avx512_kernels = KERNELS_PAST(avx512);

static const bj_stream_kernels *pick_wider(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return &avx512_kernels;
    return __builtin_cpu_supports("avx2") ? &avx2_kernels : NULL;
}
#elif defined(__s390x__) && !defined(__clang__)
/* Without the vector facility, 16 bytes are two registers. */
#define LOAD_V(i) __asm__ volatile("" : : "v"(at[i]));
DEFINE_STREAMS(vx, 16, __attribute__((target("arch=z13"))), LOAD_V)
static const bj_stream_kernels vx_kernels = KERNELS(vx);

static const bj_stream_kernels *pick_wider(void) {
    return bj_platform_has_instructions("vx") ? &vx_kernels : NULL;
}
#elif defined(__powerpc__) && !defined(__VSX__) && !defined(__clang__)
#define LOAD_WA(i) __asm__ volatile("" : : "wa"(at[i]));
DEFINE_STREAMS(vsx, 16, __attribute__((target("vsx"))), LOAD_WA)
static const bj_stream_kernels vsx_kernels = KERNELS(vsx);

static const bj_stream_kernels *pick_wider(void) {
    return bj_platform_has_instructions("vsx") ? &vsx_kernels : NULL;
}
#elif defined(__arm__) && defined(__ARM_FP) && !defined(__clang__)
#include <arm_neon.h>
/* The header's functions, since what the compiler makes of a plain access may be two of half the width. They have no
 * offsets but go on by themselves. */
#undef NEXT_BLOCK
#define NEXT_BLOCK 0
#define NEON __attribute__((target("fpu=neon")))
#define GONE_ON(pointer) __asm__("" : "+r"(pointer)); /* else all places are computed beforehand, and spilled */
#define LOAD_Q(i)                                                                                                      \
    __asm__ volatile("" : : "w"(vld1q_u64((const uint64_t *)at++)));                                                   \
    GONE_ON(at)
#define SET_Q(i)                                                                                                       \
    vst1q_u64((uint64_t *)at++, (uint64x2_t)value);                                                                    \
    GONE_ON(at)
#define COPY_Q(i)                                                                                                      \
    vst1q_u64((uint64_t *)to++, vld1q_u64((const uint64_t *)at++));                                                    \
    GONE_ON(at) GONE_ON(to)
DEFINE_VECTOR(neon, 16)
DEFINE_READ(neon, 16, NEON, LOAD_Q)
DEFINE_STORES(neon, , 16, NEON, SET_Q, COPY_Q, PASS_DONE)
static const bj_stream_kernels neon_kernels = KERNELS(neon);

static const bj_stream_kernels *pick_wider(void) {
    return bj_platform_has_instructions("neon") ? &neon_kernels : NULL;
}
#else
static const bj_stream_kernels *pick_wider(void) {
    return bj_kernel_pick_long_streams();
}
#endif

const bj_stream_kernels *bj_kernel_pick_streams(void) {
    const bj_stream_kernels *wider = pick_wider();
    return wider != NULL ? wider : &plain_kernels;
}
