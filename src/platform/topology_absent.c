/* Built in place of topology.c where hwloc is not found: nobody is asked what the caches are, so there are no claims
 * but the page's. */
#include <string.h>

#include "platform/pages.h"
#include "platform/topology.h"

bj_topology *bj_platform_load_topology(void) {
    return NULL;
}

void bj_platform_free_topology(bj_topology *topology) {
    (void)topology;
}

bool bj_platform_read_claim(const bj_topology *topology, const char *key, int cpu, double *value) {
    (void)topology;
    (void)cpu;
    if (strcmp(key, "page.size_bytes") != 0)
        return false;
    *value = (double)bj_platform_page_bytes();
    return true;
}
