/* Rounds of walks over made-up memory hierarchies, with twins and disturbance, and the hierarchy that is found in them.
 */
#ifndef BJ_TESTS_MADE_UP_ROUNDS_H
#define BJ_TESTS_MADE_UP_ROUNDS_H

#include <stdlib.h>

#include "base/random.h"
#include "made_up_curve.h"
#include "probes/cache/hierarchy.h"

/* The includer has included cmocka.h and what it needs. */

#define ROUNDS_MAX 12
#define PAGE 4096.0
#define LINE 64.0
#define PACKING 8.0

typedef struct {
    double x[POINTS_MAX], twin_x[POINTS_MAX];
    size_t count, twin_count, round_count;
    double walk[ROUNDS_MAX][POINTS_MAX], spread[ROUNDS_MAX][POINTS_MAX], packed[ROUNDS_MAX][POINTS_MAX];
    double *walk_rows[ROUNDS_MAX], *spread_rows[ROUNDS_MAX], *packed_rows[ROUNDS_MAX];
    bj_curve walk_curve, spread_curve, packed_curve;
} rounds;

/* Jitter goes both ways, disturbance only up. */
static inline double disturb(double time, bj_random *random) {
    double spike = bj_random_unit(random) < 0.03 ? 1 + 2 * bj_random_unit(random) : 1;
    return time * spike * (1 + 0.01 * bj_random_normal(random));
}

/* Misses of a TLB where every page of x bytes is visited once a lap: its sets overflow one by one (see tlb_levels.h).
 */
static inline double miss_once_a_lap(const made_up_machine *machine, double x) {
    if (machine->reach <= 0 || x <= machine->reach)
        return 0;
    return machine->tlb_ways > 0 ? fmin(1, (x - machine->reach) * (machine->tlb_ways + 1) / x) : 1;
}

static inline bj_curve curve_of(double *x, size_t count, double **rows, size_t round_count) {
    return (bj_curve){.x = x, .x_count = count, .rounds = rows, .round_count = round_count};
}

/* `twins` are so many an octave; 0: none. */
static inline rounds *make_rounds(const made_up_machine *machine, size_t round_count, unsigned per_octave,
                                  unsigned twins, uint64_t seed) {
    rounds *made = calloc(1, sizeof *made);
    assert_non_null(made);
    bj_random random;
    bj_random_seed(&random, seed);
    made->round_count = round_count;
    made->count = make_grid(4 * KIB, 64 * MIB, per_octave, made->x);
    made->twin_count = twins > 0 ? make_grid(32 * KIB, 64 * MIB, twins, made->twin_x) : 0;
    for (size_t r = 0; r < round_count; r++) {
        made->walk_rows[r] = made->walk[r];
        made->spread_rows[r] = made->spread[r];
        made->packed_rows[r] = made->packed[r];
        for (size_t i = 0; i < made->count; i++)
            made->walk[r][i] = disturb(time_of_walk(machine, made->x[i]), &random);
        for (size_t i = 0; i < made->twin_count; i++) {
            /* One line a page: the caches see as many lines as there are pages, the TLB a new page each time. */
            double x = made->twin_x[i], caches = time_in_caches(machine, x / PAGE * LINE);
            made->spread[r][i] = disturb(caches + miss_once_a_lap(machine, x) * machine->miss, &random);
            made->packed[r][i] = disturb(caches + time_in_tlb(machine, x / PACKING), &random);
        }
    }
    made->walk_curve = curve_of(made->x, made->count, made->walk_rows, round_count);
    made->spread_curve = curve_of(made->twin_x, made->twin_count, made->spread_rows, round_count);
    made->packed_curve = curve_of(made->twin_x, made->twin_count, made->packed_rows, round_count);
    return made;
}

static inline bj_hierarchy_request request_of(const rounds *made, uint64_t seed) {
    bool twins = made->twin_count > 0;
    return (bj_hierarchy_request){.curves = {.walk = &made->walk_curve,
                                             .spread = twins ? &made->spread_curve : NULL,
                                             .packed = twins ? &made->packed_curve : NULL},
                                  .seed = seed};
}

static inline bj_hierarchy find(const bj_hierarchy_request *request) {
    bj_hierarchy found;
    bj_error error = {""};
    if (bj_cache_fit_hierarchy(request, &found, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return found;
}

static inline bool is_near(double value, double truth, double share) {
    return fabs(value / truth - 1) <= share;
}

/* A third level that is only 1.4 times as slow as the second, and a TLB whose edge is larger than that. */
static const made_up_machine with_tlb = {
    .caches = {{32 * KIB, 4.1, 8, false}, {128 * KIB, 14, 8, false}, {1 * MIB, 20, 8, false}},
    .cache_count = 3,
    .memory = 200,
    .reach = 384 * KIB,
    .miss = 9};

#endif
