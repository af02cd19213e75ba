/* Threads that the scheduler may put where it likes: crowds at the same work, and watchers of the clock. */
#ifndef BJ_MACHINE_NATIVE_CROWD_H
#define BJ_MACHINE_NATIVE_CROWD_H

#include "machine/machine.h"

bj_status bj_native_run_crowd(const bj_crowd *crowd, double *ns, bj_taken *taken, bj_error *error);
bj_status bj_native_run_watch(const bj_watch *watch, double *gaps_ns, size_t *gap_counts, bj_taken *taken,
                              bj_error *error);

#endif
