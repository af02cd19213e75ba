/* The native machine's own, for the file that gives it other kernels. */
#ifndef BJ_MACHINE_NATIVE_MACHINE_H
#define BJ_MACHINE_NATIVE_MACHINE_H

#include "machine/native/native_kernels.h"

/* In place of those that it has, which it frees. */
void bj_native_replace_kernels(bj_machine *machine, bj_native_kernels *kernels);

#endif
