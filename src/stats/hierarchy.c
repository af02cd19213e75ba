#include "stats/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/bootstrap.h"
#include "stats/monotone.h"
#include "stats/occupancy.h"
#include "stats/quantile.h"

/* Rounds are summed up low, since disturbance only adds time; not at the bottom, since the frames of a mapping can be
 * lucky, too, and a capacity taken from the luckiest round is too large. */
#define LOW_OF_ROUNDS 0.25
/* Where luck counts its mean is wanted, without what lies far above the rest: that was disturbance. Tukey's fence. */
#define FENCE 1.5
/* And no more than one in so many: where a ramp begins most rounds are lucky, and the few that are not are no
 * disturbance. */
#define FENCED_ONE_IN 10
/* The first level is virtually indexed, so that luck has no part in it, and so small that any neighbour on the same
 * core empties it: only the quietest rounds show all of it. */
#define LOWEST_OF_ROUNDS 0.1
/* Enough for the moved-out 95% percentiles of a dozen rounds, and to see one wrong answer in a hundred. */
#define RESAMPLES 200u
#define PERMUTATIONS 999u
/* Two sizes closer than this are the same level: neighbouring levels lie further apart than an octave. */
#define SAME_LEVEL 1.4142
/* Capacities are resampled within this factor of the first fit, with its shape. */
#define REFIT_RANGE 1.6
/* A point of a ramp whose rounds differ this many times as much as those of a typical point. */
#define SCATTER 5
/* How much of the plateau before a ramp the model sees: enough to know the latency there. */
#define RAMP_OCTAVES 1.5
/* Misses set in at the capacity or below it (random frames), not far beyond (coarse points). */
#define CAPACITY_BELOW_RAMP 1.5
#define CAPACITY_ABOVE_RAMP 4
/* A level whose plateau is shorter than this factor may be a stair in somebody's ramp. */
#define STAIR_PLATEAU 2
#define LEAST_SECOND_LEVEL 2
/* Edges closer than this are one that moved between rounds: the slope is taken over half of that distance. */
#define LEAST_APART 1.6
/* A model that is right is off by less than this in 95 of 100 ramps, in units of the errors: the root of chi square's
 * quantile over its twelve independent points. */
#define FITS_AS_ONE 1.32
/* And it begins where the plateau before does: a fit that bends the two ends of a ramp takes the liberty there. */
#define LOW_AS_ONE 0.25
/* What revisits may be off besides: latencies of plateaus, what is left of a TLB's cost. */
#define REVISIT_ERROR 1.02
/* Two points between those of the plateaus. */
#define REVISITS_LEAST 4u
/* Where hardly anything hits any more, and how well the latency there is known: the next plateau begins before that. */
#define FAR_BEYOND 64
#define PLATEAU_ERROR 0.04
/* The ways of the levels before hardly matter where they miss most of the time. */
#define BEFORE_WAYS 8u

typedef struct {
    const bj_hierarchy_request *request;
    double *x, *y;           /* the summed-up curve, of the points that have samples; y does not fall */
    double *own, *removed;   /* y without the TLB's cost, and that */
    double *lowest, *middle; /* y by a lower quantile and by the mean; do not fall */
    double *error;           /* standard error of each point of the request, over all rounds */
    double *twin_x, *tlb;    /* cost of missing the TLBs whose reach is below that extent */
    double *packed_x, *packed_y;
    double *column;                       /* scratch of one point */
    double *ramp_x, *ramp_y, *ramp_error; /* and of one ramp */
    size_t count, twin_count;
    bj_level_hints hints;
} summary;

static void free_summary(summary *s) {
    free(s->x);
    free(s->y);
    free(s->own);
    free(s->removed);
    free(s->lowest);
    free(s->middle);
    free(s->error);
    free(s->twin_x);
    free(s->tlb);
    free(s->packed_x);
    free(s->packed_y);
    free(s->column);
    free(s->ramp_x);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static bj_status make_summary(const bj_hierarchy_request *request, summary *s, bj_error *error) {
    memset(s, 0, sizeof *s);
    s->request = request;
    size_t points = larger(request->count, 1), twins = larger(request->twin_count, 1);
    size_t rounds = larger(larger(request->round_count, request->twin_round_count), 1);
    s->x = malloc(points * sizeof(double));
    s->y = malloc(points * sizeof(double));
    s->own = malloc(points * sizeof(double));
    s->removed = malloc(points * sizeof(double));
    s->lowest = malloc(points * sizeof(double));
    s->middle = malloc(points * sizeof(double));
    s->error = calloc(points, sizeof(double));
    s->twin_x = malloc(twins * sizeof(double));
    s->tlb = malloc(twins * sizeof(double));
    s->packed_x = malloc(twins * sizeof(double));
    s->packed_y = malloc(twins * sizeof(double));
    s->column = malloc(rounds * sizeof(double));
    s->ramp_x = malloc(3 * points * sizeof(double));
    if (s->x == NULL || s->y == NULL || s->own == NULL || s->removed == NULL || s->lowest == NULL ||
        s->middle == NULL || s->error == NULL || s->twin_x == NULL || s->tlb == NULL || s->packed_x == NULL ||
        s->packed_y == NULL || s->column == NULL || s->ramp_x == NULL) {
        free_summary(s);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to analyse %zu points", request->count);
    }
    s->ramp_y = s->ramp_x + points;
    s->ramp_error = s->ramp_y + points;
    return BJ_OK;
}

static double fenced_mean(const double *sorted, size_t count) {
    double low = bj_stats_quantile_sorted(sorted, count, 0.25), high = bj_stats_quantile_sorted(sorted, count, 0.75);
    double sum = 0;
    size_t kept = 0, sure = count - (count + FENCED_ONE_IN - 1) / FENCED_ONE_IN;
    while (kept < count && (kept < sure || sorted[kept] <= high + FENCE * (high - low)))
        sum += sorted[kept++];
    return sum / (double)kept;
}

/* Quantiles over the chosen rounds; `skip` leaves one point out (count: none). */
static size_t sum_up(summary *s, const double *x, size_t count, const double *const *rounds, size_t round_count,
                     const size_t *index, size_t index_count, size_t skip, double *out_x, double *low,
                     bool all_quantiles) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t have = 0;
        for (size_t r = 0; r < index_count; r++)
            if (index[r] < round_count && !isnan(rounds[index[r]][i]))
                s->column[have++] = rounds[index[r]][i];
        if (have == 0 || i == skip)
            continue;
        out_x[kept] = x[i];
        low[kept] = bj_stats_quantile(s->column, have, LOW_OF_ROUNDS);
        if (all_quantiles) {
            s->lowest[kept] = bj_stats_quantile_sorted(s->column, have, LOWEST_OF_ROUNDS);
            s->middle[kept] = fenced_mean(s->column, have);
        }
        kept++;
    }
    return kept;
}

/* What the TLB adds to a walk over every line of x bytes. The spread twin visits each page once a lap, so that beyond
 * the reach of a TLB every access misses it. A dense walk comes back to a page before the lap is over and finds its
 * entry in reach / x of the cases: each rise of the twin counts for the rest only. */
static double tlb_cost_at(const summary *s, double x) {
    double cost = 0;
    for (size_t i = 1; i < s->twin_count; i++) {
        double reach = sqrt(s->twin_x[i - 1] * s->twin_x[i]);
        if (reach < x)
            cost += (s->tlb[i] - s->tlb[i - 1]) * (1 - reach / x);
    }
    return cost;
}

/* The difference of the twins is what one visit a page costs more than the packed twin's visits to fewer pages; those
 * have a cost, too, that of a dense walk, found before. */
static void find_tlb_cost(summary *s, const size_t *index, size_t index_count) {
    const bj_hierarchy_request *q = s->request;
    size_t spread = sum_up(s, q->twin_x, q->twin_count, q->spread_rounds, q->twin_round_count, index, index_count,
                           q->twin_count, s->twin_x, s->tlb, false);
    size_t packed = sum_up(s, q->twin_x, q->twin_count, q->packed_rounds, q->twin_round_count, index, index_count,
                           q->twin_count, s->packed_x, s->packed_y, false);
    s->twin_count = 0;
    for (size_t i = 0, k = 0; i < spread; i++) {
        while (k < packed && s->packed_x[k] < s->twin_x[i])
            k++;
        /* Both or none: a resample that lacks a twin's point cannot tell. */
        if (k == packed || s->packed_x[k] != s->twin_x[i])
            continue;
        double cost = fmax(0, s->tlb[i] - s->packed_y[k]) + tlb_cost_at(s, s->twin_x[i] / q->packing);
        size_t at = s->twin_count++;
        s->twin_x[at] = s->twin_x[i];
        /* From nothing, since the smallest extent is in reach of any TLB, and never falling. Noise makes it a little
         * too large, which is better than to leave a TLB's edge behind. */
        s->tlb[at] = at > 0 ? fmax(s->tlb[at - 1], cost) : 0;
    }
}

/* The curve that sizes and ramps of a level are read off. */
static const double *ramp_of(const summary *s, size_t index, size_t level_count) {
    /* The first level is virtually indexed: frames do not matter. */
    if (index == 0)
        return s->lowest;
    if (s->request->lucky_frames)
        return s->middle;
    /* The last level is so large that even huge pages can be lucky, and others share it. */
    return index + 1 < level_count ? s->lowest : s->middle;
}

/* The points of a curve from first to last, with their errors. */
static size_t cut_points(const summary *s, const double *curve, double first, double last, double *x, double *y,
                         double *error) {
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < s->count; i++)
        if (s->x[i] >= first && s->x[i] <= last) {
            while (s->request->x[k] < s->x[i])
                k++;
            x[kept] = s->x[i];
            error[kept] = s->error[k];
            y[kept++] = curve[i];
        }
    return kept;
}

static double ramp_begin(const bj_level *level) {
    return fmax(level->plateau_first_x, level->ramp_first_x / exp2(RAMP_OCTAVES));
}

/* Is one cache on random frames enough to explain the levels `index` and the next? */
static bool is_one_cache(const summary *s, const bj_level_set *found, size_t index, double error_scale) {
    const bj_level *near = &found->level[index], *far = near + 1;
    size_t count = cut_points(s, s->own, ramp_begin(near), far->ramp_last_x, s->ramp_x, s->ramp_y, s->ramp_error);
    for (size_t i = 0; i < count; i++)
        s->ramp_error[i] *= error_scale;
    for (unsigned ways = 1; ways <= 16; ways *= 2)
        for (int r = BJ_REPLACE_LRU; r <= BJ_REPLACE_RANDOM; r++) {
            bj_occupancy_shape shape = {ways, true, (bj_replacement)r, 0};
            bj_occupancy_request request = {.x = s->ramp_x,
                                            .y = s->ramp_y,
                                            .error = s->ramp_error,
                                            .count = count,
                                            .first = near->ramp_first_x / CAPACITY_BELOW_RAMP,
                                            .last = far->next_first_x,
                                            .only = &shape};
            bj_occupancy fit;
            if (bj_stats_fit_occupancy(&request, &fit) && fit.error < FITS_AS_ONE &&
                fabs(fit.low / near->latency - 1) < LOW_AS_ONE)
                return true;
        }
    return false;
}

/* What lies between two stairs of one ramp is no level. A prefetcher that learns regions makes them behind the first
 * level, and nobody builds a second one less than twice as large; luck makes them where frames are random. */
static void merge_stairs(const summary *s, double error_scale, bj_level_set *found) {
    if (found->count > 1 && found->level[1].ramp_first_x < LEAST_SECOND_LEVEL * found->level[0].ramp_first_x)
        bj_stats_merge_levels(s->x, s->own, s->count, 0, found);
    for (size_t i = 1; i + 1 < found->count;) {
        const bj_level *near = &found->level[i], *far = near + 1;
        bool too_close = far->ramp_first_x < LEAST_APART * near->ramp_first_x;
        bool short_plateau = far->plateau_last_x < STAIR_PLATEAU * far->plateau_first_x;
        if (too_close || (s->request->lucky_frames && short_plateau && is_one_cache(s, found, i, error_scale)))
            bj_stats_merge_levels(s->x, s->own, s->count, i, found);
        else
            i++;
    }
}

static void measure_sizes(const summary *s, bj_level_set *found) {
    for (size_t i = 0; i < found->count; i++) {
        double last_x = i + 1 < found->count ? found->level[i + 1].size_x : s->x[s->count - 1];
        bj_stats_measure_level_size(s->x, ramp_of(s, i, found->count), s->count, last_x, &found->level[i]);
    }
}

static bj_status find_in_rounds(summary *s, const size_t *index, size_t index_count, size_t skip, bj_level_set *found,
                                bj_error *error) {
    const bj_hierarchy_request *q = s->request;
    s->count = sum_up(s, q->x, q->count, q->rounds, q->round_count, index, index_count, skip, s->x, s->y, true);
    find_tlb_cost(s, index, index_count);
    /* Where luck has no part, levels are looked for in the quietest rounds: disturbance makes stairs of its own. */
    const double *quiet = q->lucky_frames ? s->y : s->lowest;
    for (size_t i = 0; i < s->count; i++) {
        /* Never more than half: an estimate of the TLB's cost that eats the access time is no estimate. */
        s->removed[i] = fmin(tlb_cost_at(s, s->x[i]), quiet[i] / 2);
        s->own[i] = quiet[i] - s->removed[i];
    }
    s->hints.removed = s->twin_count > 1 ? s->removed : NULL;
    if (q->finder != NULL)
        return q->finder(s->x, s->y, s->count, &s->hints, q->finder_context, found, error);
    bj_status status = bj_stats_find_levels(s->x, s->own, s->count, &s->hints, found, error);
    bj_stats_enforce_monotone(s->own, s->count);
    /* Fewer rounds than the errors are of have larger ones. */
    if (status == BJ_OK && !q->levels_only)
        merge_stairs(s, sqrt((double)q->round_count / (double)index_count), found);
    bj_stats_enforce_monotone(s->y, s->count);
    bj_stats_enforce_monotone(s->lowest, s->count);
    bj_stats_enforce_monotone(s->middle, s->count);
    if (status != BJ_OK || s->hints.removed == NULL)
        return status;
    measure_sizes(s, found);
    /* The quietest rounds show stairs where a level moves between rounds; its sizes in the others are one size. */
    for (size_t i = 1; !q->lucky_frames && i + 1 < found->count;) {
        if (found->level[i + 1].size_x >= LEAST_APART * found->level[i].size_x) {
            i++;
            continue;
        }
        bj_stats_merge_levels(s->x, s->own, s->count, i, found);
        measure_sizes(s, found);
    }
    return BJ_OK;
}

/* Standard errors of all points; returns the relative one of a typical point. */
static double estimate_noise(summary *s, double *scratch) {
    const bj_hierarchy_request *q = s->request;
    size_t kept = 0;
    for (size_t i = 0; i < q->count; i++) {
        size_t have = 0;
        for (size_t r = 0; r < q->round_count; r++)
            if (!isnan(q->rounds[r][i]))
                s->column[have++] = q->rounds[r][i];
        if (have < 3)
            continue;
        double median = bj_stats_median(s->column, have);
        s->error[i] = bj_stats_estimate_sigma(s->column, have) / sqrt((double)have);
        scratch[kept++] = s->error[i] / median;
    }
    /* The median point: plateaus are most of a curve, and ramps differ between rounds for good reasons. */
    return kept > 0 ? bj_stats_median(scratch, kept) : 0;
}

/* The points that tell about the edge at the end of a level: from its plateau to an octave into the next one. */
static size_t cut_ramp(const summary *s, const bj_level *level, size_t index, size_t level_count, double *x, double *y,
                       double *error) {
    double first = ramp_begin(level), last = level->ramp_last_x;
    size_t kept = cut_points(s, ramp_of(s, index, level_count), first, last, x, y, error);
    for (size_t i = 0, k = 0; i < s->count; i++)
        if (s->x[i] >= first && s->x[i] <= last) {
            y[k] = fmax(y[k] - s->removed[i], s->y[i] / 2);
            k++;
        }
    return kept;
}

/* Do rounds differ more on the ramp than elsewhere? Then the frames decide, and they do only when they are random. */
static bool is_scattered(const summary *s, const bj_level *level, const double *y, const double *error, size_t count) {
    double rise = level->next_latency - level->latency;
    size_t on_ramp = 0, scattered = 0;
    for (size_t i = 0; i < count; i++) {
        double share = (y[i] - level->latency) / rise;
        if (share < 0.15 || share > 0.85)
            continue;
        on_ramp++;
        if (error[i] > SCATTER * s->hints.noise * y[i])
            scattered++;
    }
    return on_ramp > 0 && 2 * scattered > on_ramp;
}

/* What the levels before this one still give to a walk of several visits a line. */
static double hits_before(const bj_hierarchy *found, const bj_level_set *set, size_t index, double x, double visits) {
    double gained = 0;
    for (size_t i = 0; i < index; i++) {
        bj_occupancy_shape shape = {BEFORE_WAYS, false, BJ_REPLACE_LRU, visits};
        double capacity = found->level[i].has_capacity ? found->level[i].capacity.value : set->level[i].size_x;
        double misses = bj_stats_predict_occupancy_misses(&shape, x / capacity);
        gained += (1 - misses) * (set->level[i].next_latency - set->level[i].latency);
    }
    return gained;
}

/* The points of the revisits beyond the edge of a level and before the next one's, as if only this level hit, between
 * a point of its plateau and one of the next. */
static size_t gather_revisits(summary *s, const bj_revisit_rounds *curve, const bj_hierarchy *found,
                              const bj_level_set *set, size_t index) {
    const bj_hierarchy_request *q = s->request;
    const bj_level *level = &set->level[index];
    double last_x = index + 1 < set->count ? set->level[index + 1].size_x : INFINITY;
    size_t kept = 0;
    s->ramp_x[kept] = level->ramp_first_x / 2;
    s->ramp_y[kept] = level->latency;
    s->ramp_error[kept++] = s->hints.noise * level->latency;
    for (size_t i = 0; i < curve->count && kept + 1 < q->count; i++) {
        size_t have = 0;
        for (size_t r = 0; r < curve->round_count && r < q->round_count; r++)
            if (!isnan(curve->rounds[r][i]))
                s->column[have++] = curve->rounds[r][i];
        double x = curve->x[i];
        if (have == 0 || x < level->ramp_first_x || x > last_x)
            continue;
        have = bj_stats_sort_samples(s->column, have);
        double y =
            q->lucky_frames ? fenced_mean(s->column, have) : bj_stats_quantile_sorted(s->column, have, LOW_OF_ROUNDS);
        /* Last, since it takes the samples apart. */
        double deviation = bj_stats_estimate_sigma(s->column, have) / sqrt((double)have);
        s->ramp_x[kept] = x;
        s->ramp_y[kept] = y - tlb_cost_at(s, x) + hits_before(found, set, index, x, curve->visits);
        s->ramp_error[kept++] = isnan(deviation) ? 0 : deviation;
    }
    s->ramp_x[kept] = FAR_BEYOND * level->ramp_first_x;
    s->ramp_y[kept] = level->next_latency;
    s->ramp_error[kept++] = PLATEAU_ERROR * (level->next_latency - level->latency);
    return kept;
}

/* What the revisits say of a capacity, whatever the replacement; false: nothing. */
static bool fit_revisits(summary *s, const bj_level_set *set, size_t index, const bj_hierarchy *found,
                         bj_occupancy *fit) {
    const bj_level *level = &set->level[index];
    for (size_t c = 0; c < sizeof s->request->revisits / sizeof s->request->revisits[0]; c++) {
        const bj_revisit_rounds *curve = &s->request->revisits[c];
        size_t count = curve->count > 0 ? gather_revisits(s, curve, found, set, index) : 0;
        bj_occupancy_request request = {.x = s->ramp_x,
                                        .y = s->ramp_y,
                                        .error = s->ramp_error,
                                        .count = count,
                                        .first = level->ramp_first_x / CAPACITY_BELOW_RAMP,
                                        .last = level->ramp_first_x * CAPACITY_ABOVE_RAMP,
                                        .random_frames_only = s->request->lucky_frames,
                                        .visits = curve->visits};
        if (count < REVISITS_LEAST || !bj_stats_fit_occupancy(&request, fit))
            continue;
        fit->interval[0] /= REVISIT_ERROR;
        fit->interval[1] *= REVISIT_ERROR;
        return true;
    }
    return false;
}

static bool fit_capacity(const summary *s, const bj_level *level, size_t index, size_t level_count,
                         bj_replacement expected, const bj_occupancy *first_fit, double *scratch, bj_occupancy *fit) {
    double *x = scratch, *y = scratch + s->count, *error = y + s->count;
    size_t count = cut_ramp(s, level, index, level_count, x, y, error);
    double low = level->ramp_first_x / CAPACITY_BELOW_RAMP;
    double high = fmin(level->ramp_first_x * CAPACITY_ABOVE_RAMP, level->next_first_x);
    if (first_fit != NULL) {
        low = first_fit->capacity / REFIT_RANGE;
        high = first_fit->capacity * REFIT_RANGE;
    }
    bj_occupancy_request request = {.x = x,
                                    .y = y,
                                    .error = error,
                                    .count = count,
                                    .first = low,
                                    .last = high,
                                    .random_frames_only = s->request->lucky_frames && index > 0 &&
                                                          is_scattered(s, level, y, error, count),
                                    .expected = expected,
                                    .only = first_fit != NULL ? &first_fit->shape : NULL};
    return bj_stats_fit_occupancy(&request, fit);
}

/* Could the step be a chance order of the same samples? Mean log time before against after it. */
static double test_step(const bj_hierarchy_request *q, const bj_level *level, double next_last_x, bj_random *random,
                        double *values) {
    size_t before = 0, all = 0;
    for (int side = 0; side < 2; side++) {
        /* After the size, also where that was read off another curve: no sample may be on both sides. */
        double after = fmax(level->next_first_x, level->size_sample_x * (1 + 1e-9));
        double first = side == 0 ? level->plateau_first_x : after;
        double last = side == 0 ? level->size_sample_x : next_last_x;
        for (size_t i = 0; i < q->count; i++)
            for (size_t r = 0; r < q->round_count && q->x[i] >= first && q->x[i] <= last; r++)
                if (!isnan(q->rounds[r][i]))
                    values[all++] = log(q->rounds[r][i]);
        if (side == 0)
            before = all;
    }
    if (before == 0 || before == all)
        return NAN;
    double total = 0, low = 0;
    for (size_t i = 0; i < all; i++)
        total += values[i];
    for (size_t i = 0; i < before; i++)
        low += values[i];
    unsigned as_low = 0;
    for (unsigned k = 0; k < PERMUTATIONS; k++) {
        double drawn = 0;
        /* The first `before` of a fresh shuffle are a random choice. */
        for (size_t i = 0; i < before; i++) {
            size_t j = i + (size_t)bj_random_below(random, all - i);
            double swap = values[i];
            values[i] = values[j];
            values[j] = swap;
            drawn += values[i];
        }
        if (drawn <= low + 1e-12 * fabs(total))
            as_low++;
    }
    return (1.0 + as_low) / (1.0 + PERMUTATIONS);
}

typedef struct {
    double *size, *sample, *capacity, *latency; /* RESAMPLES each */
    size_t count, capacity_count;
} replicates;

typedef struct {
    replicates level[BJ_LEVELS_MAX];
    double *store, *last_latency;
    size_t last_count;
    size_t with_levels[BJ_LEVELS_MAX + 1]; /* resamples by their number of levels */
    size_t drawn;
} resampling;

static bool make_resampling(resampling *r, size_t capacity) {
    memset(r, 0, sizeof *r);
    size_t rows = 4 * BJ_LEVELS_MAX + 1;
    r->store = malloc(rows * capacity * sizeof(double));
    if (r->store == NULL)
        return false;
    for (size_t i = 0; i < BJ_LEVELS_MAX; i++) {
        r->level[i].size = r->store + (4 * i) * capacity;
        r->level[i].sample = r->store + (4 * i + 1) * capacity;
        r->level[i].capacity = r->store + (4 * i + 2) * capacity;
        r->level[i].latency = r->store + (4 * i + 3) * capacity;
    }
    r->last_latency = r->store + (rows - 1) * capacity;
    return true;
}

static bool same_level(double a, double b) {
    return a < b * SAME_LEVEL && b < a * SAME_LEVEL;
}

/* Files what one resample gave under the levels that it agrees with. */
static void file_replicate(summary *s, const bj_hierarchy *found, const bj_occupancy *fits, const bj_level_set *set,
                           double *scratch, resampling *r) {
    r->drawn++;
    r->with_levels[set->count]++;
    r->last_latency[r->last_count++] = set->last_latency;
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; k < set->count; k++) {
            const bj_level *level = &set->level[k];
            replicates *into = &r->level[i];
            if (!same_level(level->size_x, found->level[i].size.value))
                continue;
            into->size[into->count] = level->size_x;
            into->sample[into->count] = level->size_sample_x;
            into->latency[into->count++] = level->latency;
            bj_occupancy fit;
            if (found->level[i].has_capacity && !found->level[i].revisited &&
                fit_capacity(s, level, k, set->count, fits[i].shape.replacement, &fits[i], scratch, &fit))
                into->capacity[into->capacity_count++] = fit.capacity;
            break;
        }
}

static void set_interval(double *values, size_t count, double tail, bj_estimate *estimate) {
    if (count == 0)
        return;
    count = bj_stats_sort_samples(values, count);
    double low = bj_stats_quantile_sorted(values, count, tail);
    double high = bj_stats_quantile_sorted(values, count, 1 - tail);
    estimate->interval[0] = fmin(estimate->value, low);
    estimate->interval[1] = fmax(estimate->value, high);
}

static void widen(bj_estimate *estimate, double low, double high) {
    estimate->interval[0] = fmin(estimate->interval[0], low);
    estimate->interval[1] = fmax(estimate->interval[1], high);
}

static double next_point(const bj_hierarchy_request *q, double x) {
    for (size_t i = 0; i < q->count; i++)
        if (q->x[i] > x)
            return q->x[i];
    return x;
}

static void close_resampling(const bj_hierarchy_request *q, resampling *r, double tail, const bj_occupancy *fits,
                             bj_hierarchy *found) {
    for (size_t i = 0; i < found->count; i++) {
        bj_hierarchy_level *level = &found->level[i];
        replicates *from = &r->level[i];
        level->support = (double)from->count / (double)r->drawn;
        set_interval(from->size, from->count, tail, &level->size);
        /* Between two points it is interpolation: the one that fits and the one that does not are what was seen. */
        widen(&level->size, level->level.size_sample_x, next_point(q, level->level.size_sample_x));
        set_interval(from->sample, from->count, tail, &level->size_sample);
        set_interval(from->latency, from->count, tail, &level->latency);
        if (level->has_capacity) {
            set_interval(from->capacity, from->capacity_count, tail, &level->capacity);
            widen(&level->capacity, fits[i].interval[0], fits[i].interval[1]);
        }
    }
    set_interval(r->last_latency, r->last_count, tail, &found->last_latency);
    found->count_support = (double)r->with_levels[found->count] / (double)r->drawn;
    found->least = found->most = found->count;
    for (size_t n = 0; n <= BJ_LEVELS_MAX; n++)
        if ((double)r->with_levels[n] > 0.025 * (double)r->drawn) {
            found->least = n < found->least ? n : found->least;
            found->most = larger(found->most, n);
        }
}

static bj_status resample_rounds(summary *s, const bj_occupancy *fits, double *scratch, bj_hierarchy *found,
                                 bj_error *error) {
    size_t rounds = s->request->round_count;
    resampling r;
    size_t *index = malloc(rounds * sizeof *index);
    bj_status status = BJ_OK;
    if (index == NULL || !make_resampling(&r, RESAMPLES)) {
        free(index);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to resample");
    }
    bj_random random;
    bj_random_seed(&random, bj_random_mix(s->request->seed, 1));
    for (size_t b = 0; b < RESAMPLES && status == BJ_OK; b++) {
        for (size_t i = 0; i < rounds; i++)
            index[i] = (size_t)bj_random_below(&random, rounds);
        bj_level_set set;
        status = find_in_rounds(s, index, rounds, s->request->count, &set, error);
        if (status == BJ_OK)
            file_replicate(s, found, fits, &set, scratch, &r);
    }
    if (status == BJ_OK)
        close_resampling(s->request, &r, bj_stats_expand_percentile(rounds), fits, found);
    free(index);
    free(r.store);
    return status;
}

/* One round only: leave out each point in turn. */
static bj_status leave_points_out(summary *s, const bj_occupancy *fits, double *scratch, bj_hierarchy *found,
                                  bj_error *error) {
    size_t count = s->request->count, index = 0;
    resampling r;
    if (!make_resampling(&r, count))
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to resample");
    bj_status status = BJ_OK;
    /* Of a long table not every point: neighbours say the same. */
    size_t step = count / RESAMPLES + 1;
    for (size_t skip = 0; skip < count && status == BJ_OK; skip += step) {
        bj_level_set set;
        status = find_in_rounds(s, &index, 1, skip, &set, error);
        if (status == BJ_OK)
            file_replicate(s, found, fits, &set, scratch, &r);
    }
    if (status == BJ_OK)
        close_resampling(s->request, &r, 0, fits, found);
    free(r.store);
    return status;
}

/* What single rounds say: a level whose size differs between them is not noise but a moving target. */
static bj_status compare_rounds(summary *s, bj_hierarchy *found, bj_error *error) {
    size_t rounds = s->request->round_count;
    double *sizes = malloc(larger(rounds, 1) * BJ_LEVELS_MAX * sizeof *sizes);
    size_t have[BJ_LEVELS_MAX] = {0};
    if (sizes == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to compare rounds");
    bj_status status = BJ_OK;
    for (size_t r = 0; r < rounds && status == BJ_OK; r++) {
        bj_level_set set;
        status = find_in_rounds(s, &r, 1, s->request->count, &set, error);
        if (status != BJ_OK || set.count != found->count)
            continue;
        for (size_t i = 0; i < set.count; i++)
            sizes[i * rounds + have[i]++] = set.level[i].size_x;
    }
    for (size_t i = 0; i < found->count && status == BJ_OK; i++) {
        bj_hierarchy_level *level = &found->level[i];
        double *of_level = sizes + i * rounds;
        size_t count = bj_stats_sort_samples(of_level, have[i]);
        if (count < 3)
            continue;
        level->spread = bj_stats_quantile_sorted(of_level, count, 0.9) / bj_stats_quantile_sorted(of_level, count, 0.1);
        level->single_low = of_level[0];
        level->single_high = of_level[count - 1];
        for (size_t k = 0; k < count; k++)
            of_level[k] = log(of_level[k]);
        level->single_sigma = bj_stats_estimate_sigma(of_level, count);
    }
    free(sizes);
    return status;
}

static double next_plateau_end(const bj_level_set *set, size_t index, const bj_hierarchy_request *q) {
    return index + 1 < set->count ? set->level[index + 1].size_sample_x : q->x[q->count - 1];
}

/* By the ramp where frames do not matter, since its edge is sharp there, and by the revisits where those contradict it
 * or frames are random. */
static void find_capacity(summary *s, const bj_level_set *set, size_t index, double *scratch, bj_occupancy *fit,
                          bj_hierarchy *found) {
    bj_hierarchy_level *level = &found->level[index];
    bj_replacement expected =
        index > 0 && found->level[0].has_capacity ? found->level[0].ramp_replacement : BJ_REPLACE_LRU;
    bj_occupancy revisited;
    bool by_ramp = fit_capacity(s, &set->level[index], index, set->count, expected, NULL, scratch, fit);
    bool by_revisits = index > 0 && fit_revisits(s, set, index, found, &revisited);
    if (by_ramp)
        level->ramp_replacement = fit->shape.replacement;
    if (by_ramp && by_revisits && !fit->shape.random_frames && fit->capacity >= revisited.interval[0] &&
        fit->capacity <= revisited.interval[1])
        by_revisits = false;
    level->has_capacity = by_ramp || by_revisits;
    level->revisited = by_revisits;
    if (by_revisits)
        *fit = revisited;
    if (level->has_capacity) {
        level->capacity = (bj_estimate){fit->capacity, {fit->interval[0], fit->interval[1]}};
        level->capacity_error = fit->error;
    }
}

static void describe_levels(summary *s, const bj_level_set *set, double *scratch, bj_occupancy *fits,
                            bj_hierarchy *found) {
    bj_random random;
    bj_random_seed(&random, bj_random_mix(s->request->seed, 2));
    found->count = set->count;
    found->memory_hides_edge = set->memory_hides_edge;
    found->last_latency = (bj_estimate){set->last_latency, {set->last_latency, set->last_latency}};
    for (size_t i = 0; i < set->count; i++) {
        bj_hierarchy_level *level = &found->level[i];
        const bj_level *from = &set->level[i];
        level->level = *from;
        level->spread = 1;
        level->size = (bj_estimate){from->size_x, {from->size_x, from->size_x}};
        level->size_sample = (bj_estimate){from->size_sample_x, {from->size_sample_x, from->size_sample_x}};
        level->latency = (bj_estimate){from->latency, {from->latency, from->latency}};
        if (s->request->levels_only)
            continue;
        find_capacity(s, set, i, scratch, &fits[i], found);
        level->p = test_step(s->request, from, next_plateau_end(set, i, s->request), &random, scratch);
    }
}

bj_status bj_stats_find_hierarchy(const bj_hierarchy_request *request, bj_hierarchy *found, bj_error *error) {
    memset(found, 0, sizeof *found);
    summary s;
    bj_status status = make_summary(request, &s, error);
    if (status != BJ_OK)
        return status;
    size_t samples = request->count * larger(request->round_count, 3);
    double *scratch = malloc(larger(samples, 1) * sizeof *scratch);
    size_t *all = malloc(larger(request->round_count, 1) * sizeof *all);
    bj_occupancy fits[BJ_LEVELS_MAX] = {{0}};
    bj_level_set set;
    if (scratch == NULL || all == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to analyse %zu points", request->count);
        goto done;
    }
    for (size_t r = 0; r < request->round_count; r++)
        all[r] = r;
    s.hints.noise = found->noise = estimate_noise(&s, scratch);
    status = find_in_rounds(&s, all, request->round_count, request->count, &set, error);
    if (status != BJ_OK)
        goto done;
    describe_levels(&s, &set, scratch, fits, found);
    if (request->levels_only)
        goto done;
    if (request->round_count > 1)
        status = resample_rounds(&s, fits, scratch, found, error);
    else
        status = leave_points_out(&s, fits, scratch, found, error);
    if (status == BJ_OK && request->round_count > 1)
        status = compare_rounds(&s, found, error);
done:
    free(all);
    free(scratch);
    free_summary(&s);
    return status;
}
