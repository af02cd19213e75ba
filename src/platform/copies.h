/* Copies of somebody's program: started together on cpus of their own, timed to their ends, and gone with all that they
 * started, however we end ourselves. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

typedef struct {
    const int *cpus; /* OS numbers */
    size_t count;
} bj_copy_cpus;

typedef struct {
    double limit_s; /* for each */
    /* Asked several times a second; true: end all, with BJ_ERR_INTERRUPTED. NULL: never. */
    bool (*is_stopped)(void *context);
    void *context;
} bj_copies_rules;

typedef struct bj_copies bj_copies;

/* One process each, on its cpus, that waits to become the program. "{cpus}" in a word becomes the number of its cpus,
 * and so does OMP_NUM_THREADS. They read nothing, and what they write is thrown away but for the first line of errors.
 */
bj_status bj_platform_hold_copies(char *const *words, const bj_copy_cpus *cpus, size_t count, bj_copies **copies,
                                  bj_error *error) BJ_WARN_UNUSED;
/* The process of one of them, which is yet to become the program. */
pid_t bj_platform_find_copy(const bj_copies *copies, size_t index);
/* Lets them go and returns when all have ended. *begun_ns and *first_end_ns are set as soon as that happens, for others
 * to see. seconds: of each, to its end. BJ_ERR_FAILED: one failed, took too long, or left something running. */
bj_status bj_platform_run_copies(bj_copies *copies, const bj_copies_rules *rules, _Atomic uint64_t *begun_ns,
                                 _Atomic uint64_t *first_end_ns, double *seconds, bj_error *error) BJ_WARN_UNUSED;
/* Ends what is still there. NULL: nothing happens. */
void bj_platform_end_copies(bj_copies *copies);
