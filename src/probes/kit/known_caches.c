#include "probes/kit/known_caches.h"

#include <math.h>

#include "probes/kit/estimate.h"

/* As the cache probe's keys have it; anything else in a profile is somebody's slip. */
#define LEAST_BYTES 256.0
#define MOST_BYTES 1e12

static double find_bytes(const bj_answers *earlier, size_t level, const char *what) {
    double bytes = bj_kit_find_number(earlier, "cache.L%zu.%s", level, what);
    return bytes >= LEAST_BYTES && bytes <= MOST_BYTES ? bytes : NAN;
}

void bj_known_caches_read(const bj_answers *earlier, bj_known_caches *caches) {
    *caches = (bj_known_caches){0};
    caches->count = (size_t)fmin(fmax(bj_kit_find_number(earlier, "cache.levels"), 0), BJ_KNOWN_CACHES_MAX);
    for (size_t i = 0; i < caches->count; i++) {
        double size = find_bytes(earlier, i + 1, "size_bytes"), capacity = find_bytes(earlier, i + 1, "capacity_bytes");
        caches->fits_bytes[i] = fmax(fmin(size, capacity), 0); /* fmin and fmax pass over NaN */
        caches->holds_bytes[i] = fmax(fmax(size, capacity), 0);
    }
}

double bj_known_caches_find_nearer(const bj_known_caches *caches, size_t level) {
    double nearer = 0;
    for (size_t i = 0; i < level; i++)
        nearer = fmax(nearer, caches->holds_bytes[i]);
    return nearer;
}

double bj_known_caches_largest(const bj_known_caches *caches) {
    return bj_known_caches_find_nearer(caches, caches->count);
}

double bj_known_caches_find_latency(const bj_answers *earlier, size_t level) {
    double ns = bj_kit_find_number(earlier, "cache.L%zu.latency_ns", level);
    if (isnan(ns))
        ns = bj_kit_find_number(earlier, "memory.latency_in_tlb_ns");
    return isnan(ns) ? bj_kit_find_number(earlier, "memory.latency_ns") : ns;
}
