#include "probes/cache/twin_cost.h"

#include <math.h>
#include <stdbool.h>

#include "probes/cache/cache_constants.h"

static double rise_to(const bj_twin_cost *twin, size_t i) {
    return twin->cost[i] - twin->cost[i - 1];
}

/* The spread twin visits each page once a lap, so that a set of a TLB with a page too many misses at every access. A
 * dense walk comes back to a page before the lap is over and finds its entry in reach / x of the cases: each rise of
 * the twin counts for the rest only. */
double bj_cache_predict_tlb_cost(const bj_twin_cost *twin, double x) {
    double cost = 0;
    for (size_t i = 1; i < twin->count; i++) {
        size_t begin = twin->begin[i];
        double reach = sqrt(twin->x[begin] * twin->x[begin + 1]);
        if (reach < x)
            cost += rise_to(twin, i) * (1 - reach / x);
    }
    return cost;
}

/* The reach lies somewhere between two extents, and the model of a dense walk is a model. */
double bj_cache_predict_tlb_error(const bj_twin_cost *twin, double x) {
    double between = 0;
    /* Begins do not fall. */
    for (size_t i = 1; i < twin->count && twin->x[twin->begin[i]] < x; i++) {
        size_t begin = twin->begin[i];
        between += rise_to(twin, i) * (fmin(twin->x[begin + 1], x) - twin->x[begin]) / x;
    }
    return between + BJ_TLB_MODEL_ERROR * bj_cache_predict_tlb_cost(twin, x);
}

/* Is the step up to an extent more than noise? By its slope, since twins are closer where the cost sets in. */
static bool is_step(const bj_twin_cost *twin, size_t i) {
    double octaves = log2(twin->x[i] / twin->x[i - 1]);
    double least = BJ_TLB_STEP_OF_ALL * twin->cost[twin->count - 1] * octaves / BJ_TLB_STEP_OCTAVES;
    return rise_to(twin, i) > least;
}

/* The sets of a TLB of few ways overflow one by one: its rise begins at its reach, and is over where each set has a
 * page too many, an octave further at most. */
static void find_begins(bj_twin_cost *twin) {
    for (size_t i = 1; i < twin->count; i++) {
        size_t begin = i - 1;
        while (begin > 0 && is_step(twin, begin) && 2 * twin->x[begin - 1] >= twin->x[i])
            begin--;
        twin->begin[i] = begin;
    }
}

/* The packed twin's own cost is that of a dense walk. */
static void sum_costs(const double *more, size_t count, bj_twin_cost *twin) {
    for (twin->count = 0; twin->count < count; twin->count++) {
        size_t i = twin->count;
        double cost = fmax(0, more[i]) + bj_cache_predict_tlb_cost(twin, twin->x[i] / BJ_TWIN_PACKING);
        /* From nothing, since the smallest extent is in reach of any TLB, and never falling. Noise makes it a little
         * too large, which is better than to leave a TLB's edge behind. */
        twin->cost[i] = i > 0 ? fmax(twin->cost[i - 1], cost) : 0;
    }
}

void bj_cache_sum_twin_cost(const double *more, size_t count, bj_twin_cost *twin) {
    for (size_t i = 0; i < count; i++)
        twin->begin[i] = i > 0 ? i - 1 : 0;
    /* Where rises begin is not known at first, and then is. */
    for (int iteration = 0; iteration < 2; iteration++) {
        sum_costs(more, count, twin);
        find_begins(twin);
    }
}
