/* Instructions that a processor may have beyond its architecture's baseline, as the system tells it. */
#pragma once

#include <stdbool.h>

/* Whether this processor has, and the system lets us use, that set: "neon", "vfpv4" (32-bit ARM), "sve" (AArch64),
 * "vsx" (POWER), "vx", "vxe" (z), "v" (RISC-V). False for any other name, and where the system does not tell. On x86
 * the compilers' __builtin_cpu_supports asks the processor itself. */
bool bj_platform_has_instructions(const char *set);
