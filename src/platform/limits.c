#include "platform/limits.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "platform/cgroup.h"
#include "platform/system_file.h"

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static uint64_t kib(uint64_t count) {
    return count > UINT64_MAX / 1024 ? UINT64_MAX : count * 1024;
}

static char *read_group_file(const char *root, const char *folder, const char *name) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return NULL;
    char *text = bj_platform_read_system_file(root, path);
    free(path);
    return text;
}

/* "max" and whatever else is no number mean: none. */
static uint64_t read_limit(const char *root, const char *folder, const char *name) {
    char *text = read_group_file(root, folder, name);
    uint64_t value = UINT64_MAX;
    if (text == NULL || !bj_base_parse_u64(text, &value))
        value = UINT64_MAX;
    free(text);
    return value;
}

/* Of a file that may not be there (NULL). */
static uint64_t find_number_or(const char *text, const char *name, uint64_t otherwise) {
    uint64_t value;
    return text != NULL && bj_platform_find_number(text, name, &value) ? value : otherwise;
}

static void visit_memory(const char *root, const char *folder, int version, void *context) {
    uint64_t *left = context, limit, use, droppable;
    char *stat = read_group_file(root, folder, "memory.stat");
    if (version == 2) {
        /* Beyond "high" nothing is killed, but reclaim throttles: just as bad for a measurement. */
        limit = least(read_limit(root, folder, "memory.max"), read_limit(root, folder, "memory.high"));
        use = read_limit(root, folder, "memory.current");
        droppable = find_number_or(stat, "inactive_file", 0);
    } else {
        /* The hierarchical limit knows of ancestors that are not mounted here. */
        limit = least(read_limit(root, folder, "memory.limit_in_bytes"),
                      find_number_or(stat, "hierarchical_memory_limit", UINT64_MAX));
        use = read_limit(root, folder, "memory.usage_in_bytes");
        droppable = find_number_or(stat, "total_inactive_file", find_number_or(stat, "inactive_file", 0));
    }
    free(stat);
    /* Version 1 says "none" as the largest count of whole pages. */
    if (limit >= (uint64_t)1 << 62)
        return;
    if (use == UINT64_MAX)
        use = 0;
    *left = least(*left, minus(limit, minus(use, droppable)));
}

static uint64_t rlimit_left(int resource, const char *status, const char *used_name) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return minus(limit.rlim_cur, kib(find_number_or(status, used_name, 0)));
}

static uint64_t system_left(const char *root) {
    uint64_t left = UINT64_MAX, available, commit_limit, committed;
    char *meminfo = bj_platform_read_system_file(root, "/proc/meminfo");
    char line[32];
    if (meminfo != NULL && bj_platform_find_number(meminfo, "MemAvailable", &available)) {
        left = kib(available);
    } else if (meminfo != NULL && bj_platform_find_number(meminfo, "MemFree", &available)) {
        /* Kernels before 3.14, and emulations of them. */
        left = kib(available + find_number_or(meminfo, "Buffers", 0) + find_number_or(meminfo, "Cached", 0));
    } else {
        long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        if (pages > 0 && page > 0)
            left = (uint64_t)pages * (uint64_t)page;
    }
    /* Strict overcommit refuses what physical memory could still hold. */
    if (meminfo != NULL && bj_platform_read_system_line(root, "/proc/sys/vm/overcommit_memory", line, sizeof line) &&
        line[0] == '2' && bj_platform_find_number(meminfo, "CommitLimit", &commit_limit) &&
        bj_platform_find_number(meminfo, "Committed_AS", &committed))
        left = least(left, kib(minus(commit_limit, committed)));
    free(meminfo);
    return left;
}

uint64_t bj_platform_memory_limit_bytes(const char *root) {
    uint64_t left = system_left(root);
    bj_platform_visit_cgroups(root, "memory", visit_memory, &left);
    char *status = bj_platform_read_system_file(root, "/proc/self/status");
    left = least(left, rlimit_left(RLIMIT_AS, status, "VmSize"));
    left = least(left, rlimit_left(RLIMIT_DATA, status, "VmData"));
    free(status);
    /* Of 32 bits: no object is larger, and the system keeps a part of what pointers reach beyond. */
    return sizeof(void *) < sizeof left ? least(left, PTRDIFF_MAX) : left;
}

uint64_t bj_platform_resident_bytes(const char *root) {
    char *status = bj_platform_read_system_file(root, "/proc/self/status");
    uint64_t held = find_number_or(status, "VmRSS", 0);
    free(status);
    return kib(held);
}

static void visit_quota(const char *root, const char *folder, int version, void *context) {
    double *cpus = context;
    uint64_t quota = UINT64_MAX, period = UINT64_MAX;
    if (version == 1) {
        quota = read_limit(root, folder, "cpu.cfs_quota_us"); /* -1: none */
        period = read_limit(root, folder, "cpu.cfs_period_us");
    } else {
        char *text = read_group_file(root, folder, "cpu.max");
        char first[32], second[32];
        if (text == NULL || sscanf(text, "%31s %31s", first, second) != 2 || !bj_base_parse_u64(first, &quota) ||
            !bj_base_parse_u64(second, &period))
            quota = UINT64_MAX;
        free(text);
    }
    if (quota == UINT64_MAX || quota == 0 || period == UINT64_MAX || period == 0)
        return;
    double granted = (double)quota / (double)period;
    if (isnan(*cpus) || granted < *cpus)
        *cpus = granted;
}

double bj_platform_cpu_quota(const char *root) {
    double cpus = NAN;
    bj_platform_visit_cgroups(root, "cpu", visit_quota, &cpus);
    return cpus;
}

static void visit_throttling(const char *root, const char *folder, int version, void *context) {
    (void)version;
    uint64_t *sum = context;
    char *stat = read_group_file(root, folder, "cpu.stat");
    /* An ancestor's quota stops us as well and is counted with the ancestor. */
    *sum += find_number_or(stat, "nr_throttled", 0);
    free(stat);
}

uint64_t bj_platform_throttled_count(const char *root) {
    uint64_t sum = 0;
    bj_platform_visit_cgroups(root, "cpu", visit_throttling, &sum);
    return sum;
}

bool bj_platform_read_stack(uintptr_t *lowest, size_t *bytes) {
    pthread_attr_t attributes;
    void *begin = NULL;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    bool told = pthread_attr_getstack(&attributes, &begin, bytes) == 0;
    (void)pthread_attr_destroy(&attributes);
    *lowest = (uintptr_t)begin;
    return told;
}
