#include "probes/tlb/tlb_levels.h"

#include <math.h>
#include <string.h>

static const double ways_tried[] = {BJ_TLB_WAYS_TRIED};
#define WAYS_TRIED (sizeof ways_tried / sizeof ways_tried[0])

double bj_tlb_predict_misses(double entries, double ways, double pages) {
    double beyond = pages - entries;
    if (beyond <= 0)
        return 0;
    return beyond >= entries / ways ? 1 : beyond * (ways + 1) / pages;
}

static double predict(const bj_tlb_curve *curve, double entries, double ways, size_t i) {
    return bj_tlb_predict_misses(entries, ways, curve->pages[i]) -
           bj_tlb_predict_misses(entries, ways, curve->twin_pages[i]);
}

/* What the other levels leave of the cost of point i. */
static double residual(const bj_tlb_curve *curve, const bj_tlb_levels *found, size_t without, size_t i) {
    double rest = curve->cost[i];
    for (size_t k = 0; k < found->count; k++)
        if (k != without)
            rest -= found->level[k].cost * predict(curve, found->level[k].entries, found->level[k].ways, i);
    return rest;
}

typedef struct {
    bj_tlb_level level;
    double gain; /* of chi square */
} candidate;

/* Least squares of one level's height, in the residuals of all others. */
static void try_level(const bj_tlb_curve *curve, const double *rest, double entries, double ways, candidate *best) {
    double product = 0, square = 0;
    for (size_t i = 0; i < curve->count; i++) {
        double misses = predict(curve, entries, ways, i);
        if (misses == 0)
            continue;
        double weight = 1 / (curve->error[i] * curve->error[i]);
        product += weight * misses * rest[i];
        square += weight * misses * misses;
    }
    if (square <= 0 || product <= 0)
        return;
    double gain = product * product / square;
    /* Of equals the first: a cliff before a ramp. */
    if (gain > best->gain * (1 + 1e-9))
        *best = (candidate){{entries, ways, product / square, sqrt(gain), 0}, gain};
}

static bool is_apart(const bj_tlb_levels *found, size_t without, double entries) {
    for (size_t k = 0; k < found->count; k++)
        if (k != without && entries < BJ_TLB_LEAST_APART * found->level[k].entries &&
            found->level[k].entries < BJ_TLB_LEAST_APART * entries)
            return false;
    return true;
}

static bool is_tried(const bj_tlb_curve *curve, const bj_tlb_levels *found, size_t without, double entries,
                     const double range[2]) {
    return entries >= range[0] && entries <= range[1] && entries < curve->pages[curve->count - 1] &&
           is_apart(found, without, entries);
}

/* The level that explains most of what the others leave. A cliff lies at one of the points; a ramp may begin between.
 */
static candidate find_best(const bj_tlb_curve *curve, const bj_tlb_levels *found, size_t without, double first,
                           double last) {
    candidate best = {{0}, 0};
    double rest[BJ_TLB_POINTS_MAX], range[2] = {fmax(first, curve->pages[0]), last};
    for (size_t i = 0; i < curve->count; i++)
        rest[i] = residual(curve, found, without, i);
    for (size_t i = 0; i + 1 < curve->count; i++)
        if (is_tried(curve, found, without, curve->pages[i], range))
            try_level(curve, rest, curve->pages[i], curve->pages[i], &best);
    for (size_t w = 0; w < WAYS_TRIED; w++)
        for (unsigned k = 0; k < BJ_TLB_SETS_OCTAVES; k++)
            for (unsigned odd = 2; odd <= 3; odd++) {
                double entries = ways_tried[w] * ldexp(odd, (int)k);
                if (is_tried(curve, found, without, entries, range))
                    try_level(curve, rest, entries, ways_tried[w], &best);
            }
    return best;
}

static void adjust(const bj_tlb_curve *curve, bj_tlb_levels *found) {
    for (unsigned i = 0; i < BJ_TLB_ADJUST_ITERATIONS; i++)
        for (size_t k = 0; k < found->count; k++) {
            double entries = found->level[k].entries;
            candidate best = find_best(curve, found, k, entries / BJ_TLB_ADJUST_RANGE, entries * BJ_TLB_ADJUST_RANGE);
            if (best.gain > 0)
                found->level[k] = best.level;
            else
                found->level[k].cost = found->level[k].sigmas = 0;
        }
}

static void measure_misfit(const bj_tlb_curve *curve, bj_tlb_levels *found) {
    for (size_t k = 0; k < found->count; k++) {
        bj_tlb_level *level = &found->level[k];
        double sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < curve->count; i++) {
            double from = level->entries / BJ_TLB_AROUND_EDGE,
                   to = BJ_TLB_AROUND_EDGE * (level->entries + level->entries / level->ways);
            if (curve->pages[i] < from || curve->pages[i] > to)
                continue;
            double off = residual(curve, found, found->count, i) / curve->error[i];
            sum += off * off;
            count++;
        }
        level->misfit = count > 0 ? sqrt(sum / (double)count) : 0;
    }
}

static void sort_levels(bj_tlb_levels *found) {
    for (size_t i = 1; i < found->count; i++)
        for (size_t k = i; k > 0 && found->level[k].entries < found->level[k - 1].entries; k--) {
            bj_tlb_level level = found->level[k];
            found->level[k] = found->level[k - 1];
            found->level[k - 1] = level;
        }
}

static size_t point_at(const bj_tlb_curve *curve, double pages) {
    size_t i = 0;
    while (i + 1 < curve->count && curve->pages[i + 1] <= pages)
        i++;
    return i;
}

/* By how much the twin slows down around the edge: it has the caches' part. */
static double twin_rise(const bj_tlb_curve *curve, double entries) {
    size_t from = point_at(curve, entries / BJ_TLB_AROUND_EDGE), to = point_at(curve, 2 * entries);
    return curve->time[to] - curve->cost[to] - curve->time[from] + curve->cost[from];
}

/* What missing a level of so many entries must cost at least, given the nearer ones. */
static double least_cost(const bj_tlb_levels *found, double entries) {
    double least = 0;
    for (size_t k = 0; k < found->count; k++)
        if (found->level[k].entries < entries)
            least = fmax(least, BJ_TLB_OF_NEARER_LEAST * found->level[k].cost);
    return least;
}

static bool is_level(const bj_tlb_curve *curve, const bj_tlb_levels *found, const bj_tlb_level *level,
                     double least_sigmas, double least_share) {
    double share = level->cost / curve->time[point_at(curve, level->entries)];
    return level->sigmas >= least_sigmas &&
           share >= (level->ways > 1 ? least_share : fmax(least_share, BJ_TLB_WIDE_COST_LEAST)) &&
           level->cost >= BJ_TLB_OF_CACHES_LEAST * twin_rise(curve, level->entries) &&
           level->cost >= least_cost(found, level->entries);
}

/* Drops the weakest of those that are none; false: all are levels. */
static bool drop_weakest(const bj_tlb_curve *curve, double least_sigmas, double least_share, bj_tlb_levels *found) {
    size_t weakest = found->count;
    for (size_t k = 0; k < found->count; k++)
        if (!is_level(curve, found, &found->level[k], least_sigmas, least_share) &&
            (weakest == found->count || found->level[k].sigmas < found->level[weakest].sigmas))
            weakest = k;
    if (weakest == found->count)
        return false;
    memmove(found->level + weakest, found->level + weakest + 1, (found->count - weakest - 1) * sizeof found->level[0]);
    found->count--;
    return true;
}

void bj_tlb_fit_levels(const bj_tlb_curve *curve, double least_sigmas, double least_share, bj_tlb_levels *found) {
    memset(found, 0, sizeof *found);
    if (curve->count < BJ_TLB_LEVEL_POINTS_LEAST)
        return;
    while (found->count < BJ_TLB_LEVELS_MAX) {
        candidate best = find_best(curve, found, found->count, 0, INFINITY);
        if (!is_level(curve, found, &best.level, least_sigmas, least_share))
            break;
        found->level[found->count++] = best.level;
        adjust(curve, found);
    }
    while (drop_weakest(curve, least_sigmas, least_share, found))
        adjust(curve, found);
    sort_levels(found);
    measure_misfit(curve, found);
}

void bj_tlb_refit_levels(const bj_tlb_curve *curve, bj_tlb_levels *found) {
    adjust(curve, found);
    sort_levels(found);
}
