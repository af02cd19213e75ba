/* Streams in registers whose length only the processor knows, by the functions of the compilers' headers: C has no
 * vectors of such types. A range need not be a multiple of them, so its end is moved by a part of one. */
#include "kernels/stream_loops.h"

#if defined(__aarch64__) && defined(__GNUC__)
#if defined(__ARM_FEATURE_SVE) || (defined(__clang__) ? __clang_major__ >= 17 : __GNUC__ >= 10)
#define HAS_SVE 1
#endif
#elif defined(__riscv) && (defined(__riscv_v_intrinsic) || (defined(__clang__) && __clang_major__ >= 19))
#define HAS_RVV 1
#endif

#if defined(HAS_SVE)
#include <arm_sve.h>

#include "platform/processor.h"

#define SVE __attribute__((target("+sve")))
#define BASELINE_BYTES 16u

#define WANT(value) __asm__ volatile("" : : "w"(value));
#define LOAD_PART(i) WANT(svld1_vnum_u8(part, at, i))
#define STORE_PART(i) svst1_vnum_u8(part, at, i, value);
#define STORE_PART_PAST(i) svstnt1_vnum_u8(part, at, i, value);
#define COPY_PART(i) svst1_vnum_u8(part, to, i, svld1_vnum_u8(part, at, i));
#define COPY_PART_PAST(i) svstnt1_vnum_u8(part, to, i, svld1_vnum_u8(part, at, i));

/* Whole blocks, then what is left, register by register. NEXT goes on by so many bytes. */
#define MOVE_ALL(MOVE, NEXT)                                                                                           \
    do {                                                                                                               \
        const size_t each = svcntb(), block = BLOCK_VECTORS * each;                                                    \
        size_t left = bytes;                                                                                           \
        svbool_t part = svptrue_b8();                                                                                  \
        for (; left >= block; left -= block) {                                                                         \
            FOR8(MOVE)                                                                                                 \
            NEXT(block)                                                                                                \
        }                                                                                                              \
        while (left > 0) {                                                                                             \
            part = svwhilelt_b8_u64(0, left);                                                                          \
            MOVE(0)                                                                                                    \
            NEXT(each)                                                                                                 \
            left -= left < each ? left : each;                                                                         \
        }                                                                                                              \
        PASS_DONE();                                                                                                   \
    } while (0)
#define NEXT_ONE(step) at += step;
#define NEXT_BOTH(step) at += step, to += step;

SVE static void sve_read(const void *memory, size_t bytes, size_t passes) {
    for (size_t pass = 0; pass < passes; pass++) {
        const uint8_t *at = memory;
        MOVE_ALL(LOAD_PART, NEXT_ONE);
    }
}

#define DEFINE_SVE_STORES(KIND, STORE, COPY)                                                                           \
    SVE static void sve_write##KIND(void *memory, size_t bytes, size_t passes, uint64_t filler) {                      \
        const svuint8_t value = svreinterpret_u8_u64(svdup_u64(filler));                                               \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            uint8_t *at = memory;                                                                                      \
            MOVE_ALL(STORE, NEXT_ONE);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    SVE static void sve_copy##KIND(void *target, const void *source, size_t bytes, size_t passes) {                    \
        for (size_t pass = 0; pass < passes; pass++) {                                                                 \
            uint8_t *restrict to = target;                                                                             \
            const uint8_t *restrict at = source;                                                                       \
            MOVE_ALL(COPY, NEXT_BOTH);                                                                                 \
        }                                                                                                              \
    }
DEFINE_SVE_STORES(, STORE_PART, COPY_PART)
DEFINE_SVE_STORES(_past, STORE_PART_PAST, COPY_PART_PAST)

static const bj_stream_kernels sve_kernels = KERNELS_PAST(sve);

SVE static size_t count_register_bytes(void) {
    return svcntb();
}

const bj_stream_kernels *bj_kernel_pick_long_streams(void) {
    return bj_platform_has_instructions("sve") && count_register_bytes() > BASELINE_BYTES ? &sve_kernels : NULL;
}

#elif defined(HAS_RVV)
#include <riscv_vector.h>

#include "platform/processor.h"

#define RVV __attribute__((target("arch=+v")))

/* Eight registers by one instruction, or what is left. */
#define MOVE_ALL(MOVE, NEXT)                                                                                           \
    do {                                                                                                               \
        const size_t most = __riscv_vsetvlmax_e8m8() / sizeof *at;                                                     \
        for (size_t left = bytes / sizeof *at, some; left > 0; left -= some) {                                         \
            some = left < most ? left : most;                                                                          \
            MOVE NEXT                                                                                                  \
        }                                                                                                              \
        PASS_DONE();                                                                                                   \
    } while (0)

RVV static void rvv_read(const void *memory, size_t bytes, size_t passes) {
    for (size_t pass = 0; pass < passes; pass++) {
        const uint64_t *at = memory;
        MOVE_ALL(__asm__ volatile("" : : "vr"(__riscv_vle64_v_u64m8(at, some)));, at += some;);
    }
}

RVV static void rvv_write(void *memory, size_t bytes, size_t passes, uint64_t filler) {
    const vuint64m8_t value = __riscv_vmv_v_x_u64m8(filler, __riscv_vsetvlmax_e8m8() / sizeof filler);
    for (size_t pass = 0; pass < passes; pass++) {
        uint64_t *at = memory;
        MOVE_ALL(__riscv_vse64_v_u64m8(at, value, some);, at += some;);
    }
}

RVV static void rvv_copy(void *target, const void *source, size_t bytes, size_t passes) {
    for (size_t pass = 0; pass < passes; pass++) {
        uint64_t *restrict to = target;
        const uint64_t *restrict at = source;
        MOVE_ALL(__riscv_vse64_v_u64m8(to, __riscv_vle64_v_u64m8(at, some), some);, at += some; to += some;);
    }
}

static const bj_stream_kernels rvv_kernels = KERNELS(rvv);

const bj_stream_kernels *bj_kernel_pick_long_streams(void) {
    return bj_platform_has_instructions("v") ? &rvv_kernels : NULL;
}

#else
const bj_stream_kernels *bj_kernel_pick_long_streams(void) {
    return NULL;
}
#endif
