/* What the system takes from us between two moments: stolen time, quota throttling. */
#ifndef BJ_MACHINE_NATIVE_TAKEN_H
#define BJ_MACHINE_NATIVE_TAKEN_H

#include "machine/machine.h"

typedef struct {
    const int *cpus;
    size_t cpu_count;
    uint64_t total, stolen, throttled;
} bj_native_account;

/* The cpus, whose stolen time counts, must stay where they are. */
bj_native_account bj_native_open_account(const int *cpus, size_t cpu_count);
/* From then until now. */
bj_taken bj_native_settle_account(const bj_native_account *then);

#endif
