#include "probes/cache/round_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/monotone.h"
#include "stats/quantile.h"

/* Points of the last octave: a grid has sixteen at most. */
#define LAST_POINTS_MAX 16u

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t count_points(const bj_curve *curve) {
    return curve != NULL ? curve->x_count : 0;
}

void bj_cache_free_summary(bj_round_summary *s) {
    free(s->block);
    free(s->twin.begin);
}

/* The next `count` numbers of the block. */
static double *take(double **block, size_t count) {
    double *taken = *block;
    *block += count;
    return taken;
}

bj_status bj_cache_make_summary(const bj_summary_request *request, bj_round_summary *s, bj_error *error) {
    size_t points = request->walk->x_count,
           twins = larger(count_points(request->spread), count_points(request->packed));
    *s = (bj_round_summary){.request = request};
    double *rest = s->block = calloc(11 * points + 4 * twins + request->walk->round_count + 1, sizeof *s->block);
    s->twin.begin = malloc((twins + 1) * sizeof *s->twin.begin);
    if (s->block == NULL || s->twin.begin == NULL) {
        bj_cache_free_summary(s);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to analyse %zu points", points);
    }
    double **of_points[] = {&s->x,      &s->y,     &s->own,    &s->removed, &s->removed_error, &s->lowest,
                            &s->middle, &s->error, &s->ramp_x, &s->ramp_y,  &s->ramp_error};
    for (size_t i = 0; i < sizeof of_points / sizeof of_points[0]; i++)
        *of_points[i] = take(&rest, points);
    double **of_twins[] = {&s->twin.x, &s->twin.cost, &s->packed_x, &s->packed_y};
    for (size_t i = 0; i < sizeof of_twins / sizeof of_twins[0]; i++)
        *of_twins[i] = take(&rest, twins);
    s->column = rest;
    return BJ_OK;
}

/* How many of the sorted samples are within the fence. */
static size_t count_fenced(const double *sorted, size_t count) {
    double low = bj_stats_quantile_sorted(sorted, count, 0.25), high = bj_stats_quantile_sorted(sorted, count, 0.75);
    size_t kept = 0, sure = count - (count + BJ_FENCED_ONE_IN - 1) / BJ_FENCED_ONE_IN;
    while (kept < count && (kept < sure || sorted[kept] <= high + BJ_FENCE * (high - low)))
        kept++;
    return kept;
}

double bj_cache_average_fenced(const double *sorted, size_t count) {
    size_t kept = count_fenced(sorted, count);
    double sum = 0;
    for (size_t i = 0; i < kept; i++)
        sum += sorted[i];
    return sum / (double)kept;
}

/* Standard deviation of the samples that the mean is of: where few rounds are unlucky the median deviation is none. */
static double fenced_sigma(const double *sorted, size_t count) {
    size_t kept = count_fenced(sorted, count);
    double mean = bj_cache_average_fenced(sorted, count), square = 0;
    for (size_t i = 0; i < kept; i++)
        square += (sorted[i] - mean) * (sorted[i] - mean);
    return kept > 1 ? sqrt(square / (double)(kept - 1)) : 0;
}

/* The samples of a point in the chosen ones of so many rounds (NULL: the first), in s->column; how many. */
static size_t list_samples(bj_round_summary *s, const bj_curve *curve, size_t round_count, size_t point,
                           const size_t *index, size_t index_count) {
    size_t have = 0;
    for (size_t r = 0; r < index_count; r++) {
        size_t round = index != NULL ? index[r] : r;
        if (round < round_count && !isnan(curve->rounds[round][point]))
            s->column[have++] = curve->rounds[round][point];
    }
    return have;
}

/* The lower quartile over the chosen rounds of each point; of the walk the other sums as well. `skip` leaves one point
 * out. Returns how many points have samples. */
static size_t sum_up(bj_round_summary *s, const bj_curve *curve, size_t round_count, const size_t *index,
                     size_t index_count, size_t skip, double *x, double *low) {
    size_t kept = 0;
    for (size_t i = 0; i < curve->x_count; i++) {
        size_t have = list_samples(s, curve, round_count, i, index, index_count);
        if (have == 0 || i == skip)
            continue;
        x[kept] = curve->x[i];
        low[kept] = bj_stats_quantile(s->column, have, BJ_LOW_OF_ROUNDS);
        if (curve == s->request->walk) {
            s->lowest[kept] = bj_stats_quantile_sorted(s->column, have, BJ_LOWEST_OF_ROUNDS);
            s->middle[kept] = bj_cache_average_fenced(s->column, have);
        }
        kept++;
    }
    return kept;
}

static void sum_up_twins(bj_round_summary *s, const size_t *index, size_t index_count) {
    const bj_summary_request *q = s->request;
    s->twin.count = 0;
    if (q->spread == NULL || q->packed == NULL)
        return;
    size_t rounds = q->spread->round_count < q->packed->round_count ? q->spread->round_count : q->packed->round_count;
    size_t spread = sum_up(s, q->spread, rounds, index, index_count, q->spread->x_count, s->twin.x, s->twin.cost);
    size_t packed = sum_up(s, q->packed, rounds, index, index_count, q->packed->x_count, s->packed_x, s->packed_y);
    size_t count = 0;
    for (size_t i = 0, k = 0; i < spread; i++) {
        while (k < packed && s->packed_x[k] < s->twin.x[i])
            k++;
        /* Both or none: a resample that lacks a twin's point cannot tell. */
        if (k == packed || s->packed_x[k] != s->twin.x[i])
            continue;
        s->twin.x[count] = s->twin.x[i];
        s->packed_y[count++] = s->twin.cost[i] - s->packed_y[k];
    }
    bj_cache_sum_twin_cost(s->packed_y, count, &s->twin);
}

const double *bj_cache_choose_ramp(const bj_round_summary *s, size_t index, size_t level_count) {
    /* The first level is virtually indexed: frames do not matter. */
    if (index == 0)
        return s->lowest;
    if (s->request->lucky_frames)
        return s->middle;
    /* The last level is so large that even huge pages can be lucky, and others share it. */
    return index + 1 < level_count ? s->lowest : s->middle;
}

size_t bj_cache_cut_ramp(const bj_round_summary *s, const double *curve, double first, double last, double *x,
                         double *y, double *error) {
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < s->count; i++)
        if (s->x[i] >= first && s->x[i] <= last) {
            while (s->request->walk->x[k] < s->x[i])
                k++;
            x[kept] = s->x[i];
            error[kept] = s->error[k];
            y[kept++] = fmax(curve[i] - s->removed[i], s->y[0]);
        }
    return kept;
}

double bj_cache_find_ramp_begin(const bj_level *level) {
    return fmax(level->plateau_first_x, level->ramp_first_x / exp2(BJ_BEFORE_RAMP_OCTAVES));
}

bool bj_cache_explains_ramp(const bj_occupancy *fit, const bj_level *level) {
    return fit->error < BJ_FIT_ERROR_MOST && fabs(fit->low / level->latency - 1) < BJ_FIT_LOW_MOST;
}

/* Does one model explain the ramp of the levels `index` to `last`, of which s->ramp_x has the points? Each rise must be
 * explained by itself, since the furthest is often many times the nearest, which is nothing beside it. */
static bool explains_stairs(const bj_round_summary *s, const bj_level_set *found, size_t index, size_t last,
                            size_t count, const bj_occupancy_model *model) {
    bj_occupancy_request request = {.x = s->ramp_x,
                                    .y = s->ramp_y,
                                    .error = s->ramp_error,
                                    .count = count,
                                    .first = found->level[index].ramp_first_x / BJ_CAPACITY_BELOW_RAMP,
                                    .last = found->level[last].next_first_x,
                                    .only = model};
    bj_occupancy fit;
    bool explained = bj_cache_fit_occupancy(&request, &fit) && fit.error < BJ_FIT_ERROR_MOST;
    for (size_t k = index, first = 0; k < last && explained; k++) {
        size_t within = 0;
        while (first + within < count && s->ramp_x[first + within] <= found->level[k].next_first_x)
            within++;
        explained = bj_cache_misfit_occupancy(&fit, s->ramp_x + first, s->ramp_y + first, s->ramp_error + first,
                                              within) < BJ_FIT_ERROR_MOST;
        first += within;
    }
    return explained;
}

/* Is one cache on random frames enough to explain the levels `index` to `last`? */
static bool is_one_cache(const bj_round_summary *s, const bj_level_set *found, size_t index, size_t last,
                         double error_scale) {
    size_t count = bj_cache_cut_ramp(s, s->middle, bj_cache_find_ramp_begin(&found->level[index]),
                                     found->level[last].ramp_last_x, s->ramp_x, s->ramp_y, s->ramp_error);
    for (size_t i = 0; i < count; i++)
        s->ramp_error[i] *= error_scale;
    for (unsigned ways = 1; ways <= BJ_STAIR_WAYS_MOST; ways *= 2)
        for (int r = BJ_REPLACE_LRU; r <= BJ_REPLACE_RANDOM; r++) {
            bj_occupancy_model model = {ways, true, (bj_replacement)r, 0};
            if (explains_stairs(s, found, index, last, count, &model))
                return true;
        }
    return false;
}

/* The last of the levels from `index` on that may be stairs of one ramp. */
static size_t last_stair(const bj_level_set *found, size_t index) {
    size_t last = index;
    while (last + 1 < found->count &&
           found->level[last + 1].plateau_last_x < BJ_STAIR_PLATEAU * found->level[last + 1].plateau_first_x)
        last++;
    return last;
}

/* What lies between two stairs of one ramp is no level. Prefetchers that learn regions make stairs behind the first
 * level; luck makes them where frames are random. */
static void merge_stairs(const bj_round_summary *s, double error_scale, bj_level_set *found) {
    if (found->count > 1 && found->level[1].ramp_first_x < BJ_SECOND_LEVEL_LEAST * found->level[0].ramp_first_x)
        bj_cache_merge_levels(s->x, s->own, s->count, 0, found);
    for (size_t i = 1; i + 1 < found->count;) {
        size_t last = i;
        if (found->level[i + 1].ramp_first_x < BJ_LEAST_APART * found->level[i].ramp_first_x) {
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
    bj_cache_measure_level_size(s->x, bj_cache_choose_ramp(s, index, set->count), s->count, last_x, level);
}

static void measure_sizes(const bj_round_summary *s, bj_level_set *found) {
    for (size_t i = 0; i < found->count; i++)
        bj_cache_measure_size(s, found, i, &found->level[i]);
}

/* Sizes with the TLB's cost in them. The quietest rounds show stairs where a level moves between rounds; its sizes in
 * the others are one size. */
static void measure_sizes_with_tlb(const bj_round_summary *s, bj_level_set *found) {
    measure_sizes(s, found);
    for (size_t i = 1; !s->request->lucky_frames && i + 1 < found->count;) {
        if (found->level[i + 1].size_x >= BJ_LEAST_APART * found->level[i].size_x) {
            i++;
            continue;
        }
        bj_cache_merge_levels(s->x, s->own, s->count, i, found);
        measure_sizes(s, found);
    }
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

/* Where luck has no part, levels are looked for in the quietest rounds: disturbance makes stairs of its own. */
static void remove_tlb_cost(bj_round_summary *s) {
    const double *quiet = s->request->lucky_frames ? s->y : s->lowest;
    for (size_t i = 0; i < s->count; i++) {
        /* An estimate of the TLB's cost that eats even the first level's access time is no estimate. */
        double cost = bj_cache_predict_tlb_cost(&s->twin, s->x[i]);
        s->removed[i] = fmin(cost, fmax(0, quiet[i] - quiet[0]));
        s->removed_error[i] = bj_cache_predict_tlb_error(&s->twin, s->x[i]) + (cost - s->removed[i]);
        s->own[i] = quiet[i] - s->removed[i];
    }
    s->hints.removed = s->twin.count > 1 ? s->removed : NULL;
    s->hints.removed_error = s->removed_error;
}

static void make_monotone(bj_round_summary *s) {
    bj_stats_enforce_monotone(s->own, s->count);
    bj_stats_enforce_monotone(s->y, s->count);
    bj_stats_enforce_monotone(s->lowest, s->count);
    /* The luck of frames goes both ways; disturbance only adds. */
    if (s->request->lucky_frames)
        bj_stats_fit_monotone(s->middle, s->count);
    else
        bj_stats_enforce_monotone(s->middle, s->count);
}

bj_status bj_cache_find_in_rounds(bj_round_summary *s, const size_t *index, size_t index_count, size_t skip,
                                  bj_level_set *found, bj_error *error) {
    const bj_summary_request *q = s->request;
    s->count = sum_up(s, q->walk, q->walk->round_count, index, index_count, skip, s->x, s->y);
    sum_up_twins(s, index, index_count);
    remove_tlb_cost(s);
    if (q->finder != NULL)
        return q->finder(s->x, q->finder_takes_mean ? s->middle : s->y, s->count, q->finder_context, found, error);
    BJ_TRY(bj_cache_find_levels(s->x, s->own, s->count, &s->hints, found, error));
    make_monotone(s);
    /* Fewer rounds than the errors are of have larger ones. */
    if (!q->levels_only)
        merge_stairs(s, sqrt((double)q->walk->round_count / (double)index_count), found);
    if (s->hints.removed != NULL) {
        found->last_latency = fmax(found->last_latency, read_memory(s));
        measure_sizes_with_tlb(s, found);
    }
    return BJ_OK;
}

void bj_cache_estimate_noise(bj_round_summary *s, double *scratch) {
    const bj_summary_request *q = s->request;
    size_t kept = 0;
    for (size_t i = 0; i < q->walk->x_count; i++) {
        size_t have = list_samples(s, q->walk, q->walk->round_count, i, NULL, q->walk->round_count);
        if (have < BJ_SCATTER_ROUNDS_LEAST)
            continue;
        have = bj_stats_sort_samples(s->column, have);
        double median = bj_stats_quantile_sorted(s->column, have, 0.5);
        double luck = q->lucky_frames ? fenced_sigma(s->column, have) : 0;
        double sigma = bj_stats_estimate_sigma(s->column, have);
        scratch[kept++] = sigma / sqrt((double)have) / median;
        s->error[i] = fmax(sigma, luck) / sqrt((double)have);
    }
    /* The median point: plateaus are most of a curve, and ramps differ between rounds for good reasons. */
    s->hints.noise = kept > 0 ? bj_stats_median(scratch, kept) : 0;
}
