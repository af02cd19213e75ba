#include "machine/native/native_taken.h"

#include <math.h>

#include "platform/environment.h"
#include "platform/limits.h"

bj_native_account bj_native_open_account(const int *cpus, size_t cpu_count) {
    bj_native_account account = {.cpus = cpus, .cpu_count = cpu_count};
    bj_platform_read_steal("", cpus, cpu_count, &account.total, &account.stolen);
    account.throttled = bj_platform_throttled_count("");
    return account;
}

bj_taken bj_native_settle_account(const bj_native_account *then) {
    bj_native_account now = bj_native_open_account(then->cpus, then->cpu_count);
    bj_taken taken = {.stolen = NAN, .throttled = 0};
    if (now.total > then->total && now.stolen >= then->stolen)
        taken.stolen = (double)(now.stolen - then->stolen) / (double)(now.total - then->total);
    if (now.throttled > then->throttled)
        taken.throttled = (double)(now.throttled - then->throttled);
    return taken;
}
