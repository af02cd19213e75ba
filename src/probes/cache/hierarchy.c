#include "probes/cache/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/cache/level_capacity.h"
#include "probes/cache/round_summary.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"

/* Enough for the moved-out 95% percentiles of a dozen rounds, and to see one wrong answer in a hundred. */
#define RESAMPLES 200u
#define PERMUTATIONS 999u
/* Two sizes closer than this are the same level: neighbouring levels lie further apart than an octave. */
#define SAME_LEVEL 1.4142
/* A step of the twins of less than this share of the first level's time moves no answer. */
#define TLB_STEP_OF_FIRST 0.1

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Could the step be a chance order of the same samples? Mean log time before against after it, where the plateaus are
 * without the TLB's cost: sizes that the TLB ends may lie before the plateau begins. */
static double test_step(const bj_hierarchy_request *q, const bj_level *level, double next_last_x, bj_random *random,
                        double *values) {
    size_t before = 0, all = 0;
    for (int side = 0; side < 2; side++) {
        /* No sample may be on both sides. */
        double after = fmax(level->next_first_x, level->ramp_first_x * (1 + 1e-9));
        double first = side == 0 ? level->plateau_first_x : after;
        double last = side == 0 ? fmin(level->ramp_first_x, level->next_first_x * (1 - 1e-9)) : next_last_x;
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

/* Of the latency of level `index` to the one that was read; `index` of the count: memory's. */
static double factor_of(const bj_hierarchy *found, size_t index) {
    return index > 0 ? found->level[index - 1].next_factor : 1;
}

/* A level of the set (index k) with the latencies that the revisits of level `index` and of the one before gave. */
static bj_level correct_level(const bj_round_summary *s, const bj_level_set *set, size_t k, const bj_hierarchy *found,
                              size_t index) {
    bj_level level = set->level[k];
    double factor = factor_of(found, index), next_factor = factor_of(found, index + 1);
    level.latency *= factor;
    level.next_latency *= next_factor;
    if (factor != 1 || next_factor != 1)
        bj_cache_measure_size(s, set, k, &level);
    return level;
}

/* Memory's latency: the largest walks, or what the revisits of the last level say if that is more. */
static double correct_memory(const bj_level_set *set, const bj_hierarchy *found) {
    if (set->count == 0)
        return set->last_latency;
    return fmax(set->last_latency, set->level[set->count - 1].next_latency * factor_of(found, found->count));
}

/* Files what one resample gave under the levels that it agrees with. */
static void file_replicate(bj_round_summary *s, const bj_hierarchy *found, const bj_occupancy *fits,
                           const bj_level_set *set, double *scratch, resampling *r) {
    r->drawn++;
    r->with_levels[set->count]++;
    r->last_latency[r->last_count++] = correct_memory(set, found);
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; k < set->count; k++) {
            const bj_level *level = &set->level[k];
            replicates *into = &r->level[i];
            bj_level corrected = correct_level(s, set, k, found, i);
            if (!same_level(corrected.size_x, found->level[i].size.value))
                continue;
            into->size[into->count] = corrected.size_x;
            into->sample[into->count] = corrected.size_sample_x;
            into->latency[into->count++] = corrected.latency;
            bj_occupancy fit;
            if (found->level[i].has_capacity && !found->level[i].revisited &&
                bj_cache_fit_capacity(s, level, k, set->count, fits[i].shape.replacement, &fits[i], scratch, &fit))
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
        widen(&level->size, level->size_open[0], level->size_open[1]);
        set_interval(from->sample, from->count, tail, &level->size_sample);
        set_interval(from->latency, from->count, tail, &level->latency);
        double read = level->latency.value / factor_of(found, i);
        widen(&level->latency, read, read);
        if (level->has_capacity) {
            set_interval(from->capacity, from->capacity_count, tail, &level->capacity);
            widen(&level->capacity, fits[i].interval[0], fits[i].interval[1]);
        }
    }
    set_interval(r->last_latency, r->last_count, tail, &found->last_latency);
    if (found->count > 0) {
        double read = found->level[found->count - 1].level.next_latency / factor_of(found, found->count);
        widen(&found->last_latency, read, read);
    }
    found->count_support = (double)r->with_levels[found->count] / (double)r->drawn;
    found->least = found->most = found->count;
    for (size_t n = 0; n <= BJ_LEVELS_MAX; n++)
        if ((double)r->with_levels[n] > 0.025 * (double)r->drawn) {
            found->least = n < found->least ? n : found->least;
            found->most = larger(found->most, n);
        }
}

static bj_status resample_rounds(bj_round_summary *s, const bj_occupancy *fits, double *scratch, bj_hierarchy *found,
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
        status = bj_cache_find_in_rounds(s, index, rounds, s->request->count, &set, error);
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
static bj_status leave_points_out(bj_round_summary *s, const bj_occupancy *fits, double *scratch, bj_hierarchy *found,
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
        status = bj_cache_find_in_rounds(s, &index, 1, skip, &set, error);
        if (status == BJ_OK)
            file_replicate(s, found, fits, &set, scratch, &r);
    }
    if (status == BJ_OK)
        close_resampling(s->request, &r, 0, fits, found);
    free(r.store);
    return status;
}

/* What single rounds say: a level whose size differs between them is not noise but a moving target. */
static bj_status compare_rounds(bj_round_summary *s, bj_hierarchy *found, bj_error *error) {
    size_t rounds = s->request->round_count;
    double *sizes = malloc(larger(rounds, 1) * BJ_LEVELS_MAX * sizeof *sizes);
    size_t have[BJ_LEVELS_MAX] = {0};
    if (sizes == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to compare rounds");
    bj_status status = BJ_OK;
    for (size_t r = 0; r < rounds && status == BJ_OK; r++) {
        bj_level_set set;
        status = bj_cache_find_in_rounds(s, &r, 1, s->request->count, &set, error);
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
    return index + 1 < set->count ? set->level[index + 1].ramp_first_x : q->x[q->count - 1];
}

/* How much larger the latency of level `index` (the count: memory) may be than it was read, as a factor: by hits of the
 * level before that are left in it. */
static double open_above(const bj_hierarchy *found, size_t index) {
    double gained = index > 0 ? found->level[index - 1].next_gained : 0;
    return fmax(1 / (1 - gained), 1 + BJ_PLATEAU_ERROR);
}

/* Latencies are known to a few percent, or less well. That moves no edge of a cache that is steep, but a TLB's cost
 * grows slowly, and so do the misses of caches on random frames: there another latency is another size. */
static void leave_size_open(const bj_round_summary *s, const bj_level_set *set, size_t index, const bj_hierarchy *found,
                            double open[2]) {
    const bj_level *level = &set->level[index];
    open[0] = open[1] = level->size_x;
    /* A paper's size is another one. */
    if (s->request->finder != NULL)
        return;
    double rise = level->next_latency - level->latency;
    /* Half of what ends a size is a penalty in any case: a small rise must not be lost in the error of the plateau. */
    double least = fmax((1 - BJ_PLATEAU_ERROR) * (level->latency + BJ_SIZE_SHARE * rise),
                        level->latency + BJ_SIZE_SHARE / 2 * rise);
    double most = fmin(level->latency * open_above(found, index), level->next_latency);
    most += BJ_SIZE_SHARE * (level->next_latency * open_above(found, index + 1) - most);
    for (int side = 0; side < 2; side++) {
        bj_level other = *level;
        other.latency = other.next_latency = side == 0 ? least : most;
        bj_cache_measure_size(s, set, index, &other);
        open[side] = other.size_x;
    }
}

static void describe_level(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_hierarchy *found) {
    bj_hierarchy_level *level = &found->level[index];
    const bj_level *from = &set->level[index];
    level->level = *from;
    level->spread = 1;
    level->size = (bj_estimate){from->size_x, {from->size_x, from->size_x}};
    level->size_sample = (bj_estimate){from->size_sample_x, {from->size_sample_x, from->size_sample_x}};
    level->latency = (bj_estimate){from->latency, {from->latency, from->latency}};
    leave_size_open(s, set, index, found, level->size_open);
}

/* However well lines are replaced, at least 1 - C / x of them miss: of the size, that is a tenth at most. */
static void keep_capacity_to_size(double size_x, bj_occupancy *fit, bj_hierarchy_level *level) {
    double least = (1 - BJ_SIZE_SHARE) * size_x;
    if (!level->has_capacity || fit->capacity >= least)
        return;
    fit->capacity = least;
    fit->interval[1] = fmax(fit->interval[1], size_x);
    level->capacity = (bj_estimate){fit->capacity, {fit->interval[0], fit->interval[1]}};
}

/* From the nearest on: what the revisits of a level say of the next latency is believed of those that follow. */
static void find_capacities(bj_round_summary *s, bj_level_set *set, double *scratch, bj_occupancy *fits,
                            bj_hierarchy *found) {
    bj_random random;
    bj_random_seed(&random, bj_random_mix(s->request->seed, 2));
    for (size_t i = 0; i < set->count; i++) {
        bj_cache_find_capacity(s, set, i, scratch, &fits[i], found);
        found->level[i].p =
            test_step(s->request, &set->level[i], next_plateau_end(set, i, s->request), &random, scratch);
        set->level[i].next_latency *= found->level[i].next_factor;
        if (i + 1 < set->count)
            set->level[i + 1].latency *= found->level[i].next_factor;
    }
}

static void describe_levels(bj_round_summary *s, bj_level_set *set, double *scratch, bj_occupancy *fits,
                            bj_hierarchy *found) {
    bj_level_set read = *set;
    found->count = set->count;
    found->memory_hides_edge = set->memory_hides_edge;
    for (size_t i = 0; i < set->count; i++)
        found->level[i].next_factor = 1;
    if (!s->request->levels_only)
        find_capacities(s, set, scratch, fits, found);
    for (size_t i = 0; i < set->count; i++) {
        set->level[i] = correct_level(s, &read, i, found, i);
        keep_capacity_to_size(set->level[i].size_x, &fits[i], &found->level[i]);
    }
    for (size_t i = 0; i < set->count; i++)
        describe_level(s, set, i, found);
    double memory = correct_memory(&read, found);
    found->last_latency = (bj_estimate){memory, {memory, memory}};
}

static void find_tlb_steps(const bj_round_summary *s, bj_hierarchy *found) {
    if (s->twin_count == 0 || s->count == 0)
        return;
    double least = fmax(BJ_TLB_STEP_OF_ALL * s->tlb[s->twin_count - 1], TLB_STEP_OF_FIRST * s->y[0]);
    for (size_t i = 1; i < s->twin_count && found->tlb_step_count < BJ_TLB_STEPS_MAX; i++)
        if (s->tlb[i] - s->tlb[i - 1] >= least)
            found->tlb_step[found->tlb_step_count++] = (bj_tlb_step){s->twin_x[i - 1], s->twin_x[i]};
}

bj_status bj_cache_fit_hierarchy(const bj_hierarchy_request *request, bj_hierarchy *found, bj_error *error) {
    memset(found, 0, sizeof *found);
    bj_round_summary s;
    bj_status status = bj_cache_make_summary(request, &s, error);
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
    s.hints.noise = found->noise = bj_cache_estimate_noise(&s, scratch);
    status = bj_cache_find_in_rounds(&s, all, request->round_count, request->count, &set, error);
    if (status != BJ_OK)
        goto done;
    find_tlb_steps(&s, found);
    describe_levels(&s, &set, scratch, fits, found);
    if (request->far_x > 0)
        found->far_latency = request->far_time - bj_cache_tlb_cost_at(&s, request->far_x);
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
    bj_cache_free_summary(&s);
    return status;
}
