/* Curves of made-up memory hierarchies: access time against working set, with answers that are known. */
#ifndef BJ_TESTS_MADE_UP_CURVE_H
#define BJ_TESTS_MADE_UP_CURVE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "probes/cache/occupancy.h"

/* The includer has included cmocka.h and what it needs. */

#define KIB 1024.0
#define MIB 1048576.0
#define POINTS_MAX 512

typedef struct {
    double size;
    double latency;
    unsigned ways;      /* 0: a sharp step instead of the occupancy model's ramp */
    bool random_frames; /* where there are ways */
} made_up_cache;

typedef struct {
    made_up_cache caches[4];
    size_t cache_count;
    double memory;
    double reach, miss; /* of a TLB: the pages that it covers in bytes, and what a miss adds; 0: none */
    double tlb_ways;    /* 0: fully associative */
} made_up_machine;

/* Powers of two with `per_octave` steps each, from first to last. */
static inline size_t make_grid(double first, double last, unsigned per_octave, double *x) {
    size_t count = 0;
    for (; count < POINTS_MAX; count++) {
        x[count] = floor(first * exp2((double)count / per_octave) + 0.5);
        if (x[count] > last)
            return count;
    }
    return count;
}

/* Without the TLB. */
static inline double time_in_caches(const made_up_machine *machine, double x) {
    double time = machine->caches[0].latency;
    for (size_t i = 0; i < machine->cache_count; i++) {
        const made_up_cache *cache = &machine->caches[i];
        double next = i + 1 < machine->cache_count ? cache[1].latency : machine->memory;
        bj_occupancy_model model = {cache->ways, cache->random_frames, BJ_REPLACE_LRU, 0};
        double misses = cache->ways > 0 ? bj_cache_predict_occupancy_misses(&model, x / cache->size) : x > cache->size;
        time += misses * (next - cache->latency);
    }
    return time;
}

/* What the TLB adds where every line of a page is visited: a page's entry is found again in reach / x of the visits. */
static inline double time_in_tlb(const made_up_machine *machine, double x) {
    return machine->reach > 0 && x > machine->reach ? machine->miss * (1 - machine->reach / x) : 0;
}

static inline double time_of_walk(const made_up_machine *machine, double x) {
    return time_in_caches(machine, x) + time_in_tlb(machine, x);
}

/* Where the curve of the caches crosses latency + 0.1 (next - latency): what an effective size is. */
static inline double true_size(const made_up_machine *machine, size_t index) {
    double latency = machine->caches[index].latency;
    double next = index + 1 < machine->cache_count ? machine->caches[index + 1].latency : machine->memory;
    double low = machine->caches[index].size / 8, high = machine->caches[index].size * 8;
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);
        if (time_in_caches(machine, middle) <= latency + 0.1 * (next - latency))
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
