/* Generated kernels on the real machine: chains of operations and live variables, checked before they are timed. */
#ifndef BJ_MACHINE_NATIVE_KERNELS_H
#define BJ_MACHINE_NATIVE_KERNELS_H

#include "codegen/generated.h"
#include "machine/machine.h"

typedef struct bj_native_kernels bj_native_kernels;

/* Of such a table: the program's own, or one that another compiler's output exports. `library` is what dlopen() gave,
 * taken over also on failure; NULL: none. */
bj_status bj_native_open_kernels(const bj_generated_unit *units, void *library, bj_native_kernels **kernels,
                                 bj_error *error) BJ_WARN_UNUSED;
void bj_native_close_kernels(bj_native_kernels *kernels);

/* The verbs; batch_ns: the shortest batch that the clock can time. */
bj_status bj_native_run_chains(bj_native_kernels *kernels, const bj_chain *chains, size_t count, unsigned repetitions,
                               double batch_ns, double *ns_per_step, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_native_run_live(bj_native_kernels *kernels, const bj_live *lives, size_t count, unsigned repetitions,
                             double batch_ns, double *ns_per_addition, bj_error *error) BJ_WARN_UNUSED;

#endif
