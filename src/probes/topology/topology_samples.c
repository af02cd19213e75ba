#include "probes/topology/topology_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"

const char *const bj_topology_part_names[BJ_TOPOLOGY_PARTS] = {"pairs", "confirm", "large"};

enum { MOST_ROUNDS = 1024 };

bool bj_topology_is_part(const bj_curve *curve, bj_topology_part part, int *cpu) {
    double number = 0;
    bool has_part = false;
    for (size_t i = 0; i < curve->attribute_count; i++)
        has_part = has_part || strcmp(curve->attributes[i].name, "part") == 0;
    bool fits =
        has_part ? bj_data_has_attribute_text(curve, "part", bj_topology_part_names[part]) : part == BJ_TOPOLOGY_PAIRS;
    if (!fits || !bj_data_get_attribute_number(curve, "cpu", &number))
        return false;
    *cpu = (int)number;
    return true;
}

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

/* Of two of the same cpus, the parts in their order: building before confirming. */
static int compare_pairs(const void *a, const void *b) {
    const bj_topology_pair *left = a, *right = b;
    if (left->part == BJ_TOPOLOGY_LARGE || right->part == BJ_TOPOLOGY_LARGE)
        if (left->part != right->part)
            return left->part == BJ_TOPOLOGY_LARGE ? 1 : -1;
    if (left->a != right->a)
        return left->a < right->a ? -1 : 1;
    if (left->b != right->b)
        return left->b < right->b ? -1 : 1;
    return (int)left->part - (int)right->part;
}

/* The number of cpus: it is none of them. */
static size_t find_cpu(const bj_topology_data *data, int cpu) {
    const int *found = bsearch(&cpu, data->cpus, data->cpu_count, sizeof *data->cpus, compare_cpus);
    return found != NULL ? (size_t)(found - data->cpus) : data->cpu_count;
}

/* Cpus of all curves, each once; how many pairs and rounds there are. */
static bj_status list_cpus(const bj_curves *samples, bj_topology_data *data, bj_error *error) {
    size_t room = 0;
    int cpu = 0;
    for (int part = 0; part < BJ_TOPOLOGY_PARTS; part++)
        for (size_t i = 0; i < samples->count; i++)
            if (bj_topology_is_part(&samples->items[i], (bj_topology_part)part, &cpu))
                room += samples->items[i].x_count + 1;
    data->cpus = malloc((room + 1) * sizeof *data->cpus);
    if (data->cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", room);
    size_t count = 0;
    for (int part = 0; part < BJ_TOPOLOGY_PARTS; part++)
        for (size_t i = 0; i < samples->count; i++) {
            const bj_curve *curve = &samples->items[i];
            if (!bj_topology_is_part(curve, (bj_topology_part)part, &cpu))
                continue;
            data->cpus[count++] = cpu;
            for (size_t x = 0; x < curve->x_count; x++)
                data->cpus[count++] = (int)curve->x[x];
            data->pair_count += curve->x_count;
            data->rounds = curve->round_count > data->rounds ? curve->round_count : data->rounds;
        }
    qsort(data->cpus, count, sizeof *data->cpus, compare_cpus);
    for (size_t i = 0; i < count; i++)
        if (data->cpu_count == 0 || data->cpus[i] != data->cpus[data->cpu_count - 1])
            data->cpus[data->cpu_count++] = data->cpus[i];
    return data->rounds <= MOST_ROUNDS
               ? BJ_OK
               : bj_base_set_error(error, BJ_ERR_INPUT, "pairs of more than %d rounds", MOST_ROUNDS);
}

static void take_curve(bj_topology_data *data, const bj_curve *curve, bj_topology_part part, int cpu, size_t *count) {
    double block_bytes = NAN;
    if (bj_data_get_attribute_number(curve, "block_bytes", &block_bytes))
        *(part == BJ_TOPOLOGY_LARGE ? &data->large_bytes : &data->line_bytes) = block_bytes;
    for (size_t x = 0; x < curve->x_count; x++) {
        size_t a = find_cpu(data, cpu), b = find_cpu(data, (int)curve->x[x]);
        bj_topology_pair *pair = &data->pairs[*count];
        *pair = (bj_topology_pair){a < b ? a : b, a < b ? b : a, part, data->ns + *count * data->rounds};
        for (size_t r = 0; r < data->rounds; r++)
            pair->ns[r] = r < curve->round_count ? curve->rounds[r][x] : NAN;
        *count += a != b;
    }
}

/* The second of two of the same pair goes into the first: tables have both directions. */
static void merge_twice(bj_topology_data *data) {
    size_t kept = 0;
    for (size_t i = 0; i < data->pair_count; i++) {
        bj_topology_pair *pair = &data->pairs[i], *last = kept > 0 ? &data->pairs[kept - 1] : NULL;
        if (last == NULL || last->a != pair->a || last->b != pair->b ||
            (last->part == BJ_TOPOLOGY_LARGE) != (pair->part == BJ_TOPOLOGY_LARGE)) {
            data->pairs[kept++] = *pair;
            continue;
        }
        for (size_t r = 0; r < data->rounds; r++)
            last->ns[r] = isnan(last->ns[r])   ? pair->ns[r]
                          : isnan(pair->ns[r]) ? last->ns[r]
                                               : (last->ns[r] + pair->ns[r]) / 2;
    }
    data->pair_count = data->first_large = kept;
    while (data->first_large > 0 && data->pairs[data->first_large - 1].part == BJ_TOPOLOGY_LARGE)
        data->first_large--;
}

/* Sweeps of pairs that are among the others. */
static bj_status list_sweeps(const bj_curves *samples, bj_topology_data *data, bj_error *error) {
    data->sweeps = malloc((samples->count + 1) * sizeof *data->sweeps);
    if (data->sweeps == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu curves", samples->count);
    for (size_t i = 0; i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        double cpu = 0, partner = 0;
        if (!bj_data_has_attribute_text(curve, "part", "blocks") || curve->x_count == 0 ||
            !bj_data_get_attribute_number(curve, "cpu", &cpu) ||
            !bj_data_get_attribute_number(curve, "partner", &partner))
            continue;
        size_t a = find_cpu(data, (int)cpu), b = find_cpu(data, (int)partner);
        if (a < b && b < data->cpu_count)
            data->sweeps[data->sweep_count++] = (bj_topology_sweep){curve, a, b};
    }
    return BJ_OK;
}

bj_status bj_topology_gather(const bj_curves *samples, bj_topology_data *data, bj_error *error) {
    *data = (bj_topology_data){.line_bytes = NAN, .large_bytes = NAN};
    bj_status status = list_cpus(samples, data, error);
    if (status == BJ_OK) {
        data->pairs = malloc((data->pair_count + 1) * sizeof *data->pairs);
        data->ns = malloc((data->pair_count * data->rounds + 1) * sizeof *data->ns);
        if (data->pairs == NULL || data->ns == NULL)
            status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    }
    if (status == BJ_OK)
        status = list_sweeps(samples, data, error);
    size_t count = 0;
    for (int part = 0; part < BJ_TOPOLOGY_PARTS && status == BJ_OK; part++)
        for (size_t i = 0; i < samples->count; i++) {
            int cpu = 0;
            if (bj_topology_is_part(&samples->items[i], (bj_topology_part)part, &cpu))
                take_curve(data, &samples->items[i], (bj_topology_part)part, cpu, &count);
        }
    if (status != BJ_OK) {
        bj_topology_free(data);
        return status;
    }
    data->pair_count = count;
    qsort(data->pairs, count, sizeof *data->pairs, compare_pairs);
    merge_twice(data);
    return BJ_OK;
}

void bj_topology_free(bj_topology_data *data) {
    free(data->cpus);
    free(data->pairs);
    free(data->ns);
    free(data->sweeps);
    *data = (bj_topology_data){0};
}

double bj_topology_find_median(const bj_topology_data *data, const bj_topology_pair *pair, const size_t *index,
                               size_t count) {
    double values[MOST_ROUNDS];
    count = index != NULL ? count : data->rounds;
    for (size_t r = 0; r < count; r++)
        values[r] = pair->ns[index != NULL ? index[r] : r];
    return bj_stats_median(values, count);
}

double bj_topology_find_sweep_median(const bj_topology_sweep *sweep, size_t point) {
    const bj_curve *curve = sweep->curve;
    double values[MOST_ROUNDS];
    size_t rounds = curve->round_count < MOST_ROUNDS ? curve->round_count : MOST_ROUNDS;
    for (size_t r = 0; r < rounds; r++)
        values[r] = curve->rounds[r][point];
    return bj_stats_median(values, rounds);
}

size_t bj_topology_list_distances(const bj_topology_data *data, bj_topology_part part, const size_t *index,
                                  size_t count, bj_distance *distances) {
    size_t listed = 0;
    for (size_t i = 0; i < data->pair_count; i++) {
        const bj_topology_pair *pair = &data->pairs[i];
        double ns = pair->part == part ? bj_topology_find_median(data, pair, index, count) : NAN;
        if (ns > 0)
            distances[listed++] = (bj_distance){pair->a, pair->b, log(ns)};
    }
    return listed;
}
