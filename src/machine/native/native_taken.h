/* What the system takes from us between two moments: stolen time, quota throttling. */
#ifndef BJ_MACHINE_NATIVE_TAKEN_H
#define BJ_MACHINE_NATIVE_TAKEN_H

#include "machine/machine.h"

typedef struct {
    uint64_t total, stolen, throttled;
} bj_native_account;

bj_native_account bj_native_read_account(void);
/* From then until now. */
bj_taken bj_native_settle_account(const bj_native_account *then);

#endif
