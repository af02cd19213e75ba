#include "probes/cache/level_capacity.h"

#include <math.h>

#include "stats/quantile.h"

/* Do rounds differ more on the ramp than elsewhere? Then the frames decide, and they do only when they are random. */
static bool is_scattered(const bj_round_summary *s, const bj_level *level, const double *y, const double *error,
                         size_t count) {
    double rise = level->next_latency - level->latency;
    size_t on_ramp = 0, scattered = 0;
    for (size_t i = 0; i < count; i++) {
        double share = (y[i] - level->latency) / rise;
        if (share < BJ_RAMP_END || share > 1 - BJ_RAMP_END)
            continue;
        on_ramp++;
        scattered += error[i] > BJ_RAMP_SCATTER * s->hints.noise * y[i];
    }
    return on_ramp > 0 && 2 * scattered > on_ramp;
}

static bj_frames frames_of(const bj_round_summary *s, const bj_level *level, size_t index, const double *y,
                           const double *error, size_t count) {
    if (index == 0)
        return s->request->huge_pages ? BJ_FRAMES_CONTIGUOUS : BJ_FRAMES_UNKNOWN;
    return s->request->lucky_frames && is_scattered(s, level, y, error, count) ? BJ_FRAMES_RANDOM : BJ_FRAMES_UNKNOWN;
}

/* By the ramp alone: from the level's plateau to an octave into the next one. With a first fit only near that. */
static bool fit_ramp(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_replacement expected,
                     const bj_occupancy *first, double *scratch, bj_occupancy *fit) {
    const bj_level *level = &set->level[index];
    double *x = scratch, *y = scratch + s->count, *error = y + s->count;
    size_t count = bj_cache_cut_ramp(s, bj_cache_choose_ramp(s, index, set->count), bj_cache_find_ramp_begin(level),
                                     level->ramp_last_x, x, y, error);
    bj_occupancy_request request = {
        .x = x,
        .y = y,
        .error = error,
        .count = count,
        .first = level->ramp_first_x / BJ_CAPACITY_BELOW_RAMP,
        .last = fmin(level->ramp_first_x * BJ_CAPACITY_ABOVE_RAMP, level->next_first_x),
        .frames = frames_of(s, level, index, y, error, count),
        .expected = expected,
    };
    if (first != NULL) {
        request.first = first->capacity / BJ_REFIT_RANGE;
        request.last = first->capacity * BJ_REFIT_RANGE;
        request.only = &first->model;
    }
    return bj_cache_fit_occupancy(&request, fit);
}

bool bj_cache_refit_edge(const bj_round_summary *s, const bj_level_set *set, size_t index, const bj_occupancy *first,
                         double *scratch, bj_occupancy *fit) {
    return fit_ramp(s, set, index, first->model.replacement, first, scratch, fit);
}

/* What the levels before this one still give to a walk of several visits a line. */
static double hits_before(const bj_edge_fit *edges, const bj_level_set *set, size_t index, double x, double visits) {
    double gained = 0;
    for (size_t i = 0; i < index; i++) {
        bj_occupancy_model model = {BJ_WAYS_BEFORE, false, BJ_REPLACE_LRU, visits};
        double capacity = edges[i].has_capacity ? edges[i].fit.capacity : set->level[i].size_x;
        double misses = bj_cache_predict_occupancy_misses(&model, x / capacity);
        gained += (1 - misses) * (set->level[i].next_latency - set->level[i].latency);
    }
    return gained;
}

/* The points of the revisits beyond the edge of a level and before the next one's, as if only this level hit, between
 * a point of its plateau and one of the next. */
static size_t gather_revisits(bj_round_summary *s, const bj_revisits *revisits, const bj_edge_fit *edges,
                              const bj_level_set *set, size_t index) {
    const bj_curve *walk = s->request->walk, *curve = revisits->curve;
    const bj_level *level = &set->level[index];
    double last_x = index + 1 < set->count ? set->level[index + 1].ramp_first_x : INFINITY;
    size_t kept = 0;
    s->ramp_x[kept] = level->ramp_first_x / 2;
    s->ramp_y[kept] = level->latency;
    s->ramp_error[kept++] = s->hints.noise * level->latency;
    for (size_t i = 0; i < curve->x_count && kept + 1 < walk->x_count; i++) {
        size_t have = 0;
        for (size_t r = 0; r < curve->round_count && r < walk->round_count; r++)
            if (!isnan(curve->rounds[r][i]))
                s->column[have++] = curve->rounds[r][i];
        double x = curve->x[i];
        if (have == 0 || x < level->ramp_first_x || x > last_x)
            continue;
        have = bj_stats_sort_samples(s->column, have);
        double y = s->request->lucky_frames ? bj_cache_average_fenced(s->column, have)
                                            : bj_stats_quantile_sorted(s->column, have, BJ_LOW_OF_ROUNDS);
        /* Last, since it takes the samples apart. */
        double deviation = bj_stats_estimate_sigma(s->column, have) / sqrt((double)have);
        s->ramp_x[kept] = x;
        s->ramp_y[kept] =
            y - bj_cache_predict_tlb_cost(&s->twin, x) + hits_before(edges, set, index, x, revisits->visits);
        s->ramp_error[kept++] = isnan(deviation) ? 0 : deviation;
    }
    s->ramp_x[kept] = BJ_FAR_BEYOND * level->ramp_first_x;
    s->ramp_y[kept] = level->next_latency;
    s->ramp_error[kept++] = BJ_PLATEAU_ERROR * (level->next_latency - level->latency);
    return kept;
}

/* What the revisits say of a capacity, whatever the replacement; false: nothing. */
static bool fit_revisits(bj_round_summary *s, const bj_level_set *set, size_t index, const bj_edge_fit *edges,
                         bj_occupancy *fit) {
    const bj_level *level = &set->level[index];
    for (size_t c = 0; c < BJ_REVISIT_CURVES; c++) {
        const bj_revisits *revisits = &s->request->revisits[c];
        size_t count = revisits->curve != NULL ? gather_revisits(s, revisits, edges, set, index) : 0;
        bj_occupancy_request request = {.x = s->ramp_x,
                                        .y = s->ramp_y,
                                        .error = s->ramp_error,
                                        .count = count,
                                        .first = level->ramp_first_x / BJ_CAPACITY_BELOW_RAMP,
                                        .last = level->ramp_first_x * BJ_CAPACITY_ABOVE_RAMP,
                                        .frames = s->request->lucky_frames ? BJ_FRAMES_RANDOM : BJ_FRAMES_UNKNOWN,
                                        .visits = revisits->visits};
        if (count < BJ_REVISITS_LEAST || !bj_cache_fit_occupancy(&request, fit))
            continue;
        fit->interval[0] /= BJ_REVISIT_ERROR;
        fit->interval[1] *= BJ_REVISIT_ERROR;
        return true;
    }
    return false;
}

/* Where frames do not matter, an edge is sharp: the ramp then decides unless the revisits contradict it, and even so if
 * it is as sharp as LRU makes it, since nothing else can be mistaken for that. */
static bool ramp_decides(const bj_occupancy *ramp, const bj_occupancy *revisited, bool explained) {
    if (ramp->model.random_frames || ramp->model.ways <= BJ_FEW_WAYS)
        return false;
    bool agree = ramp->capacity >= revisited->interval[0] && ramp->capacity <= revisited->interval[1];
    return agree || (explained && ramp->model.replacement == BJ_REPLACE_LRU);
}

void bj_cache_fit_edge(bj_round_summary *s, const bj_level_set *set, size_t index, double *scratch,
                       bj_edge_fit *edges) {
    bj_edge_fit *edge = &edges[index];
    const bj_level *level = &set->level[index];
    bj_replacement expected = index > 0 && edges[0].has_capacity ? edges[0].ramp_replacement : BJ_REPLACE_LRU;
    bj_occupancy *ramp = &edge->fit, revisited;
    *edge = (bj_edge_fit){.next_factor = 1};
    bool by_ramp = fit_ramp(s, set, index, expected, NULL, scratch, ramp);
    bool by_revisits = index > 0 && fit_revisits(s, set, index, edges, &revisited);
    /* Where the next plateau begins, this level still hits now and then; the revisits tell what a miss costs. */
    if (by_revisits && bj_cache_explains_ramp(&revisited, level))
        edge->next_factor = revisited.high / level->next_latency;
    if (by_ramp) {
        edge->ramp_replacement = ramp->model.replacement;
        edge->ramp_explained = bj_cache_explains_ramp(ramp, level);
        double hits = 1 - bj_cache_predict_occupancy_misses(&ramp->model, level->next_first_x / ramp->capacity);
        edge->next_gained = edge->next_factor == 1 ? hits * (1 - level->latency / level->next_latency) : 0;
    }
    if (by_ramp && by_revisits && ramp_decides(ramp, &revisited, edge->ramp_explained))
        by_revisits = false;
    edge->disputed = by_revisits && edge->ramp_explained &&
                     (ramp->interval[0] > revisited.interval[1] || ramp->interval[1] < revisited.interval[0]);
    edge->has_capacity = by_ramp || by_revisits;
    edge->revisited = by_revisits;
    if (by_revisits)
        edge->fit = revisited;
}

void bj_cache_keep_capacity(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_edge_fit *edge) {
    const bj_level *level = &set->level[index];
    const double *curve = bj_cache_choose_ramp(s, index, set->count);
    double rise = level->next_latency - level->latency, least = (1 - BJ_SIZE_SHARE) * level->size_x;
    if (!edge->has_capacity)
        return;
    for (size_t i = 0; i < s->count && s->x[i] <= level->size_x; i++) {
        double misses = fmax(curve[i] - level->latency, 0) + BJ_PLATEAU_SIGMAS * s->hints.noise * curve[i];
        least = fmax(least, s->x[i] * (1 - misses / rise));
    }
    if (edge->fit.capacity >= least)
        return;
    edge->fit.capacity = least;
    edge->fit.interval[1] = fmax(edge->fit.interval[1], level->size_x);
}
