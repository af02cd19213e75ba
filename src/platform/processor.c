#include "platform/processor.h"

#include <stddef.h>
#include <string.h>

#ifdef __linux__
#include <sys/auxv.h>
#endif

/* Bits of AT_HWCAP, which are part of the system's binary interface. By number: a C library's headers may be older than
 * the processor. */
typedef struct {
    const char *set;
    unsigned long bit;
} instruction_set;

static const instruction_set sets[] = {
#if defined(__aarch64__)
    {"sve", 1ul << 22},
#elif defined(__arm__)
    {"neon", 1ul << 12},
    {"vfpv4", 1ul << 16},
#elif defined(__powerpc__)
    {"vsx", 0x80},
#elif defined(__s390x__)
    {"vx", 1ul << 11},
    {"vxe", 1ul << 13},
#elif defined(__riscv)
    {"v", 1ul << ('v' - 'a')},
#endif
    {NULL, 0},
};

static unsigned long read_capabilities(void) {
#ifdef __linux__
    return getauxval(AT_HWCAP);
#else
    return 0;
#endif
}

bool bj_platform_has_instructions(const char *set) {
    for (const instruction_set *known = sets; known->set != NULL; known++)
        if (strcmp(known->set, set) == 0)
            return (read_capabilities() & known->bit) != 0;
    return false;
}
