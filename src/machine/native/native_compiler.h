/* Another compiler's kernels: what `run --cc` measures instead of the program's own. */
#pragma once

#include <stdbool.h>

#include "machine/machine.h"

typedef struct {
    const char *command; /* "clang -O3 -march=native": split like a shell would */
    /* Asked several times a second; true: stop now, with BJ_ERR_INTERRUPTED. NULL: never. */
    bool (*is_stopped)(void *context);
    void *context;
} bj_native_compiler;

/* Of what was built: for the profile. */
typedef struct {
    char version[96]; /* the first line that the compiler says of itself */
    char flags[400];  /* all that it was given, the user's first; those that hold a path are left out */
} bj_native_build;

/* Writes the generated kernels into a temporary folder, has the compiler build them and makes the native machine use
 * the result. The folder is gone when this returns. BJ_ERR_INPUT: the compiler could not be started or failed. */
bj_status bj_machine_use_compiler(bj_machine *machine, const bj_native_compiler *compiler, bj_native_build *build,
                                  bj_error *error) BJ_WARN_UNUSED;
