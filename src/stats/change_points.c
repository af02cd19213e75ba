#include "stats/change_points.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* A shuffle may give the observed split again with its sums added in another order: it counts as equal. */
#define ROUNDING 1e-9

typedef struct {
    size_t start; /* of the right part, as an index of values */
    double p;
} split_point;

typedef struct {
    const bj_change_point_options *options;
    double *values; /* the finite ones, in order */
    size_t *index;  /* where they were */
    size_t count;
    double *shuffled;
    split_point *splits;
    size_t split_count;
} search;

static double mean_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* The split with the largest sum of squares between its parts; false: no room, or nothing varies. */
static bool find_best_split(const double *values, size_t count, size_t min_segment, size_t *at, double *gain) {
    *gain = 0;
    if (count < 2 * min_segment)
        return false;
    double mean = mean_of(values, count);
    double sum = 0, squares = 0;
    for (size_t i = 0; i + min_segment < count; i++) {
        sum += values[i] - mean;
        squares += (values[i] - mean) * (values[i] - mean);
        size_t left = i + 1;
        if (left < min_segment)
            continue;
        /* With the mean taken off, n1 n2 / n (m1 - m2)^2 is this. */
        double between = sum * sum * (double)count / ((double)left * (double)(count - left));
        if (between > *gain) {
            *gain = between;
            *at = left;
        }
    }
    for (size_t i = count - min_segment; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    /* Equal values leave a residue of rounding in their mean; a step of that size is none. */
    double residue = ROUNDING * fabs(mean);
    return *gain > 0 && squares > (double)count * residue * residue;
}

/* Shuffling stops once the split cannot be significant any more. */
static double test_split(search *s, size_t first, size_t count, double gain) {
    const bj_change_point_options *options = s->options;
    double total = 1 + (double)options->permutations;
    memcpy(s->shuffled, s->values + first, count * sizeof *s->shuffled);
    /* A stream of its own, so that a verdict does not depend on which segments were tested before. */
    bj_random random;
    bj_random_seed(&random, bj_random_mix(bj_random_mix(options->seed, first), count));
    double as_good = 1;
    for (size_t i = 0; i < options->permutations && as_good / total <= options->significance; i++) {
        for (size_t j = count; j > 1; j--) {
            size_t other = (size_t)bj_random_below(&random, j);
            double swap = s->shuffled[j - 1];
            s->shuffled[j - 1] = s->shuffled[other];
            s->shuffled[other] = swap;
        }
        size_t at;
        double by_chance;
        find_best_split(s->shuffled, count, options->min_segment, &at, &by_chance);
        if (by_chance >= gain * (1 - ROUNDING))
            as_good++;
    }
    return as_good / total;
}

static void search_segment(search *s, size_t first, size_t count) {
    size_t at;
    double gain;
    if (!find_best_split(s->values + first, count, s->options->min_segment, &at, &gain))
        return;
    double p = test_split(s, first, count, gain);
    if (!(p <= s->options->significance))
        return;
    search_segment(s, first, at);
    s->splits[s->split_count++] = (split_point){first + at, p};
    search_segment(s, first + at, count - at);
}

/* A greedy split was placed while other changes still lay on either side and pulled at it. */
static void settle_splits(search *s) {
    bool moved = true;
    /* Each move lowers the residual, so this ends; the bound is for rounding. */
    for (size_t round = 0; moved && round < s->split_count + 1; round++) {
        moved = false;
        for (size_t i = 0; i < s->split_count; i++) {
            size_t first = i > 0 ? s->splits[i - 1].start : 0;
            size_t end = i + 1 < s->split_count ? s->splits[i + 1].start : s->count;
            size_t at;
            double gain;
            if (!find_best_split(s->values + first, end - first, s->options->min_segment, &at, &gain))
                continue;
            if (s->splits[i].start != first + at) {
                s->splits[i].start = first + at;
                moved = true;
            }
        }
    }
}

static void describe_splits(const search *s, bj_change_point *points) {
    for (size_t i = 0; i < s->split_count; i++) {
        size_t first = i > 0 ? s->splits[i - 1].start : 0;
        size_t end = i + 1 < s->split_count ? s->splits[i + 1].start : s->count;
        size_t start = s->splits[i].start;
        points[i] = (bj_change_point){
            .before = s->index[start - 1],
            .after = s->index[start],
            .mean_before = mean_of(s->values + first, start - first),
            .mean_after = mean_of(s->values + start, end - start),
            .p = s->splits[i].p,
        };
    }
}

static void keep_finite(search *s, const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(y[i])) {
            s->values[s->count] = y[i];
            s->index[s->count++] = i;
        }
    }
}

bj_status bj_stats_find_change_points(const double *y, size_t count, const bj_change_point_options *options,
                                      bj_change_point **points, size_t *point_count, bj_error *error) {
    *points = NULL;
    *point_count = 0;
    if (options->min_segment == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "change points: a segment has at least one value");
    if (count < 2)
        return BJ_OK;
    bj_status status = BJ_OK;
    search s = {.options = options};
    s.values = malloc(count * sizeof *s.values);
    s.index = malloc(count * sizeof *s.index);
    s.shuffled = malloc(count * sizeof *s.shuffled);
    s.splits = malloc(count * sizeof *s.splits);
    if (!s.values || !s.index || !s.shuffled || !s.splits) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the change points of %zu values", count);
        goto cleanup;
    }
    keep_finite(&s, y, count);
    search_segment(&s, 0, s.count);
    settle_splits(&s);
    if (s.split_count == 0)
        goto cleanup;
    *points = malloc(s.split_count * sizeof **points);
    if (!*points) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu change points", s.split_count);
        goto cleanup;
    }
    describe_splits(&s, *points);
    *point_count = s.split_count;
cleanup:
    free(s.values);
    free(s.index);
    free(s.shuffled);
    free(s.splits);
    return status;
}
