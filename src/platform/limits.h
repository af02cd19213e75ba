/* What this process may use: memory (cgroup v1 and v2, rlimits, physical), cpu quota. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least of: memory available now, cgroup limit less its current use (page cache that can be dropped does
 * not count as use), address space and data rlimits less what is used, half of what pointers of 32 bits reach. `root`
 * is prepended to /proc and /sys paths ("" in production), so that tests can hand over a made-up tree. UINT64_MAX when
 * nothing is known. */
uint64_t bj_platform_memory_limit_bytes(const char *root);
/* Memory that this process holds; 0 when unknown. */
uint64_t bj_platform_resident_bytes(const char *root);
/* Cpus that the cgroup's quota grants (1.5 = one and a half), the least over all ancestors; NaN: no quota. */
double bj_platform_cpu_quota(const char *root);
/* Times the quotas of this cgroup and its ancestors have throttled so far; 0 when unknown. Only differences
 * between two readings say something about us. */
uint64_t bj_platform_throttled_count(const char *root);
/* Where the stack of this thread ends, and its size; false: the system does not tell. */
bool bj_platform_read_stack(uintptr_t *lowest, size_t *bytes);
