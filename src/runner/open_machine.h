/* The machine and the seed that a caller asks for by name and number: the same for the program and the library. */
#pragma once

#include <stdint.h>

#include "machine/machine.h"

/* The largest seed: every JSON reader keeps it. */
#define BJ_SEED_MOST (((uint64_t)1 << 53) - 1)

/* "native" or NULL for this machine, "sim:FILE" for a simulated one; it has at least one cpu. Where there is no such
 * file and the name has no slash in it, "sim:NAME" is NAME.json among the machines that came with the program:
 * installed, or in the folder of the source that it was built in. */
bj_status bj_runner_open_machine(const char *name, uint64_t seed, bj_machine **machine, bj_error *error) BJ_WARN_UNUSED;
