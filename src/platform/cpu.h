/* Which cpus we may use, and staying on one of them. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* The cpus that the calling thread's affinity mask (cpuset, taskset) allows, ascending: ask before pinning. *cpus is
 * the caller's to free. */
bj_status bj_platform_list_cpus(int **cpus, size_t *count, bj_error *error) BJ_WARN_UNUSED;
/* Pins the calling thread. */
bj_status bj_platform_pin_thread(int cpu, bj_error *error) BJ_WARN_UNUSED;
/* Lets the calling thread run on these cpus only. */
bj_status bj_platform_confine_thread(const int *cpus, size_t count, bj_error *error) BJ_WARN_UNUSED;
/* Blocks all signals in the calling thread, so that a handler runs elsewhere than in a timed region. */
void bj_platform_block_signals(void);
