#include "probes/topology/topology_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/topology/topology_constants.h"
#include "stats/quantile.h"

/* The level at which two cpus come together; the number of levels: only in the root. */
static size_t meet(const bj_nested_groups *nested, size_t a, size_t b) {
    size_t level = 0;
    while (level < nested->level_count && nested->levels[level].group_of[a] != nested->levels[level].group_of[b])
        level++;
    return level;
}

/* Chance of so many or more of n, each with the same chance. */
static double find_tail(size_t n, size_t least, double chance) {
    double term = pow(1 - chance, (double)n), below = 0;
    for (size_t k = 0; k < least; k++) {
        below += term;
        term *= (double)(n - k) / (double)(k + 1) * chance / (1 - chance);
    }
    return fmax(1 - below, 0);
}

double bj_topology_limit_astray(const bj_topology_groups *groups) {
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        /* As few as were seen, or fewer, at that share. */
        bool likely = 1 - find_tail(groups->confirming, groups->astray + 1, middle) > 0.05;
        *(likely ? &low : &high) = middle;
    }
    return groups->confirming > 0 ? high : 0;
}

/* Confirming pairs that this level is about: within its groups, but not within those inside, and just outside. */
static void count_astray(const bj_nested_groups *nested, const bj_distance *pairs, size_t count, size_t level,
                         size_t *about, size_t *astray) {
    const bj_group_level *one = &nested->levels[level];
    double next = level + 1 < nested->level_count ? one[1].inside : one->across, middle = (one->inside + next) / 2;
    *about = *astray = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = meet(nested, pairs[i].a, pairs[i].b);
        bool within = at == level, outside = at > level;
        *about += within || outside;
        *astray += (within && pairs[i].distance > middle) || (outside && pairs[i].distance < middle);
    }
}

/* From the outermost on: levels that too many confirming pairs contradict. */
static void drop_contradicted(bj_topology_groups *groups, const bj_distance *pairs, size_t count) {
    bj_nested_groups *nested = &groups->nested;
    for (size_t level = nested->level_count; level-- > 0;) {
        size_t about, astray;
        count_astray(nested, pairs, count, level, &about, &astray);
        if (find_tail(about, astray, MOST_ASTRAY) > ASTRAY_CHANCE)
            continue;
        for (size_t above = level; above < nested->level_count; above++)
            free(nested->levels[above].group_of);
        nested->level_count = level;
        groups->given_up = groups->not_a_tree = true;
    }
    groups->confirming = count;
    groups->astray = 0;
    for (size_t level = 0; level < nested->level_count; level++) {
        size_t about, astray;
        count_astray(nested, pairs, count, level, &about, &astray);
        groups->astray += astray;
    }
}

/* From the tenth to nine tenths, as a factor. Sorts the values. */
static double find_spread(double *values, size_t count) {
    count = bj_stats_sort_samples(values, count);
    return bj_stats_quantile_sorted(values, count, 0.9) / bj_stats_quantile_sorted(values, count, 0.1);
}

bj_status bj_topology_find_scatter(const bj_topology_data *data, double *scatter, bj_error *error) {
    double *of_pair = malloc((data->first_large + data->rounds + 1) * sizeof *of_pair);
    if (of_pair == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    double *values = of_pair + data->first_large;
    for (size_t i = 0; i < data->first_large; i++) {
        memcpy(values, data->pairs[i].ns, data->rounds * sizeof *values);
        of_pair[i] = find_spread(values, data->rounds);
    }
    *scatter = bj_stats_median(of_pair, data->first_large);
    free(of_pair);
    return BJ_OK;
}

bj_topology_disturbance bj_topology_find_disturbed(const bj_topology_data *data) {
    bj_topology_disturbance found = {.most = 1};
    for (size_t i = 0; i < data->first_large; i++) {
        double median = bj_topology_find_median(data, &data->pairs[i], NULL, 0);
        for (size_t r = 0; r < data->rounds; r++) {
            double ns = data->pairs[i].ns[r];
            if (!(ns > 0))
                continue;
            double factor = fmax(ns / median, median / ns);
            found.samples++;
            found.disturbed += factor > STABLE_SCATTER;
            found.most = fmax(found.most, factor);
        }
    }
    return found;
}

/* Whether pairs across the outermost groups differ by hops. */
static bj_status find_hops(const bj_topology_data *data, bj_topology_groups *groups, bj_error *error) {
    double scatter = 1, *across = malloc((data->pair_count + 1) * sizeof *across);
    size_t count = 0;
    if (across == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    for (size_t i = 0; i < data->first_large; i++)
        if (meet(&groups->nested, data->pairs[i].a, data->pairs[i].b) == groups->nested.level_count)
            across[count++] = bj_topology_find_median(data, &data->pairs[i], NULL, 0);
    double spread = find_spread(across, count);
    free(across);
    BJ_TRY(bj_topology_find_scatter(data, &scatter, error));
    groups->not_a_tree = groups->not_a_tree || (spread > CLIQUE_SPREAD && log(spread) > OVER_NOISE * log(scatter));
    return BJ_OK;
}

bj_status bj_topology_find_groups(const bj_topology_data *data, bool from_table, uint64_t seed,
                                  bj_topology_groups *groups, bj_error *error) {
    *groups = (bj_topology_groups){0};
    bj_distance *pairs = malloc((data->pair_count + 1) * sizeof *pairs);
    if (pairs == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    size_t count = bj_topology_list_distances(data, BJ_TOPOLOGY_PAIRS, NULL, 0, pairs);
    bj_status status = bj_stats_nest_groups(data->cpu_count, pairs, count, seed, &groups->nested, error);
    if (status == BJ_OK) {
        groups->not_a_tree = groups->nested.not_a_tree;
        count = bj_topology_list_distances(data, BJ_TOPOLOGY_CONFIRM, NULL, 0, pairs);
        drop_contradicted(groups, pairs, count);
        if (!from_table)
            status = find_hops(data, groups, error);
    }
    free(pairs);
    return status;
}

void bj_topology_free_groups(bj_topology_groups *groups) {
    bj_stats_free_nested_groups(&groups->nested);
}

/* Whether another nesting has the same groups; where outer levels were given up, those within them. */
static bool are_alike(const bj_topology_groups *groups, const bj_nested_groups *b, size_t cpu_count) {
    const bj_nested_groups *a = &groups->nested;
    if (groups->given_up ? b->level_count < a->level_count : b->level_count != a->level_count)
        return false;
    for (size_t level = 0; level < a->level_count; level++)
        for (size_t i = 0; i < cpu_count; i++)
            if (a->levels[level].group_of[i] != b->levels[level].group_of[i])
                return false;
    return true;
}

/* Pairs by the level at which they meet, and what they differ from its typical distance. */
typedef struct {
    size_t *level;
    double *residual;
    size_t *of_level; /* pairs sorted by level */
    size_t first[BJ_GROUP_LEVELS_MAX + 2];
    double typical[BJ_GROUP_LEVELS_MAX + 1];
} residuals;

static bj_status open_residuals(const bj_nested_groups *nested, const bj_distance *pairs, size_t count, residuals *all,
                                bj_error *error) {
    *all = (residuals){.level = calloc(count + 1, sizeof *all->level),
                       .residual = calloc(count + 1, sizeof *all->residual),
                       .of_level = calloc(count + 1, sizeof *all->of_level)};
    if (all->level == NULL || all->residual == NULL || all->of_level == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", count);
    size_t placed = 0;
    for (size_t level = 0; level <= nested->level_count; level++) {
        double sum = 0;
        all->first[level] = placed;
        for (size_t i = 0; i < count; i++) {
            if (meet(nested, pairs[i].a, pairs[i].b) != level)
                continue;
            all->level[i] = level;
            all->of_level[placed++] = i;
            sum += pairs[i].distance;
        }
        all->first[level + 1] = placed;
        all->typical[level] = sum / (double)(placed - all->first[level]);
    }
    for (size_t i = 0; i < count; i++)
        all->residual[i] = pairs[i].distance - all->typical[all->level[i]];
    return BJ_OK;
}

static void close_residuals(residuals *all) {
    free(all->level);
    free(all->residual);
    free(all->of_level);
}

static void draw_residuals(const residuals *all, bj_random *random, bj_distance *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t level = all->level[i], first = all->first[level], alike = all->first[level + 1] - first;
        pairs[i].distance = all->typical[level] + all->residual[all->of_level[first + bj_random_below(random, alike)]];
    }
}

static bj_status count_alike(const bj_topology_data *data, const bj_topology_groups *groups, bj_distance *pairs,
                             size_t *index, residuals *all, uint64_t seed, double *support, bj_error *error) {
    double cells = (double)data->cpu_count * (double)data->cpu_count;
    size_t resamples = (size_t)fmin(fmax(RESAMPLE_CELLS / cells, RESAMPLES_LEAST), RESAMPLES_MOST), alike = 0;
    size_t count = bj_topology_list_distances(data, BJ_TOPOLOGY_PAIRS, NULL, 0, pairs);
    bj_random random;
    bj_random_seed(&random, seed);
    if (data->rounds == 1)
        BJ_TRY(open_residuals(&groups->nested, pairs, count, all, error));
    for (size_t s = 0; s < resamples; s++) {
        bj_nested_groups other;
        for (size_t r = 0; r < data->rounds; r++)
            index[r] = bj_random_below(&random, data->rounds);
        if (data->rounds == 1)
            draw_residuals(all, &random, pairs, count);
        else
            count = bj_topology_list_distances(data, BJ_TOPOLOGY_PAIRS, index, data->rounds, pairs);
        BJ_TRY(bj_stats_nest_groups_again(data->cpu_count, pairs, count, &groups->nested, &other, error));
        alike += are_alike(groups, &other, data->cpu_count);
        bj_stats_free_nested_groups(&other);
    }
    *support = (double)alike / (double)resamples;
    return BJ_OK;
}

bj_status bj_topology_find_support(const bj_topology_data *data, const bj_topology_groups *groups, uint64_t seed,
                                   double *support, bj_error *error) {
    bj_distance *pairs = malloc((data->pair_count + 1) * sizeof *pairs);
    size_t *index = malloc((data->rounds + 1) * sizeof *index);
    residuals all = {0};
    bj_status status = BJ_OK;
    if (pairs == NULL || index == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    else
        status = count_alike(data, groups, pairs, index, &all, seed, support, error);
    close_residuals(&all);
    free(pairs);
    free(index);
    return status;
}
