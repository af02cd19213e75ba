/* What the operating system says of the caches, through hwloc: claims, never measurements. */
#pragma once

#include <stdbool.h>

typedef struct bj_topology bj_topology;

/* NULL when hwloc cannot load a topology: claims are then absent, nothing else changes. Takes some milliseconds and
 * forks (what hwloc prints or breaks stays in a child), so not while a mapping is being timed. */
bj_topology *bj_platform_load_topology(void);
void bj_platform_free_topology(bj_topology *topology);
/* The claim for a profile key ("cache.levels", "cache.L2.size_bytes", "cache.L1.capacity_bytes" (the size again),
 * "cache.line_bytes", "cache.L1.associativity", "page.size_bytes", …) as seen from `cpu`; false: none. Level n is the
 * n-th data or unified cache on the way out. Without a topology (NULL) only the page size is known. */
bool bj_platform_read_claim(const bj_topology *topology, const char *key, int cpu, double *value);
