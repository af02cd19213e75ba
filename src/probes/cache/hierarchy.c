#include "probes/cache/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/cache/cache_spells.h"
#include "stats/quantile.h"

#define PURPOSE_RESAMPLES 1
#define PURPOSE_PERMUTATIONS 2
/* What the order of its terms does to a sum. */
#define SUM_ROUNDING 1e-12

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* The logarithms of the samples from first to last; how many. */
static size_t list_logs(const bj_curve *walk, double first, double last, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < walk->x_count; i++)
        for (size_t r = 0; r < walk->round_count && walk->x[i] >= first && walk->x[i] <= last; r++)
            if (!isnan(walk->rounds[r][i]))
                values[count++] = log(walk->rounds[r][i]);
    return count;
}

static double sum_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Could the step be a chance order of the same samples? Mean log time before against after it, where the plateaus are
 * without the TLB's cost: sizes that the TLB ends may lie before the plateau begins. */
static double test_step(const bj_curve *walk, const bj_level *level, double next_last_x, bj_random *random,
                        double *values) {
    /* No sample may be on both sides. */
    double last_before = fmin(level->ramp_first_x, level->next_first_x * (1 - BJ_ROUNDING));
    double first_after = fmax(level->next_first_x, level->ramp_first_x * (1 + BJ_ROUNDING));
    size_t before = list_logs(walk, level->plateau_first_x, last_before, values);
    size_t all = before + list_logs(walk, first_after, next_last_x, values + before);
    if (before == 0 || before == all)
        return NAN;
    double rounding = SUM_ROUNDING * fabs(sum_of(values, all)), low = sum_of(values, before);
    unsigned as_low = 0;
    for (unsigned k = 0; k < BJ_PERMUTATIONS; k++) {
        double drawn = 0;
        /* The first `before` of a fresh shuffle are a random choice. */
        for (size_t i = 0; i < before; i++) {
            size_t j = i + (size_t)bj_random_below(random, all - i);
            double swap = values[i];
            values[i] = values[j];
            values[j] = swap;
            drawn += values[i];
        }
        as_low += drawn <= low + rounding;
    }
    return (1.0 + as_low) / (1.0 + BJ_PERMUTATIONS);
}

/* An estimate that nothing has been resampled for yet. */
static bj_estimate estimate_as(const bj_round_summary *s, double value, double tolerance) {
    return (bj_estimate){.value = value,
                         .interval = {value, value},
                         .support = 1,
                         .tolerance = tolerance,
                         .rounds = s->request->walk->round_count,
                         .single = {NAN, NAN, NAN, NAN}};
}

static void widen(bj_estimate *estimate, double low, double high) {
    estimate->interval[0] = fmin(estimate->interval[0], low);
    estimate->interval[1] = fmax(estimate->interval[1], high);
}

/* Corrected over measured latency of level `index`; the count: of memory. */
static double factor_of(const bj_hierarchy *found, size_t index) {
    return index > 0 ? found->edge[index - 1].next_factor : 1;
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

/* The replicates of one level. */
typedef struct {
    double size[BJ_CACHE_RESAMPLES], sample[BJ_CACHE_RESAMPLES], latency[BJ_CACHE_RESAMPLES];
    double capacity[BJ_CACHE_RESAMPLES], cycles[BJ_CACHE_RESAMPLES];
    size_t count, capacity_count, cycles_count;
} replicates;

typedef struct {
    bj_round_summary *s;
    const bj_yardstick *yardstick;
    double cycle_ns; /* by the rounds of this resample; NaN: not known */
    bj_hierarchy *found;
    double *scratch; /* of a fit */
    replicates level[BJ_LEVELS_MAX];
    double memory_latency[BJ_CACHE_RESAMPLES];
    size_t drawn;
    size_t with_levels[BJ_LEVELS_MAX + 1]; /* resamples by their number of levels */
    bj_status status;
    bj_error *error;
} resampling;

static bool is_same_level(double a, double b) {
    return a < b * BJ_SAME_LEVEL && b < a * BJ_SAME_LEVEL;
}

/* Files what one resample gave under the level that it agrees with. */
static void file_level(resampling *r, const bj_level_set *set, size_t index) {
    const bj_edge_fit *edge = &r->found->edge[index];
    replicates *into = &r->level[index];
    for (size_t k = 0; k < set->count; k++) {
        bj_level corrected = correct_level(r->s, set, k, r->found, index);
        if (!is_same_level(corrected.size_x, r->found->level[index].size.value))
            continue;
        into->size[into->count] = corrected.size_x;
        into->sample[into->count] = corrected.size_sample_x;
        into->latency[into->count++] = corrected.latency;
        if (!isnan(r->cycle_ns))
            into->cycles[into->cycles_count++] = corrected.latency / r->cycle_ns;
        bj_occupancy fit;
        if (edge->has_capacity && !edge->revisited && bj_cache_refit_edge(r->s, set, k, &edge->fit, r->scratch, &fit))
            into->capacity[into->capacity_count++] = fit.capacity;
        return;
    }
}

static void file_resample(resampling *r, const size_t *index, size_t count, size_t skip) {
    bj_level_set set;
    if (r->status == BJ_OK)
        r->status = bj_cache_find_in_rounds(r->s, index, count, skip, &set, r->error);
    if (r->status != BJ_OK)
        return;
    r->memory_latency[r->drawn++] = correct_memory(&set, r->found);
    r->with_levels[set.count]++;
    for (size_t i = 0; i < r->found->count; i++)
        file_level(r, &set, i);
}

/* ns of a cycle by these rounds. */
static double read_cycle(const bj_yardstick *yardstick, const size_t *index, size_t count) {
    return yardstick != NULL ? bj_kit_read_yardstick(yardstick, index, count) : NAN;
}

static double file_rounds(void *context, const size_t *index, size_t count) {
    resampling *r = context;
    r->cycle_ns = read_cycle(r->yardstick, index, count);
    file_resample(r, index, count, r->s->request->walk->x_count);
    return NAN;
}

/* One round only: leave out each point in turn. Of a long table not every point: neighbours say the same. */
static void leave_points_out(resampling *r) {
    size_t count = r->s->request->walk->x_count, only = 0;
    for (size_t skip = 0; skip < count; skip += count / BJ_CACHE_RESAMPLES + 1)
        file_resample(r, &only, 1, skip);
}

/* A level that is seen at about this size supports all of its answers: by how much they differ is said by their
 * intervals. */
static void take_replicates(bj_estimate *estimate, double *from, size_t count, double support) {
    bj_kit_take_replicates(estimate, from, count, larger(count, 1));
    estimate->support = support;
}

static void conclude_level(resampling *r, size_t index) {
    bj_hierarchy_level *level = &r->found->level[index];
    const bj_edge_fit *edge = &r->found->edge[index];
    replicates *from = &r->level[index];
    double support = (double)from->count / (double)r->drawn;
    take_replicates(&level->size, from->size, from->count, support);
    widen(&level->size, level->size_range[0], level->size_range[1]);
    take_replicates(&level->size_sample, from->sample, from->count, support);
    take_replicates(&level->latency, from->latency, from->count, support);
    double measured = level->latency.value / factor_of(r->found, index);
    widen(&level->latency, measured, measured);
    take_replicates(&level->cycles, from->cycles, from->cycles_count, support);
    double factor = level->cycles.value / level->latency.value;
    widen(&level->cycles, measured * factor, measured * factor);
    take_replicates(&level->capacity, from->capacity, from->capacity_count, support);
    if (edge->has_capacity)
        widen(&level->capacity, edge->fit.interval[0], edge->fit.interval[1]);
}

static void conclude_resampling(resampling *r) {
    bj_hierarchy *found = r->found;
    for (size_t i = 0; i < found->count; i++)
        conclude_level(r, i);
    take_replicates(&found->memory_latency, r->memory_latency, r->drawn, 1);
    if (found->count > 0) {
        double measured = found->level[found->count - 1].level.next_latency / factor_of(found, found->count);
        widen(&found->memory_latency, measured, measured);
    }
    found->levels.support = (double)r->with_levels[found->count] / (double)r->drawn;
    for (size_t n = 0; n <= BJ_LEVELS_MAX; n++)
        if ((double)r->with_levels[n] > BJ_TAIL * (double)r->drawn)
            widen(&found->levels, (double)n, (double)n);
}

static bj_status resample(bj_round_summary *s, const bj_hierarchy_request *request, double *scratch,
                          bj_hierarchy *found, bj_error *error) {
    size_t rounds = s->request->walk->round_count;
    resampling *r = calloc(1, sizeof *r);
    bj_bootstrap unused = {0};
    if (r == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to resample");
    *r = (resampling){
        .s = s, .yardstick = request->yardstick, .cycle_ns = NAN, .found = found, .scratch = scratch, .error = error};
    bj_status status = BJ_OK;
    if (rounds > 1)
        status = bj_stats_bootstrap_rounds(rounds, BJ_CACHE_RESAMPLES, bj_random_mix(request->seed, PURPOSE_RESAMPLES),
                                           file_rounds, r, &unused, error);
    else
        leave_points_out(r);
    if (status == BJ_OK)
        status = r->status;
    if (status == BJ_OK && r->drawn > 0)
        conclude_resampling(r);
    bj_stats_free_bootstrap(&unused);
    free(r);
    return status;
}

/* What single rounds say: a level whose size differs between them is not noise but a moving target. */
static bj_status compare_rounds(bj_round_summary *s, bj_hierarchy *found, bj_error *error) {
    size_t rounds = s->request->walk->round_count, have = 0;
    double *sizes = malloc(rounds * BJ_LEVELS_MAX * sizeof *sizes);
    if (sizes == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to compare rounds");
    bj_status status = BJ_OK;
    for (size_t r = 0; r < rounds && status == BJ_OK; r++) {
        bj_level_set set;
        status = bj_cache_find_in_rounds(s, &r, 1, s->request->walk->x_count, &set, error);
        if (status != BJ_OK || set.count != found->count)
            continue;
        for (size_t i = 0; i < set.count; i++)
            sizes[i * rounds + have] = set.level[i].size_x;
        have++;
    }
    for (size_t i = 0; i < found->count && status == BJ_OK && have >= BJ_SCATTER_ROUNDS_LEAST; i++) {
        double *of_level = sizes + i * rounds, *single = found->level[i].size.single;
        bj_stats_sort_samples(of_level, have);
        single[BJ_SINGLE_LEAST] = of_level[0];
        single[BJ_SINGLE_LOW] = bj_stats_quantile_sorted(of_level, have, 0.1);
        single[BJ_SINGLE_HIGH] = bj_stats_quantile_sorted(of_level, have, 0.9);
        single[BJ_SINGLE_GREATEST] = of_level[have - 1];
        for (size_t k = 0; k < have; k++)
            of_level[k] = log(of_level[k]);
        found->level[i].single_sigma = bj_stats_estimate_sigma(of_level, have);
    }
    free(sizes);
    return status;
}

/* How much larger the latency of level `index` (the count: memory) may be than it was measured, as a factor: by hits of
 * the level before that are left in it. */
static double slack_above(const bj_hierarchy *found, size_t index) {
    double gained = index > 0 ? found->edge[index - 1].next_gained : 0;
    return fmax(1 / (1 - gained), 1 + BJ_PLATEAU_ERROR);
}

static double next_point(const bj_curve *walk, double x) {
    for (size_t i = 0; i < walk->x_count; i++)
        if (walk->x[i] > x)
            return walk->x[i];
    return x;
}

/* Latencies are known to a few percent, or less well. That moves no edge of a cache that is steep, but a TLB's cost
 * grows slowly, and so do the misses of caches on random frames: there another latency is another size. */
static void find_size_range(const bj_round_summary *s, const bj_level_set *set, size_t index, const bj_hierarchy *found,
                            double range[2]) {
    const bj_level *level = &set->level[index];
    /* Between two points it is interpolation: the one that fits and the one that does not are what was seen. */
    range[0] = fmin(level->size_x, level->size_sample_x);
    range[1] = fmax(level->size_x, next_point(s->request->walk, level->size_sample_x));
    /* A paper's size is another one. */
    if (s->request->finder != NULL)
        return;
    double rise = level->next_latency - level->latency;
    /* Half of what ends a size is a penalty in any case: a small rise must not be lost in the error of the plateau. */
    double least = fmax((1 - BJ_PLATEAU_ERROR) * (level->latency + BJ_SIZE_SHARE * rise),
                        level->latency + BJ_SIZE_SHARE / 2 * rise);
    double most = fmin(level->latency * slack_above(found, index), level->next_latency);
    most += BJ_SIZE_SHARE * (level->next_latency * slack_above(found, index + 1) - most);
    for (int side = 0; side < 2; side++) {
        bj_level other = *level;
        other.latency = other.next_latency = side == 0 ? least : most;
        bj_cache_measure_size(s, set, index, &other);
        range[0] = fmin(range[0], other.size_x);
        range[1] = fmax(range[1], other.size_x);
    }
}

/* Of a working set larger than a cache something misses: its size is not above its capacity, but for the tenth of the
 * rise that a size forgives. Both come from one ramp; where they are the wrong way round, what meets both best is where
 * they meet, weighted by how well each is known and within what each may be. A table's size is one of its x. */
static void order_size_and_capacity(bj_hierarchy_level *level, const double capacities[2], bool size_is_given) {
    double *size = &level->size.value, *capacity = &level->capacity.value, *sizes = level->size_range;
    if (!(*size > *capacity))
        return;
    double wide = log(sizes[1] / sizes[0]), other = log(capacities[1] / capacities[0]);
    double share = size_is_given ? 0 : wide * wide / (wide * wide + other * other);
    double meeting = fmax(*size * pow(*capacity / *size, share), sizes[0]);
    if (!size_is_given)
        *size = meeting;
    *capacity = fmin(meeting, capacities[1]);
}

static void describe_level(const bj_round_summary *s, const bj_level_set *set, size_t index, bj_hierarchy *found) {
    bj_hierarchy_level *level = &found->level[index];
    const bj_level *from = &set->level[index];
    level->level = *from;
    level->size = estimate_as(s, from->size_x, BJ_SIZE_TOLERANCE);
    level->size_sample = estimate_as(s, from->size_sample_x, BJ_SIZE_TOLERANCE);
    level->latency = estimate_as(s, from->latency, BJ_LATENCY_TOLERANCE);
    level->capacity = estimate_as(s, found->edge[index].fit.capacity, BJ_SIZE_TOLERANCE);
    find_size_range(s, set, index, found, level->size_range);
    if (found->edge[index].has_capacity)
        order_size_and_capacity(level, found->edge[index].fit.interval, s->request->walk->round_count == 1);
}

/* From the nearest on: what the revisits of a level say of the next latency is believed of those that follow. */
static void fit_edges(bj_round_summary *s, bj_level_set *set, uint64_t seed, double *scratch, bj_hierarchy *found) {
    const bj_curve *walk = s->request->walk;
    bj_random random;
    bj_random_seed(&random, bj_random_mix(seed, PURPOSE_PERMUTATIONS));
    for (size_t i = 0; i < set->count; i++) {
        bool is_last = i + 1 == set->count;
        double next_end = is_last ? walk->x[walk->x_count - 1] : set->level[i + 1].ramp_first_x;
        bj_cache_fit_edge(s, set, i, scratch, found->edge);
        found->level[i].p = test_step(walk, &set->level[i], next_end, &random, scratch);
        set->level[i].next_latency *= found->edge[i].next_factor;
        if (!is_last)
            set->level[i + 1].latency *= found->edge[i].next_factor;
    }
}

static void describe_levels(bj_round_summary *s, bj_level_set *set, uint64_t seed, double *scratch,
                            bj_hierarchy *found) {
    bj_level_set measured = *set;
    found->count = set->count;
    found->levels = estimate_as(s, (double)set->count, 0);
    for (size_t i = 0; i < set->count; i++)
        found->edge[i].next_factor = 1;
    if (!s->request->levels_only)
        fit_edges(s, set, seed, scratch, found);
    for (size_t i = 0; i < set->count; i++) {
        set->level[i] = correct_level(s, &measured, i, found, i);
        bj_cache_keep_capacity(s, set, i, &found->edge[i]);
    }
    for (size_t i = 0; i < set->count; i++)
        describe_level(s, set, i, found);
    found->memory_latency = estimate_as(s, correct_memory(&measured, found), BJ_LATENCY_TOLERANCE);
}

static void find_twin_steps(const bj_round_summary *s, bj_hierarchy *found) {
    const bj_twin_cost *twin = &s->twin;
    if (twin->count == 0 || s->count == 0)
        return;
    double least = fmax(BJ_TLB_STEP_OF_ALL * twin->cost[twin->count - 1], BJ_TLB_STEP_OF_FIRST * s->y[0]);
    for (size_t i = 1; i < twin->count && found->twin_step_count < BJ_TWIN_STEPS_MAX; i++)
        if (twin->cost[i] - twin->cost[i - 1] >= least)
            found->twin_step[found->twin_step_count++] =
                (bj_twin_step){twin->x[i - 1], twin->x[i], twin->cost[i] - twin->cost[i - 1]};
}

bj_status bj_cache_fit_hierarchy(const bj_hierarchy_request *request, bj_hierarchy *found, bj_error *error) {
    const bj_curve *walk = request->curves.walk;
    memset(found, 0, sizeof *found);
    bj_round_summary s;
    bj_status status = bj_cache_make_summary(&request->curves, &s, error);
    if (status != BJ_OK)
        return status;
    double *scratch = malloc((walk->x_count * larger(walk->round_count, 3) + 1) * sizeof *scratch);
    bj_level_set set;
    if (scratch == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to analyse %zu points", walk->x_count);
        goto done;
    }
    bj_cache_estimate_noise(&s, scratch);
    status = bj_cache_find_in_rounds(&s, NULL, walk->round_count, walk->x_count, &set, error);
    if (status != BJ_OK)
        goto done;
    find_twin_steps(&s, found);
    describe_levels(&s, &set, request->seed, scratch, found);
    double cycle_ns = read_cycle(request->yardstick, NULL, walk->round_count);
    for (size_t i = 0; i < found->count; i++)
        found->level[i].cycles = estimate_as(&s, found->level[i].latency.value / cycle_ns, BJ_LATENCY_TOLERANCE);
    if (request->curves.levels_only)
        goto done;
    status = resample(&s, request, scratch, found, error);
    if (status == BJ_OK && walk->round_count > 1)
        status = compare_rounds(&s, found, error);
    if (status == BJ_OK)
        status = bj_cache_heed_spells(&s, request->seed, found, error);
done:
    free(scratch);
    bj_cache_free_summary(&s);
    return status;
}
