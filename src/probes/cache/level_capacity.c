#include "probes/cache/level_capacity.h"

#include <math.h>

#include "stats/quantile.h"

/* Misses set in not far beyond the capacity. */
#define CAPACITY_ABOVE_RAMP 4
/* Capacities are resampled within this factor of the first fit, with its shape. */
#define REFIT_RANGE 1.6
/* A point of a ramp whose rounds differ this many times as much as those of a typical point. */
#define SCATTER 5
/* What revisits may be off besides: latencies of plateaus, what is left of a TLB's cost. */
#define REVISIT_ERROR 1.02
/* A ramp as wide as that of so few ways is rather one over frames that do matter. */
#define FEW_WAYS 2u
/* Two points between those of the plateaus. */
#define REVISITS_LEAST 4u
/* Where hardly anything hits any more. */
#define FAR_BEYOND 64
/* The ways of the levels before hardly matter where they miss most of the time. */
#define BEFORE_WAYS 8u

/* The points that tell about the edge at the end of a level: from its plateau to an octave into the next one. */
static size_t cut_ramp(const bj_round_summary *s, const bj_level *level, size_t index, size_t level_count, double *x,
                       double *y, double *error) {
    double first = bj_cache_ramp_begin(level), last = level->ramp_last_x;
    return bj_cache_cut_without_tlb(s, bj_cache_ramp_of(s, index, level_count), first, last, x, y, error);
}

/* Do rounds differ more on the ramp than elsewhere? Then the frames decide, and they do only when they are random. */
static bool is_scattered(const bj_round_summary *s, const bj_level *level, const double *y, const double *error,
                         size_t count) {
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

static bj_frames frames_of(const bj_round_summary *s, const bj_level *level, size_t index, const double *y,
                           const double *error, size_t count) {
    if (index == 0)
        return s->request->huge_pages ? BJ_FRAMES_CONTIGUOUS : BJ_FRAMES_UNKNOWN;
    return s->request->lucky_frames && is_scattered(s, level, y, error, count) ? BJ_FRAMES_RANDOM : BJ_FRAMES_UNKNOWN;
}

/* What the levels before this one still give to a walk of several visits a line. */
static double hits_before(const bj_hierarchy *found, const bj_level_set *set, size_t index, double x, double visits) {
    double gained = 0;
    for (size_t i = 0; i < index; i++) {
        bj_occupancy_shape shape = {BEFORE_WAYS, false, BJ_REPLACE_LRU, visits};
        double capacity = found->level[i].has_capacity ? found->level[i].capacity.value : set->level[i].size_x;
        double misses = bj_cache_predict_occupancy_misses(&shape, x / capacity);
        gained += (1 - misses) * (set->level[i].next_latency - set->level[i].latency);
    }
    return gained;
}

/* The points of the revisits beyond the edge of a level and before the next one's, as if only this level hit, between
 * a point of its plateau and one of the next. */
static size_t gather_revisits(bj_round_summary *s, const bj_revisit_rounds *curve, const bj_hierarchy *found,
                              const bj_level_set *set, size_t index) {
    const bj_hierarchy_request *q = s->request;
    const bj_level *level = &set->level[index];
    double last_x = index + 1 < set->count ? set->level[index + 1].ramp_first_x : INFINITY;
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
        double y = q->lucky_frames ? bj_cache_fenced_mean(s->column, have)
                                   : bj_stats_quantile_sorted(s->column, have, BJ_LOW_OF_ROUNDS);
        /* Last, since it takes the samples apart. */
        double deviation = bj_stats_estimate_sigma(s->column, have) / sqrt((double)have);
        s->ramp_x[kept] = x;
        s->ramp_y[kept] = y - bj_cache_tlb_cost_at(s, x) + hits_before(found, set, index, x, curve->visits);
        s->ramp_error[kept++] = isnan(deviation) ? 0 : deviation;
    }
    s->ramp_x[kept] = FAR_BEYOND * level->ramp_first_x;
    s->ramp_y[kept] = level->next_latency;
    s->ramp_error[kept++] = BJ_PLATEAU_ERROR * (level->next_latency - level->latency);
    return kept;
}

/* What the revisits say of a capacity, whatever the replacement; false: nothing. */
static bool fit_revisits(bj_round_summary *s, const bj_level_set *set, size_t index, const bj_hierarchy *found,
                         bj_occupancy *fit) {
    const bj_level *level = &set->level[index];
    for (size_t c = 0; c < BJ_REVISIT_CURVES; c++) {
        const bj_revisit_rounds *curve = &s->request->revisits[c];
        size_t count = curve->count > 0 ? gather_revisits(s, curve, found, set, index) : 0;
        bj_occupancy_request request = {.x = s->ramp_x,
                                        .y = s->ramp_y,
                                        .error = s->ramp_error,
                                        .count = count,
                                        .first = level->ramp_first_x / BJ_CAPACITY_BELOW_RAMP,
                                        .last = level->ramp_first_x * CAPACITY_ABOVE_RAMP,
                                        .frames = s->request->lucky_frames ? BJ_FRAMES_RANDOM : BJ_FRAMES_UNKNOWN,
                                        .visits = curve->visits};
        if (count < REVISITS_LEAST || !bj_cache_fit_occupancy(&request, fit))
            continue;
        fit->interval[0] /= REVISIT_ERROR;
        fit->interval[1] *= REVISIT_ERROR;
        return true;
    }
    return false;
}

bool bj_cache_fit_capacity(const bj_round_summary *s, const bj_level *level, size_t index, size_t level_count,
                           bj_replacement expected, const bj_occupancy *first_fit, double *scratch, bj_occupancy *fit) {
    double *x = scratch, *y = scratch + s->count, *error = y + s->count;
    size_t count = cut_ramp(s, level, index, level_count, x, y, error);
    double low = level->ramp_first_x / BJ_CAPACITY_BELOW_RAMP;
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
                                    .frames = frames_of(s, level, index, y, error, count),
                                    .expected = expected,
                                    .only = first_fit != NULL ? &first_fit->shape : NULL};
    return bj_cache_fit_occupancy(&request, fit);
}

/* Where frames do not matter, an edge is sharp: the ramp then decides unless the revisits contradict it, and even so if
 * it is as sharp as LRU makes it, since nothing else can be mistaken for that. */
static bool ramp_decides(const bj_occupancy *ramp, const bj_occupancy *revisited, bool explained) {
    if (ramp->shape.random_frames || ramp->shape.ways <= FEW_WAYS)
        return false;
    bool agree = ramp->capacity >= revisited->interval[0] && ramp->capacity <= revisited->interval[1];
    return agree || (explained && ramp->shape.replacement == BJ_REPLACE_LRU);
}

void bj_cache_find_capacity(bj_round_summary *s, const bj_level_set *set, size_t index, double *scratch,
                            bj_occupancy *fit, bj_hierarchy *found) {
    bj_hierarchy_level *level = &found->level[index];
    const bj_level *from = &set->level[index];
    bj_replacement expected =
        index > 0 && found->level[0].has_capacity ? found->level[0].ramp_replacement : BJ_REPLACE_LRU;
    bj_occupancy revisited;
    bool by_ramp = bj_cache_fit_capacity(s, from, index, set->count, expected, NULL, scratch, fit);
    bool by_revisits = index > 0 && fit_revisits(s, set, index, found, &revisited);
    /* Where the next plateau begins, this level still hits now and then; the revisits tell what a miss costs. */
    if (by_revisits && bj_cache_explains_ramp(&revisited, from))
        level->next_factor = revisited.high / from->next_latency;
    if (by_ramp) {
        level->ramp_replacement = fit->shape.replacement;
        level->ramp_explained = bj_cache_explains_ramp(fit, from);
        double hits = 1 - bj_cache_predict_occupancy_misses(&fit->shape, from->next_first_x / fit->capacity);
        level->next_gained = level->next_factor == 1 ? hits * (1 - from->latency / from->next_latency) : 0;
    }
    if (by_ramp && by_revisits && ramp_decides(fit, &revisited, level->ramp_explained))
        by_revisits = false;
    level->disputed = by_revisits && level->ramp_explained &&
                      (fit->interval[0] > revisited.interval[1] || fit->interval[1] < revisited.interval[0]);
    level->has_capacity = by_ramp || by_revisits;
    level->revisited = by_revisits;
    if (by_revisits)
        *fit = revisited;
    if (level->has_capacity) {
        level->capacity = (bj_estimate){fit->capacity, {fit->interval[0], fit->interval[1]}};
        level->capacity_error = fit->error;
    }
}
