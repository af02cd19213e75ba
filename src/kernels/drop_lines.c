/* Lines taken out of all caches one by one, by what the compilers offer without assembler: clflush on x86, dcbf on
 * POWER. AArch64 has dc civac, but neither gcc nor clang a builtin for it (__builtin___clear_cache stops where
 * instructions and data meet); RISC-V, z and 32-bit ARM let no program do it that was not allowed to by the system.
 * There the kernel timer flushes by reading alone. */
#include "kernels/timed_calls.h"

#if defined(__SSE2__)
#define DROP_LINE(address) __builtin_ia32_clflush(address)
#define WAIT_FOR_DROPS() __builtin_ia32_mfence()
#elif defined(__powerpc64__) && defined(__VSX__) && defined(__GNUC__) && !defined(__clang__)
/* gcc's translation of x86's functions. Its header takes the word bool away. */
#define NO_WARN_X86_INTRINSICS 1
#include <emmintrin.h>
#undef bool
#define bool _Bool
#define DROP_LINE(address) _mm_clflush(address)
#define WAIT_FOR_DROPS() __sync_synchronize()
#endif

bool bj_kernel_can_drop_lines(void) {
#ifdef DROP_LINE
    return true;
#else
    return false;
#endif
}

void bj_kernel_drop_lines(const char *from, size_t bytes, size_t line_bytes) {
#ifdef DROP_LINE
    for (size_t i = 0; i < bytes; i += line_bytes)
        DROP_LINE(from + i);
    DROP_LINE(from + bytes - 1);
    WAIT_FOR_DROPS();
#else
    (void)from;
    (void)bytes;
    (void)line_bytes;
#endif
}
