#include "platform/cpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The kernel refuses (EINVAL) a mask shorter than its own, whose length it does not tell: grow until it fits. */
enum { FIRST_MASK_CPUS = 1024, MAX_MASK_CPUS = 1 << 20 };

static bj_status read_mask(cpu_set_t **mask, int *mask_cpus, bj_error *error) {
    for (int cpus = FIRST_MASK_CPUS; cpus <= MAX_MASK_CPUS; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (set == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "list of cpus: out of memory");
        CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), set);
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0) {
            *mask = set;
            *mask_cpus = cpus;
            return BJ_OK;
        }
        int number = errno;
        CPU_FREE(set);
        if (number != EINVAL)
            return bj_base_set_error(error, number == EPERM ? BJ_ERR_PERMISSION : BJ_ERR_FAILED,
                                     "cannot read the cpu affinity: %s", strerror(number));
    }
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "cannot read the cpu affinity: more than %d cpus",
                             MAX_MASK_CPUS);
}

bj_status bj_platform_list_cpus(int **cpus, size_t *count, bj_error *error) {
    *cpus = NULL;
    *count = 0;
    cpu_set_t *mask = NULL;
    int mask_cpus = 0;
    bj_status status = read_mask(&mask, &mask_cpus, error);
    if (status != BJ_OK)
        return status;
    size_t mask_bytes = CPU_ALLOC_SIZE(mask_cpus);
    size_t allowed = (size_t)CPU_COUNT_S(mask_bytes, mask);
    int *list = allowed > 0 ? malloc(allowed * sizeof *list) : NULL;
    if (list == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE,
                                   allowed > 0 ? "list of cpus: out of memory" : "the cpu affinity allows no cpu");
    } else {
        size_t used = 0;
        for (int cpu = 0; cpu < mask_cpus && used < allowed; cpu++)
            if (CPU_ISSET_S(cpu, mask_bytes, mask))
                list[used++] = cpu;
        *cpus = list;
        *count = used;
    }
    CPU_FREE(mask);
    return status;
}

bj_status bj_platform_confine_thread(const int *cpus, size_t count, bj_error *error) {
    int mask_cpus = FIRST_MASK_CPUS;
    for (size_t i = 0; i < count; i++) {
        if (cpus[i] < 0 || cpus[i] >= MAX_MASK_CPUS)
            return bj_base_set_error(error, BJ_ERR_USAGE, "cpu %d: no such cpu", cpus[i]);
        if (cpus[i] >= mask_cpus)
            mask_cpus = cpus[i] + 1;
    }
    size_t mask_bytes = CPU_ALLOC_SIZE(mask_cpus);
    cpu_set_t *mask = CPU_ALLOC(mask_cpus);
    int first = count > 0 ? cpus[0] : -1;
    if (mask == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "cpu %d: out of memory", first);
    CPU_ZERO_S(mask_bytes, mask);
    for (size_t i = 0; i < count; i++)
        CPU_SET_S(cpus[i], mask_bytes, mask);
    bj_status status = BJ_OK;
    if (sched_setaffinity(0, mask_bytes, mask) != 0) {
        if (errno == EINVAL)
            status =
                bj_base_set_error(error, BJ_ERR_RESOURCE, "cpu %d: absent, offline or outside of our cpuset", first);
        else
            status = bj_base_set_error(error, errno == EPERM ? BJ_ERR_PERMISSION : BJ_ERR_FAILED,
                                       "cpu %d: cannot pin the thread: %s", first, strerror(errno));
    }
    CPU_FREE(mask);
    return status;
}

bj_status bj_platform_pin_thread(int cpu, bj_error *error) {
    return bj_platform_confine_thread(&cpu, 1, error);
}

void bj_platform_block_signals(void) {
    /* Not the ones that a thread's own fault raises: blocked, they kill without the report of a sanitizer or
     * a crash handler. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}
