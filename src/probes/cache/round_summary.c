#include "probes/cache/round_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/cache/occupancy.h"
#include "stats/monotone.h"
#include "stats/quantile.h"

/* Where luck counts its mean is wanted, without what lies far above the rest: that was disturbance. Tukey's fence. */
#define FENCE 1.5
/* And no more than one in so many: where a ramp begins most rounds are lucky, and the few that are not are no
 * disturbance. */
#define FENCED_ONE_IN 10
/* The first level is virtually indexed, so that luck has no part in it, and so small that any neighbour on the same
 * core empties it: only the quietest rounds show all of it. */
#define LOWEST_OF_ROUNDS 0.1
/* A dense walk also drives the page tables out of the caches, which the twins hardly do. From 0.1 to 0.5 the levels of
 * the zoo and of 79 random machines are the same, only fewer of them `high`. */
#define TLB_MODEL_ERROR 0.25
/* The share of a step that is noise (BJ_TLB_STEP_OF_ALL) is of one as wide as the coarse grid's. */
#define TLB_STEP_OCTAVES 0.25
/* How much of the plateau before a ramp the model sees: enough to know the latency there. */
#define RAMP_OCTAVES 1.5
/* A level whose plateau is shorter than this factor may be a stair in somebody's ramp. */
#define STAIR_PLATEAU 2
#define LEAST_SECOND_LEVEL 2
/* A model that is right is off by less than this in 95 of 100 ramps, in units of the errors: the root of chi square's
 * quantile over its twelve independent points. */
#define FITS 1.32
/* And it begins where the plateau before does: a fit that bends the two ends of a ramp takes the liberty there. */
#define FITS_LOW 0.25
/* Points of the last octave: a grid has sixteen at most. */
#define LAST_POINTS_MAX 16u
/* Edges closer than this are one that moved between rounds: the slope is taken over half of that distance. */
#define LEAST_APART 1.6

void bj_cache_free_summary(bj_round_summary *s) {
    free(s->x);
    free(s->y);
    free(s->own);
    free(s->removed);
    free(s->removed_error);
    free(s->lowest);
    free(s->middle);
    free(s->error);
    free(s->twin_x);
    free(s->tlb);
    free(s->tlb_begin);
    free(s->packed_x);
    free(s->packed_y);
    free(s->column);
    free(s->ramp_x);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

bj_status bj_cache_make_summary(const bj_hierarchy_request *request, bj_round_summary *s, bj_error *error) {
    memset(s, 0, sizeof *s);
    s->request = request;
    size_t points = larger(request->count, 1), twins = larger(larger(request->twin_count, request->packed_count), 1);
    size_t rounds = larger(larger(request->round_count, request->twin_round_count), 1);
    s->x = malloc(points * sizeof(double));
    s->y = malloc(points * sizeof(double));
    s->own = malloc(points * sizeof(double));
    s->removed = malloc(points * sizeof(double));
    s->removed_error = malloc(points * sizeof(double));
    s->lowest = malloc(points * sizeof(double));
    s->middle = malloc(points * sizeof(double));
    s->error = calloc(points, sizeof(double));
    s->twin_x = malloc(twins * sizeof(double));
    s->tlb = malloc(twins * sizeof(double));
    s->tlb_begin = malloc(twins * sizeof(size_t));
    s->packed_x = malloc(twins * sizeof(double));
    s->packed_y = malloc(twins * sizeof(double));
    s->column = malloc(rounds * sizeof(double));
    s->ramp_x = malloc(3 * points * sizeof(double));
    if (s->x == NULL || s->y == NULL || s->own == NULL || s->removed == NULL || s->removed_error == NULL ||
        s->lowest == NULL || s->middle == NULL || s->error == NULL || s->twin_x == NULL || s->tlb == NULL ||
        s->tlb_begin == NULL || s->packed_x == NULL || s->packed_y == NULL || s->column == NULL || s->ramp_x == NULL) {
        bj_cache_free_summary(s);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to analyse %zu points", request->count);
    }
    s->ramp_y = s->ramp_x + points;
    s->ramp_error = s->ramp_y + points;
    return BJ_OK;
}

/* How many of the sorted samples are within the fence. */
static size_t count_fenced(const double *sorted, size_t count) {
    double low = bj_stats_quantile_sorted(sorted, count, 0.25), high = bj_stats_quantile_sorted(sorted, count, 0.75);
    size_t kept = 0, sure = count - (count + FENCED_ONE_IN - 1) / FENCED_ONE_IN;
    while (kept < count && (kept < sure || sorted[kept] <= high + FENCE * (high - low)))
        kept++;
    return kept;
}

double bj_cache_fenced_mean(const double *sorted, size_t count) {
    size_t kept = count_fenced(sorted, count);
    double sum = 0;
    for (size_t i = 0; i < kept; i++)
        sum += sorted[i];
    return sum / (double)kept;
}

/* Standard deviation of the samples that the mean is of: where few rounds are unlucky the median deviation is none. */
static double fenced_sigma(const double *sorted, size_t count) {
    size_t kept = count_fenced(sorted, count);
    double mean = bj_cache_fenced_mean(sorted, count), square = 0;
    for (size_t i = 0; i < kept; i++)
        square += (sorted[i] - mean) * (sorted[i] - mean);
    return kept > 1 ? sqrt(square / (double)(kept - 1)) : 0;
}

/* Quantiles over the chosen rounds; `skip` leaves one point out (count: none). */
static size_t sum_up(bj_round_summary *s, const double *x, size_t count, const double *const *rounds,
                     size_t round_count, const size_t *index, size_t index_count, size_t skip, double *out_x,
                     double *low, bool all_quantiles) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t have = 0;
        for (size_t r = 0; r < index_count; r++)
            if (index[r] < round_count && !isnan(rounds[index[r]][i]))
                s->column[have++] = rounds[index[r]][i];
        if (have == 0 || i == skip)
            continue;
        out_x[kept] = x[i];
        low[kept] = bj_stats_quantile(s->column, have, BJ_LOW_OF_ROUNDS);
        if (all_quantiles) {
            s->lowest[kept] = bj_stats_quantile_sorted(s->column, have, LOWEST_OF_ROUNDS);
            s->middle[kept] = bj_cache_fenced_mean(s->column, have);
        }
        kept++;
    }
    return kept;
}

/* What the TLB adds to a walk over every line of x bytes. The spread twin visits each page once a lap, so that a set of
 * a TLB with a page too many misses at every access. A dense walk comes back to a page before the lap is over and finds
 * its entry in reach / x of the cases: each rise of the twin counts for the rest only. */
double bj_cache_tlb_cost_at(const bj_round_summary *s, double x) {
    double cost = 0;
    for (size_t i = 1; i < s->twin_count; i++) {
        size_t begin = s->tlb_begin[i];
        double reach = sqrt(s->twin_x[begin] * s->twin_x[begin + 1]);
        if (reach < x)
            cost += (s->tlb[i] - s->tlb[i - 1]) * (1 - reach / x);
    }
    return cost;
}

/* How wrong that may be: the reach lies somewhere between two extents, and the model of a dense walk is a model. */
static double tlb_error_at(const bj_round_summary *s, double x) {
    double between = 0;
    /* Begins do not fall. */
    for (size_t i = 1; i < s->twin_count && s->twin_x[s->tlb_begin[i]] < x; i++) {
        size_t begin = s->tlb_begin[i];
        between += (s->tlb[i] - s->tlb[i - 1]) * (fmin(s->twin_x[begin + 1], x) - s->twin_x[begin]) / x;
    }
    return between + TLB_MODEL_ERROR * bj_cache_tlb_cost_at(s, x);
}

/* Is the step up to an extent more than noise? By its slope, since twins are closer where the cost sets in. */
static bool is_tlb_step(const bj_round_summary *s, size_t i) {
    double octaves = log2(s->twin_x[i] / s->twin_x[i - 1]);
    double least = BJ_TLB_STEP_OF_ALL * s->tlb[s->twin_count - 1] * octaves / TLB_STEP_OCTAVES;
    return s->tlb[i] - s->tlb[i - 1] > least;
}

/* The sets of a TLB of few ways overflow one by one: its rise begins at its reach, and is over where each set has a
 * page too many, an octave further at most. */
static void find_tlb_begins(bj_round_summary *s) {
    for (size_t i = 1; i < s->twin_count; i++) {
        size_t begin = i - 1;
        while (begin > 0 && is_tlb_step(s, begin) && 2 * s->twin_x[begin - 1] >= s->twin_x[i])
            begin--;
        s->tlb_begin[i] = begin;
    }
}

/* `more`: what the spread twin takes more than the packed one, whose own cost is that of a dense walk. */
static void sum_tlb_cost(bj_round_summary *s, const double *more, size_t count) {
    s->twin_count = 0;
    for (size_t i = 0; i < count; i++) {
        double cost = fmax(0, more[i]) + bj_cache_tlb_cost_at(s, s->twin_x[i] / s->request->packing);
        /* From nothing, since the smallest extent is in reach of any TLB, and never falling. Noise makes it a little
         * too large, which is better than to leave a TLB's edge behind. */
        s->tlb[i] = i > 0 ? fmax(s->tlb[i - 1], cost) : 0;
        s->twin_count++;
    }
}

static void find_tlb_cost(bj_round_summary *s, const size_t *index, size_t index_count) {
    const bj_hierarchy_request *q = s->request;
    size_t spread = sum_up(s, q->twin_x, q->twin_count, q->spread_rounds, q->twin_round_count, index, index_count,
                           q->twin_count, s->twin_x, s->tlb, false);
    size_t packed = sum_up(s, q->packed_x, q->packed_count, q->packed_rounds, q->twin_round_count, index, index_count,
                           q->packed_count, s->packed_x, s->packed_y, false);
    size_t count = 0;
    for (size_t i = 0, k = 0; i < spread; i++) {
        while (k < packed && s->packed_x[k] < s->twin_x[i])
            k++;
        /* Both or none: a resample that lacks a twin's point cannot tell. */
        if (k == packed || s->packed_x[k] != s->twin_x[i])
            continue;
        s->twin_x[count] = s->twin_x[i];
        s->packed_y[count] = s->tlb[i] - s->packed_y[k];
        s->tlb_begin[count] = count > 0 ? count - 1 : 0;
        count++;
    }
    /* Where rises begin is not known at first, and then is. */
    for (int pass = 0; pass < 2; pass++) {
        sum_tlb_cost(s, s->packed_y, count);
        find_tlb_begins(s);
    }
}

/* The curve that sizes and ramps of a level are read off. */
const double *bj_cache_ramp_of(const bj_round_summary *s, size_t index, size_t level_count) {
    /* The first level is virtually indexed: frames do not matter. */
    if (index == 0)
        return s->lowest;
    if (s->request->lucky_frames)
        return s->middle;
    /* The last level is so large that even huge pages can be lucky, and others share it. */
    return index + 1 < level_count ? s->lowest : s->middle;
}

size_t bj_cache_cut_without_tlb(const bj_round_summary *s, const double *curve, double first, double last, double *x,
                                double *y, double *error) {
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < s->count; i++)
        if (s->x[i] >= first && s->x[i] <= last) {
            while (s->request->x[k] < s->x[i])
                k++;
            x[kept] = s->x[i];
            error[kept] = s->error[k];
            y[kept++] = fmax(curve[i] - s->removed[i], s->y[0]);
        }
    return kept;
}

double bj_cache_ramp_begin(const bj_level *level) {
    return fmax(level->plateau_first_x, level->ramp_first_x / exp2(RAMP_OCTAVES));
}

bool bj_cache_explains_ramp(const bj_occupancy *fit, const bj_level *level) {
    return fit->error < FITS && fabs(fit->low / level->latency - 1) < FITS_LOW;
}

/* Is one cache on random frames enough to explain the levels `index` to `last`? Each rise by itself, since the furthest
 * is often many times the nearest, which is nothing beside it. */
static bool is_one_cache(const bj_round_summary *s, const bj_level_set *found, size_t index, size_t last,
                         double error_scale) {
    const bj_level *near = &found->level[index], *far = &found->level[last];
    size_t count = bj_cache_cut_without_tlb(s, s->middle, bj_cache_ramp_begin(near), far->ramp_last_x, s->ramp_x,
                                            s->ramp_y, s->ramp_error);
    for (size_t i = 0; i < count; i++)
        s->ramp_error[i] *= error_scale;
    for (unsigned ways = 1; ways <= 16; ways *= 2)
        for (int r = BJ_REPLACE_LRU; r <= BJ_REPLACE_RANDOM; r++) {
            bj_occupancy_shape shape = {ways, true, (bj_replacement)r, 0};
            bj_occupancy_request request = {.x = s->ramp_x,
                                            .y = s->ramp_y,
                                            .error = s->ramp_error,
                                            .count = count,
                                            .first = near->ramp_first_x / BJ_CAPACITY_BELOW_RAMP,
                                            .last = far->next_first_x,
                                            .only = &shape};
            bj_occupancy fit;
            bool explained = bj_cache_fit_occupancy(&request, &fit) && fit.error < FITS;
            for (size_t k = index, first = 0; k < last && explained; k++) {
                size_t within = 0;
                while (first + within < count && s->ramp_x[first + within] <= found->level[k].next_first_x)
                    within++;
                explained = bj_cache_misfit_occupancy(&fit, s->ramp_x + first, s->ramp_y + first, s->ramp_error + first,
                                                      within) < FITS;
                first += within;
            }
            if (explained)
                return true;
        }
    return false;
}

static bool is_too_close(const bj_level *near, const bj_level *far) {
    return far->ramp_first_x < LEAST_APART * near->ramp_first_x;
}

/* The last of the levels from `index` on that may be stairs of one ramp. */
static size_t last_stair(const bj_level_set *found, size_t index) {
    size_t last = index;
    while (last + 1 < found->count &&
           found->level[last + 1].plateau_last_x < STAIR_PLATEAU * found->level[last + 1].plateau_first_x)
        last++;
    return last;
}

/* What lies between two stairs of one ramp is no level. A prefetcher that learns regions makes them behind the first
 * level, and nobody builds a second one less than twice as large; luck makes them where frames are random. */
static void merge_stairs(const bj_round_summary *s, double error_scale, bj_level_set *found) {
    if (found->count > 1 && found->level[1].ramp_first_x < LEAST_SECOND_LEVEL * found->level[0].ramp_first_x)
        bj_cache_merge_levels(s->x, s->own, s->count, 0, found);
    for (size_t i = 1; i + 1 < found->count;) {
        size_t last = i;
        if (is_too_close(&found->level[i], &found->level[i + 1])) {
            last = i + 1;
        } else if (s->request->lucky_frames) {
            last = last_stair(found, i);
            while (last > i && !is_one_cache(s, found, i, last, error_scale))
                last--;
        }
        /* What has been merged is compared with the next one again. */
        if (last == i) {
            i++;
            continue;
        }
        for (; last > i; last--)
            bj_cache_merge_levels(s->x, s->own, s->count, i, found);
    }
}

void bj_cache_measure_size(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_level *level) {
    double last_x = index + 1 < set->count ? set->level[index + 1].size_x : s->x[s->count - 1];
    bj_cache_measure_level_size(s->x, bj_cache_ramp_of(s, index, set->count), s->count, last_x, level);
}

static void measure_sizes(const bj_round_summary *s, bj_level_set *found) {
    for (size_t i = 0; i < found->count; i++)
        bj_cache_measure_size(s, found, i, &found->level[i]);
}

/* Memory is what the largest walks cost, in most rounds: where the last plateau begins the caches still hit now and
 * then, and others who leave a shared one for a while let the quietest rounds hit far beyond. */
static double read_memory(const bj_round_summary *s) {
    double values[LAST_POINTS_MAX];
    size_t kept = 0;
    for (size_t i = s->count; i-- > 0 && kept < LAST_POINTS_MAX && 2 * s->x[i] >= s->x[s->count - 1];)
        values[kept++] = s->y[i] - s->removed[i];
    return bj_stats_median(values, kept);
}

bj_status bj_cache_find_in_rounds(bj_round_summary *s, const size_t *index, size_t index_count, size_t skip,
                                  bj_level_set *found, bj_error *error) {
    const bj_hierarchy_request *q = s->request;
    s->count = sum_up(s, q->x, q->count, q->rounds, q->round_count, index, index_count, skip, s->x, s->y, true);
    find_tlb_cost(s, index, index_count);
    /* Where luck has no part, levels are looked for in the quietest rounds: disturbance makes stairs of its own. */
    const double *quiet = q->lucky_frames ? s->y : s->lowest;
    for (size_t i = 0; i < s->count; i++) {
        /* An estimate of the TLB's cost that eats even the first level's access time is no estimate. */
        double cost = bj_cache_tlb_cost_at(s, s->x[i]);
        s->removed[i] = fmin(cost, fmax(0, quiet[i] - quiet[0]));
        s->removed_error[i] = tlb_error_at(s, s->x[i]) + (cost - s->removed[i]);
        s->own[i] = quiet[i] - s->removed[i];
    }
    s->hints.removed = s->twin_count > 1 ? s->removed : NULL;
    s->hints.removed_error = s->removed_error;
    if (q->finder != NULL)
        return q->finder(s->x, s->y, s->count, &s->hints, q->finder_context, found, error);
    bj_status status = bj_cache_find_levels(s->x, s->own, s->count, &s->hints, found, error);
    bj_stats_enforce_monotone(s->own, s->count);
    bj_stats_enforce_monotone(s->y, s->count);
    bj_stats_enforce_monotone(s->lowest, s->count);
    /* The luck of frames goes both ways; disturbance only adds. */
    if (q->lucky_frames)
        bj_stats_fit_monotone(s->middle, s->count);
    else
        bj_stats_enforce_monotone(s->middle, s->count);
    /* Fewer rounds than the errors are of have larger ones. */
    if (status == BJ_OK && !q->levels_only)
        merge_stairs(s, sqrt((double)q->round_count / (double)index_count), found);
    if (status != BJ_OK || s->hints.removed == NULL)
        return status;
    found->last_latency = fmax(found->last_latency, read_memory(s));
    measure_sizes(s, found);
    /* The quietest rounds show stairs where a level moves between rounds; its sizes in the others are one size. */
    for (size_t i = 1; !q->lucky_frames && i + 1 < found->count;) {
        if (found->level[i + 1].size_x >= LEAST_APART * found->level[i].size_x) {
            i++;
            continue;
        }
        bj_cache_merge_levels(s->x, s->own, s->count, i, found);
        measure_sizes(s, found);
    }
    return BJ_OK;
}

/* Standard errors of all points; returns the relative one of a typical point. */
double bj_cache_estimate_noise(bj_round_summary *s, double *scratch) {
    const bj_hierarchy_request *q = s->request;
    size_t kept = 0;
    for (size_t i = 0; i < q->count; i++) {
        size_t have = 0;
        for (size_t r = 0; r < q->round_count; r++)
            if (!isnan(q->rounds[r][i]))
                s->column[have++] = q->rounds[r][i];
        if (have < 3)
            continue;
        have = bj_stats_sort_samples(s->column, have);
        double median = bj_stats_quantile_sorted(s->column, have, 0.5);
        double luck = q->lucky_frames ? fenced_sigma(s->column, have) : 0;
        double sigma = bj_stats_estimate_sigma(s->column, have);
        scratch[kept++] = sigma / sqrt((double)have) / median;
        s->error[i] = fmax(sigma, luck) / sqrt((double)have);
    }
    /* The median point: plateaus are most of a curve, and ramps differ between rounds for good reasons. */
    return kept > 0 ? bj_stats_median(scratch, kept) : 0;
}
