#include "probes/kit/known_caches.h"

#include <math.h>
#include <stdio.h>

void bj_known_caches_read(const bj_answers *earlier, bj_known_caches *caches) {
    *caches = (bj_known_caches){0};
    double levels = 0;
    if (!bj_data_get_number(earlier, "cache.levels", &levels) || levels < 1)
        return;
    caches->count = (size_t)fmin(levels, BJ_KNOWN_CACHES_MAX);
    for (size_t i = 0; i < caches->count; i++) {
        char key[64];
        double size = 0, capacity = 0;
        snprintf(key, sizeof key, "cache.L%zu.size_bytes", i + 1);
        bool has_size = bj_data_get_number(earlier, key, &size);
        snprintf(key, sizeof key, "cache.L%zu.capacity_bytes", i + 1);
        bool has_capacity = bj_data_get_number(earlier, key, &capacity);
        caches->fits_bytes[i] = has_size && has_capacity ? fmin(size, capacity) : has_size ? size : capacity;
        caches->holds_bytes[i] = fmax(size, capacity);
    }
}

double bj_known_caches_largest(const bj_known_caches *caches) {
    double largest = 0;
    for (size_t i = 0; i < caches->count; i++)
        largest = fmax(largest, caches->holds_bytes[i]);
    return largest;
}
