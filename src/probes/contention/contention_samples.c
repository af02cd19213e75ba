#include "probes/contention/contention_samples.h"

#include "probes/contention/contention_constants.h"

#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "stats/quantile.h"

int bj_contention_lowest(const bj_cpus *all, bj_cpu_run run) {
    size_t lowest = all->index_at[run.first];
    for (size_t i = 1; i < run.count; i++)
        lowest = all->index_at[run.first + i] < lowest ? all->index_at[run.first + i] : lowest;
    return all->cpus[lowest];
}

static size_t find_index(const bj_cpus *all, double cpu) {
    size_t index = 0;
    while (index < all->count && all->cpus[index] != cpu)
        index++;
    return index;
}

/* count 0: the tree has no such branch. */
static bj_cpu_run find_branch(const bj_cpus *all, double lowest, double size) {
    for (size_t i = 0; i < all->tree.branch_count; i++)
        if ((double)all->tree.branches[i].count == size && bj_contention_lowest(all, all->tree.branches[i]) == lowest)
            return all->tree.branches[i];
    return (bj_cpu_run){0};
}

static size_t count_points(const bj_curves *samples) {
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++)
        count += samples->items[i].x_count;
    return count;
}

/* The part of the innermost branch around both that holds the first. */
static bj_cpu_run find_part(const bj_near_tree *tree, size_t place, size_t other) {
    bj_cpu_run part = {place, 1};
    for (size_t i = 0; i < tree->branch_count; i++) {
        bj_cpu_run branch = tree->branches[i];
        bool has = place >= branch.first && place < branch.first + branch.count;
        bool has_other = other >= branch.first && other < branch.first + branch.count;
        if (has && !has_other && branch.count > part.count)
            part = branch;
    }
    return part;
}

static void read_pairs(const bj_curve *curve, bj_contention_samples *read) {
    double cpu = NAN;
    bj_data_get_attribute_number(curve, CONTENTION_CPU, &cpu);
    size_t a = find_index(&read->all, cpu);
    for (size_t i = 0; i < curve->x_count; i++) {
        size_t b = find_index(&read->all, curve->x[i]);
        if (a >= read->all.count || b >= read->all.count || a == b)
            continue;
        const bj_near_tree *tree = &read->all.tree;
        size_t here = bj_kit_find_cpu(tree, read->all.cpus[a]), there = bj_kit_find_cpu(tree, read->all.cpus[b]);
        read->pairs[read->pair_count++] =
            (bj_contention_point){.a = a,
                                  .b = b,
                                  .parts = {find_part(tree, here, there), find_part(tree, there, here)},
                                  .curve = curve,
                                  .point = i};
    }
}

static bool has_all_pairs(const bj_contention_samples *read, bool *known) {
    size_t count = read->all.count, distinct = 0;
    for (size_t i = 0; i < read->pair_count; i++) {
        size_t a = read->pairs[i].a, b = read->pairs[i].b;
        bool *is_known = &known[a < b ? a * count + b : b * count + a];
        distinct += !*is_known;
        *is_known = true;
    }
    return distinct == count * (count - 1) / 2;
}

/* Once all pairs are measured none has to stand for others. */
static bj_status single_out(bj_contention_samples *read, bj_error *error) {
    bool *known = calloc(read->all.count * read->all.count + 1, sizeof *known);
    if (known == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for pairs of %zu cpus", read->all.count);
    size_t single = has_all_pairs(read, known) ? read->pair_count : 0;
    for (size_t i = 0; i < single; i++)
        for (int p = 0; p < 2; p++) {
            int cpu = read->all.cpus[p == 0 ? read->pairs[i].a : read->pairs[i].b];
            read->pairs[i].parts[p] = (bj_cpu_run){bj_kit_find_cpu(&read->all.tree, cpu), 1};
        }
    free(known);
    return BJ_OK;
}

static size_t read_branches(const bj_curve *curve, const bj_cpus *all, bj_contention_point *points, size_t count) {
    double size = NAN;
    bj_data_get_attribute_number(curve, CONTENTION_CPUS, &size);
    for (size_t i = 0; i < curve->x_count; i++) {
        bj_cpu_run branch = find_branch(all, curve->x[i], size);
        if (branch.count > 0)
            points[count++] = (bj_contention_point){.branch = branch, .curve = curve, .point = i};
    }
    return count;
}

static void read_draw(const bj_curve *curve, bj_contention_samples *read) {
    double lowest = NAN, size = NAN;
    bj_data_get_attribute_number(curve, CONTENTION_CPU, &lowest);
    bj_data_get_attribute_number(curve, CONTENTION_CPUS, &size);
    bj_cpu_run branch = find_branch(&read->all, lowest, size);
    if (branch.count > 0 && curve->x_count > 0)
        read->draws[read->draw_count++] = (bj_contention_point){.branch = branch, .curve = curve};
}

/* Logarithms of the samples about their median; how many. */
static size_t list_residuals(const bj_curve *curve, size_t point, double *scratch, double *residuals) {
    size_t count = bj_kit_list_point(curve, point, scratch), used = 0;
    if (count < 2)
        return 0;
    double median = bj_stats_median(scratch, count);
    for (size_t i = 0; i < count; i++)
        if (scratch[i] > 0 && median > 0)
            residuals[used++] = log(scratch[i] / median);
    return used;
}

/* The fewest rounds that a pair, or a cpu alone, has: its median has the largest error. */
static size_t count_fewest(const bj_curve *alone, const bj_contention_samples *read) {
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < alone->x_count; i++) {
        size_t count = bj_kit_list_point(alone, i, read->scratch);
        fewest = count > 0 && count < fewest ? count : fewest;
    }
    for (size_t i = 0; i < read->pair_count; i++) {
        size_t count = bj_kit_list_point(read->pairs[i].curve, read->pairs[i].point, read->scratch);
        fewest = count > 0 && count < fewest ? count : fewest;
    }
    return fewest == SIZE_MAX ? 1 : fewest;
}

static bj_status find_spread(const bj_curve *alone, bj_contention_samples *read, bj_error *error) {
    size_t cells = alone->x_count * alone->round_count;
    for (size_t i = 0; i < read->pair_count; i++)
        cells += read->pairs[i].curve->round_count;
    double *residuals = malloc((cells + 1) * sizeof *residuals);
    if (residuals == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu samples", cells);
    size_t used = 0;
    for (size_t i = 0; i < alone->x_count; i++)
        used += list_residuals(alone, i, read->scratch, residuals + used);
    for (size_t i = 0; i < read->pair_count; i++)
        used += list_residuals(read->pairs[i].curve, read->pairs[i].point, read->scratch, residuals + used);
    /* A single round has no spread about itself: how far the cpus are apart stands for it. */
    for (size_t i = 0; used == 0 && i < read->all.count; i++)
        residuals[i] = log(read->alone_gbs[i]);
    size_t fewest = count_fewest(alone, read);
    /* The median of n normal samples has 1.25 / sqrt(n) of their deviation. */
    double of_median = fewest > 1 ? MEDIAN_ERROR / sqrt((double)fewest) : 1;
    read->sample_sigma = bj_stats_estimate_sigma(residuals, used > 0 ? used : read->all.count);
    read->sigma = of_median * read->sample_sigma;
    free(residuals);
    return BJ_OK;
}

static void read_alone(const bj_curve *alone, bj_contention_samples *read) {
    for (size_t i = 0; i < alone->x_count; i++)
        read->alone_gbs[i] = bj_kit_quantile_of_point(alone, i, NULL, alone->round_count, 0.5, read->scratch);
    double *values = read->scratch + read->rounds;
    size_t known = 0;
    for (size_t i = 0; i < read->all.count; i++)
        if (read->alone_gbs[i] > 0)
            values[known++] = read->alone_gbs[i];
    read->reference_gbs = bj_stats_median(values, known);
    for (size_t i = 0; i < read->all.count; i++)
        read->alone_gbs[i] = read->alone_gbs[i] > 0 ? read->alone_gbs[i] : read->reference_gbs;
}

static bj_status open_samples(const bj_curves *samples, const bj_curve *alone, const bj_answers *earlier,
                              bj_contention_samples *read, bj_error *error) {
    size_t room = count_points(samples) + 1, cpus = alone->x_count;
    for (size_t i = 0; i < samples->count; i++)
        read->rounds = samples->items[i].round_count > read->rounds ? samples->items[i].round_count : read->rounds;
    int *numbers = malloc((cpus + 1) * sizeof *numbers);
    read->alone_gbs = malloc((cpus + 1) * sizeof *read->alone_gbs);
    read->scratch = malloc((read->rounds + cpus + 1) * sizeof *read->scratch);
    read->pairs = malloc(room * sizeof *read->pairs);
    read->crowds = malloc(room * sizeof *read->crowds);
    read->halves = malloc(room * sizeof *read->halves);
    read->draws = malloc(room * sizeof *read->draws);
    bj_status status = BJ_OK;
    if (!numbers || !read->alone_gbs || !read->scratch || !read->pairs || !read->crowds || !read->halves ||
        !read->draws) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", room);
    } else {
        for (size_t i = 0; i < cpus; i++)
            numbers[i] = (int)alone->x[i];
        status = bj_kit_open_cpus(numbers, cpus, earlier, &read->all, error);
    }
    free(numbers);
    return status;
}

bj_status bj_contention_read(const bj_curves *samples, const bj_answers *earlier, bj_contention_samples *read,
                             bj_error *error) {
    const bj_curve *alone = bj_data_find_curve(samples, CONTENTION_ALONE);
    *read = (bj_contention_samples){.reference_gbs = NAN, .sample_sigma = NAN, .sigma = NAN};
    if (alone == NULL)
        return BJ_OK;
    bj_status status = open_samples(samples, alone, earlier, read, error);
    for (size_t i = 0; status == BJ_OK && i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        if (bj_data_has_attribute_text(curve, CONTENTION_KIND, CONTENTION_PAIR))
            read_pairs(curve, read);
        else if (bj_data_has_attribute_text(curve, CONTENTION_KIND, CONTENTION_CROWD))
            read->crowd_count = read_branches(curve, &read->all, read->crowds, read->crowd_count);
        else if (bj_data_has_attribute_text(curve, CONTENTION_KIND, CONTENTION_HALF))
            read->half_count = read_branches(curve, &read->all, read->halves, read->half_count);
        else if (bj_data_has_attribute_text(curve, CONTENTION_KIND, CONTENTION_DRAW))
            read_draw(curve, read);
    }
    if (status == BJ_OK) {
        read_alone(alone, read);
        status = find_spread(alone, read, error);
    }
    if (status == BJ_OK)
        status = single_out(read, error);
    if (status != BJ_OK)
        bj_contention_free_samples(read);
    return status;
}

void bj_contention_free_samples(bj_contention_samples *read) {
    bj_kit_close_cpus(&read->all);
    free(read->alone_gbs);
    free(read->scratch);
    free(read->pairs);
    free(read->crowds);
    free(read->halves);
    free(read->draws);
    *read = (bj_contention_samples){0};
}

double bj_contention_find_median(const bj_contention_samples *read, const bj_contention_point *point,
                                 const size_t *rounds, size_t count) {
    const bj_curve *curve = point->curve;
    size_t used = 0;
    for (size_t r = 0; rounds != NULL && r < count; r++)
        if (rounds[r] < curve->round_count && !isnan(curve->rounds[rounds[r]][point->point]))
            read->scratch[used++] = curve->rounds[rounds[r]][point->point];
    if (used == 0)
        used = bj_kit_list_point(curve, point->point, read->scratch);
    return bj_stats_median(read->scratch, used);
}

const bj_curve *bj_contention_find_scaling(const bj_curves *samples, int lowest, size_t size) {
    for (size_t i = 0; i < samples->count; i++) {
        double cpu, cpus;
        if (bj_data_has_attribute_text(&samples->items[i], CONTENTION_KIND, CONTENTION_SCALING) &&
            bj_data_get_attribute_number(&samples->items[i], CONTENTION_CPU, &cpu) &&
            bj_data_get_attribute_number(&samples->items[i], CONTENTION_CPUS, &cpus) && cpu == lowest &&
            cpus == (double)size)
            return &samples->items[i];
    }
    return NULL;
}
