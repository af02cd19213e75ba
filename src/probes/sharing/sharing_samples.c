#include "probes/sharing/sharing_samples.h"

#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/sharing/sharing_constants.h"
#include "stats/quantile.h"

static bool is_of_level(const bj_curve *curve, const char *kind, size_t level) {
    double of = NAN;
    return bj_data_has_attribute_text(curve, SHARING_KIND, kind) &&
           bj_data_get_attribute_number(curve, SHARING_LEVEL, &of) && of == (double)level;
}

static const bj_curve *find_curve(const bj_curves *samples, const char *kind, size_t level) {
    for (size_t i = 0; i < samples->count; i++)
        if (is_of_level(&samples->items[i], kind, level))
            return &samples->items[i];
    return NULL;
}

static size_t find_cpu(const bj_sharing_level *read, double cpu) {
    size_t place = 0;
    while (place < read->cpu_count && read->cpus[place] != cpu)
        place++;
    return place;
}

/* The times of a cpu alone. A file may have others than above zero, which have no logarithm. */
static size_t list_times(const bj_curve *alone, size_t point, double *values) {
    size_t listed = bj_kit_list_point(alone, point, values), count = 0;
    for (size_t i = 0; i < listed; i++)
        if (values[i] > 0)
            values[count++] = values[i];
    return count;
}

/* What a cpu takes alone: the median of its samples, of two the lower, since a disturbance only adds time. */
static double find_usual(const bj_curve *alone, size_t point, double *values) {
    size_t count = list_times(alone, point, values);
    return count == 2 ? fmin(values[0], values[1]) : bj_stats_median(values, count);
}

/* Deviations of n samples from their own median are smaller than from the true one; the number of them. One sample
 * says nothing. */
static size_t list_deviations(double *values, size_t count, double *deviations) {
    double median = bj_stats_median(values, count);
    for (size_t i = 0; i < count && count > 1; i++)
        deviations[i] = sqrt((double)count / (double)(count - 1)) * log(values[i] / median);
    return count > 1 ? count : 0;
}

/* Each cpu's usual time, and the spread of the samples about it. */
static bj_status read_alone(const bj_curve *alone, bj_sharing_level *read, bj_error *error) {
    size_t cells = alone->x_count * alone->round_count + read->cpu_count, used = 0, known = 0;
    double *scratch = malloc((2 * cells + alone->round_count + 1) * sizeof *scratch);
    if (scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu samples", cells);
    double *known_ns = scratch + cells, *of_point = known_ns + cells;
    for (size_t i = 0; i < read->cpu_count; i++)
        read->alone_ns[i] = NAN;
    for (size_t i = 0; i < alone->x_count; i++) {
        size_t place = find_cpu(read, alone->x[i]);
        double usual = find_usual(alone, i, of_point);
        if (place == read->cpu_count || !(usual > 0))
            continue;
        read->alone_ns[place] = known_ns[known++] = usual;
        used += list_deviations(of_point, list_times(alone, i, of_point), scratch + used);
    }
    /* Single samples have no spread about themselves: how far the cpus are apart stands for it. */
    if (used == 0)
        for (; used < known; used++)
            scratch[used] = log(known_ns[used]);
    read->spread = bj_stats_estimate_sigma(scratch, used);
    read->slower_ns = bj_stats_quantile(known_ns, known, SLOWER);
    double usual = bj_stats_median(known_ns, known);
    for (size_t i = 0; i < read->cpu_count; i++)
        read->alone_ns[i] = isnan(read->alone_ns[i]) ? usual : read->alone_ns[i];
    free(scratch);
    return BJ_OK;
}

static bj_status read_again(const bj_curve *again, bj_sharing_level *read, bj_error *error) {
    size_t cells = again->x_count * again->round_count, used = 0;
    double *scratch = malloc((cells + 1) * sizeof *scratch);
    if (scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu samples", cells);
    for (size_t r = 0; r < again->round_count; r++)
        for (size_t i = 0; i < again->x_count; i++)
            if (again->rounds[r][i] > 0)
                scratch[used++] = log(again->rounds[r][i]);
    read->spread = bj_stats_estimate_sigma(scratch, used);
    free(scratch);
    return BJ_OK;
}

static size_t count_pairs(const bj_curves *samples, size_t level) {
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++)
        if (is_of_level(&samples->items[i], SHARING_PAIR, level))
            count += samples->items[i].x_count;
    return count;
}

static void read_pairs(const bj_curves *samples, bj_sharing_level *read) {
    for (size_t i = 0; i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        double cpu = NAN;
        if (!is_of_level(curve, SHARING_PAIR, read->level) || !bj_data_get_attribute_number(curve, SHARING_CPU, &cpu))
            continue;
        size_t a = find_cpu(read, cpu);
        read->rounds = curve->round_count > read->rounds ? curve->round_count : read->rounds;
        for (size_t point = 0; point < curve->x_count; point++) {
            size_t b = find_cpu(read, curve->x[point]);
            if (a < read->cpu_count && b < read->cpu_count && a != b)
                read->pairs[read->pair_count++] = (bj_sharing_pair){a, b, curve, point};
        }
    }
}

bj_status bj_sharing_read_level(const bj_curves *samples, size_t level, bj_sharing_level *read, bj_error *error) {
    const bj_curve *all = find_curve(samples, SHARING_ALONE, 1), *alone = find_curve(samples, SHARING_ALONE, level);
    const bj_curve *again = find_curve(samples, SHARING_AGAIN, level);
    *read = (bj_sharing_level){.level = level, .bytes = NAN, .spread = NAN};
    if (alone == NULL)
        return BJ_OK;
    all = all != NULL ? all : alone; /* a table is of one level */
    bj_data_get_attribute_number(alone, SHARING_BYTES, &read->bytes);
    read->cpu_count = all->x_count;
    read->rounds = alone->round_count;
    read->cpus = malloc((all->x_count + 1) * sizeof *read->cpus);
    read->alone_ns = malloc((all->x_count + 1) * sizeof *read->alone_ns);
    read->pairs = malloc((count_pairs(samples, level) + 1) * sizeof *read->pairs);
    bj_status status = BJ_OK;
    if (read->cpus == NULL || read->alone_ns == NULL || read->pairs == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", all->x_count);
    for (size_t i = 0; status == BJ_OK && i < all->x_count; i++)
        read->cpus[i] = (int)all->x[i];
    if (status == BJ_OK)
        status = read_alone(alone, read, error);
    if (status == BJ_OK && again != NULL)
        status = read_again(again, read, error);
    if (status == BJ_OK)
        read_pairs(samples, read);
    else
        bj_sharing_free_level(read);
    return status;
}

void bj_sharing_free_level(bj_sharing_level *read) {
    free(read->cpus);
    free(read->alone_ns);
    free(read->pairs);
    *read = (bj_sharing_level){0};
}

double bj_sharing_find_next_ns(const bj_answers *earlier, size_t level) {
    return bj_known_caches_find_latency(earlier, level + 1);
}

/* A share of the way from the time alone of the slower cpus to the next level, as a ratio to that time. */
static double find_rise(const bj_sharing_level *read, double next_ns, double share) {
    double own_ns = read->slower_ns;
    double next = isnan(next_ns) ? UNKNOWN_NEXT * own_ns : next_ns;
    return next > own_ns ? share * (next - own_ns) / own_ns : 0;
}

double bj_sharing_find_threshold(const bj_sharing_level *read, double next_ns) {
    if (read->cpu_count == 0 || isnan(read->spread))
        return INFINITY;
    return 1 + fmax(find_rise(read, next_ns, LEAST_RISE), expm1(NOISE_SIGMAS * read->spread));
}

bool bj_sharing_is_blind(const bj_sharing_level *read, double threshold, double next_ns) {
    return threshold > 1 + find_rise(read, next_ns, SEEN_RISE);
}

double bj_sharing_find_groups(const bj_sharing_level *read, double threshold, const size_t *rounds, size_t round_count,
                              size_t *group_of, double *scratch) {
    size_t against = 0, asked = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < read->pair_count; i++) {
            const bj_sharing_pair *pair = &read->pairs[i];
            size_t count = 0;
            for (size_t r = 0; r < round_count; r++) {
                size_t round = rounds != NULL ? rounds[r] : r;
                scratch[count] = round < pair->curve->round_count ? pair->curve->rounds[round][pair->point] : NAN;
                count += !isnan(scratch[count]);
            }
            /* A pair that these rounds lack is what all rounds say of it: few are measured in each. */
            double ratio = count > 0 ? bj_stats_median(scratch, count)
                                     : bj_kit_quantile_of_point(pair->curve, pair->point, NULL,
                                                                pair->curve->round_count, 0.5, scratch);
            bool together = ratio > threshold;
            if (pass == 0 && together)
                bj_kit_join(group_of, read->cpu_count, pair->a, pair->b);
            if (pass == 1) {
                asked++;
                against += together != (group_of[pair->a] == group_of[pair->b]);
            }
        }
    return asked > 0 ? (double)against / (double)asked : 0;
}
