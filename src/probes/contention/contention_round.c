#include "probes/contention/contention_round.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/contention/contention_constants.h"

#define MIB 1048576.0
/* The least buffer, where no cache is known: beyond any of today's that no probe saw. */
#define LEAST_BYTES (4 * MIB)
/* A spike in a hundred samples must not make a false rate of one pair among hundreds. */
#define REPETITIONS_OF_FEW 5u
#define REPETITIONS_OF_MANY 3u
/* Of all cpus and pairs in the first round; of so many at most in later ones, drawn at random. */
#define ALONE_LATER 8u
#define PAIRS_LATER 48u
/* Cpus that were not asked enough are asked, as long as there are no more pairs than so many a cpu. 20% less: a flat
 * machine of small groups is told with low confidence from fewer cpus on; more: only time. */
#define PAIRS_OF_CPU 6u
/* Numbers of cpus of a scaling curve: all up to so many, then a third more each time. */
#define EVERY_NUMBER 12u

static int cpu_at(const bj_contention_run *run, size_t index) {
    return run->all.cpus[index];
}

void bj_contention_choose_buffers(const bj_contention_run *run, const size_t *who, size_t count, size_t *bytes) {
    for (size_t i = 0; i < count; i++) {
        double wanted = LEAST_BYTES;
        for (size_t level = 0; level < run->cache_count; level++) {
            size_t together = 0;
            for (size_t j = 0; j < count; j++)
                together += run->sharers[level][who[j]] == run->sharers[level][who[i]];
            wanted = fmax(wanted, OVER_CACHE * run->capacity[level] / (double)together);
        }
        bytes[i] = (size_t)ceil(wanted / BJ_STREAM_MULTIPLE_BYTES) * BJ_STREAM_MULTIPLE_BYTES;
    }
}

bj_status bj_contention_stream(bj_contention_run *run, const size_t *who, size_t count, bj_stream_kind kind,
                               double *gbs, bool *done, bj_error *error) {
    bj_partaker *streamers = calloc(count + 1, sizeof *streamers);
    size_t *bytes = calloc(count + 1, sizeof *bytes);
    bj_status status = BJ_OK;
    *done = false;
    if (streamers == NULL || bytes == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu streams", count);
        goto done;
    }
    bj_contention_choose_buffers(run, who, count, bytes);
    for (size_t i = 0; i < count; i++)
        streamers[i] = (bj_partaker){cpu_at(run, who[i]), cpu_at(run, who[i]), bytes[i]};
    *done = bj_kit_choose_pages_for(&run->rounds, streamers, count);
    if (!*done)
        goto done;
    bj_party party = {.streamers = streamers, .stream_count = count, .kind = kind};
    party.repetitions = count <= 2 ? REPETITIONS_OF_FEW : REPETITIONS_OF_MANY;
    status = bj_kit_run_together(&run->rounds, &party, NULL, gbs, error);
    if (status == BJ_OK)
        status = bj_probe_report(run->rounds.request, 0, error);
done:
    free(bytes);
    free(streamers);
    return status;
}

/* ---- alone and in pairs */

static bj_status measure_alone(bj_contention_run *run, bj_error *error) {
    const bj_curve_axes axes = {CONTENTION_ALONE, "cpu", "", "bandwidth", "GB/s"};
    size_t count = run->all.count, wanted = run->rounds.round == 0 ? count : ALONE_LATER;
    uint32_t *order = malloc((count + 1) * sizeof *order);
    if (order == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->rounds.random, order, count);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && i < wanted && status == BJ_OK; i++) {
        size_t who = order[i];
        double gbs;
        bool done;
        status = bj_contention_stream(run, &who, 1, run->kind, &gbs, &done, error);
        if (status == BJ_OK && done)
            status = bj_kit_record(&run->rounds, &axes, cpu_at(run, who), gbs, error);
    }
    free(order);
    return status;
}

static size_t draw_cpu(bj_contention_run *run, bj_cpu_run part) {
    return run->all.index_at[part.first + bj_random_below(&run->rounds.random, part.count)];
}

bj_status bj_contention_open_curve(bj_contention_run *run, const char *id, const char *kind, const char *x_name,
                                   bj_curve **curve, bj_error *error) {
    const bj_curve_axes axes = {id, x_name, "", "bandwidth", "GB/s"};
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, curve, error));
    return bj_data_set_attribute_text(*curve, CONTENTION_KIND, kind, error);
}

static bj_status measure_pair(bj_contention_run *run, const bj_part_pair *pair, bj_error *error) {
    size_t who[2] = {draw_cpu(run, pair->a), draw_cpu(run, pair->b)};
    char id[48];
    double gbs[2];
    bool done;
    bj_curve *curve;
    BJ_TRY(bj_contention_stream(run, who, 2, run->kind, gbs, &done, error));
    if (!done)
        return BJ_OK;
    snprintf(id, sizeof id, "contention.pair.cpu%d", cpu_at(run, who[0]));
    BJ_TRY(bj_contention_open_curve(run, id, CONTENTION_PAIR, "cpu", &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPU, cpu_at(run, who[0]), error));
    return bj_data_record_sample(curve, cpu_at(run, who[1]), run->rounds.round, (gbs[0] + gbs[1]) / 2, error);
}

static bj_status measure_pairs(bj_contention_run *run, bj_error *error) {
    uint32_t *order = malloc((run->pair_count + 1) * sizeof *order);
    if (order == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", run->pair_count);
    for (size_t i = 0; i < run->pair_count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->rounds.random, order, run->pair_count);
    size_t wanted = run->rounds.round == 0 || run->is_servet ? run->pair_count : PAIRS_LATER;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < run->pair_count && i < wanted && status == BJ_OK; i++)
        status = measure_pair(run, &run->pairs[order[i]], error);
    free(order);
    return status;
}

/* ---- growing numbers */

/* The next branch around a place, from the outermost; branch_count: there is none. */
static size_t next_around(const bj_near_tree *tree, size_t place, size_t from) {
    while (from < tree->branch_count &&
           (place < tree->branches[from].first || place >= tree->branches[from].first + tree->branches[from].count))
        from++;
    return from;
}

/* By how many of the chosen are in each branch around a place, from the outermost: less is further from them. */
static int compare_crowding(const bj_near_tree *tree, const size_t *chosen_in, size_t a, size_t b) {
    size_t around_a = next_around(tree, a, 0), around_b = next_around(tree, b, 0);
    while (around_a < tree->branch_count && around_b < tree->branch_count) {
        if (chosen_in[around_a] != chosen_in[around_b])
            return chosen_in[around_a] < chosen_in[around_b] ? -1 : 1;
        around_a = next_around(tree, a, around_a + 1);
        around_b = next_around(tree, b, around_b + 1);
    }
    return 0;
}

/* The same by the groups of the levels within, from the outermost, which the tree may not know. */
static int compare_inner(const bj_contention *found, const bj_contention_level *level, const size_t *order, size_t n,
                         size_t a, size_t b) {
    for (const bj_contention_level *inner = level; inner-- > found->levels;) {
        size_t with_a = 0, with_b = 0;
        for (size_t i = 0; i < n; i++) {
            with_a += inner->group_of[order[i]] == inner->group_of[a];
            with_b += inner->group_of[order[i]] == inner->group_of[b];
        }
        if (with_a != with_b)
            return with_a < with_b ? -1 : 1;
    }
    return 0;
}

/* The group's cpus, each as far from those before as can be: so that inner groups fill evenly. */
static bj_status spread_group(bj_contention_run *run, const bj_contention *found, const bj_contention_level *level,
                              size_t *order, bj_error *error) {
    const bj_near_tree *tree = &run->all.tree;
    size_t *chosen_in = calloc(tree->branch_count + 1, sizeof *chosen_in);
    bool *is_chosen = calloc(run->all.count + 1, sizeof *is_chosen);
    bj_status status = BJ_OK;
    if (chosen_in == NULL || is_chosen == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    for (size_t n = 0; status == BJ_OK && n < level->size; n++) {
        size_t best = run->all.count;
        for (size_t place = 0; place < run->all.count; place++) {
            if (is_chosen[place] || level->group_of[run->all.index_at[place]] != level->lowest)
                continue;
            int nearer = best == run->all.count
                             ? -1
                             : compare_inner(found, level, order, n, run->all.index_at[place], run->all.index_at[best]);
            if (nearer < 0 || (nearer == 0 && compare_crowding(tree, chosen_in, place, best) < 0))
                best = place;
        }
        is_chosen[best] = true;
        order[n] = run->all.index_at[best];
        for (size_t i = 0; i < tree->branch_count; i++)
            chosen_in[i] += best >= tree->branches[i].first && best < tree->branches[i].first + tree->branches[i].count;
    }
    free(chosen_in);
    free(is_chosen);
    return status;
}

static double first_sample(const bj_curve *curve, size_t point) {
    size_t round = 0;
    while (round + 1 < curve->round_count && isnan(curve->rounds[round][point]))
        round++;
    return curve->rounds[round][point];
}

/* From which number on the total grows no more, and the one before it; 0: not known yet. */
static void find_bend(const bj_curve *curve, size_t bend[2]) {
    double most = 0;
    bend[0] = bend[1] = 0;
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++)
        most = fmax(most, first_sample(curve, i));
    for (size_t i = 1; curve != NULL && i < curve->x_count && bend[1] == 0; i++)
        if (first_sample(curve, i) >= (1 - AS_GOOD) * most) {
            bend[0] = (size_t)curve->x[i - 1];
            bend[1] = (size_t)curve->x[i];
        }
}

static bj_status measure_number(bj_contention_run *run, const bj_contention_level *level, const size_t *order,
                                size_t number, bj_error *error) {
    char id[48];
    bj_curve *curve;
    bool done;
    double total = 0, *gbs = malloc((number + 1) * sizeof *gbs);
    if (gbs == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu streams", number);
    bj_status status = bj_contention_stream(run, order, number, run->kind, gbs, &done, error);
    for (size_t i = 0; status == BJ_OK && done && i < number; i++)
        total += gbs[i];
    free(gbs);
    if (status != BJ_OK || !done)
        return status;
    int lowest = cpu_at(run, level->lowest);
    snprintf(id, sizeof id, "contention.scaling.cpu%d.%zu", lowest, level->size);
    BJ_TRY(bj_contention_open_curve(run, id, CONTENTION_SCALING, "cpus", &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPU, lowest, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPUS, (double)level->size, error));
    return bj_data_record_sample(curve, (double)number, run->rounds.round, total, error);
}

static bj_status measure_level(bj_contention_run *run, const bj_contention *found, const bj_contention_level *level,
                               bj_error *error) {
    size_t *order = malloc((run->all.count + 1) * sizeof *order);
    if (order == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    const bj_curve *curve = bj_contention_find_scaling(run->rounds.samples, cpu_at(run, level->lowest), level->size);
    size_t bend[2], middle;
    find_bend(curve, bend);
    middle = (bend[0] + bend[1]) / 2;
    bj_status status = spread_group(run, found, level, order, error);
    for (size_t n = 1; n <= level->size && status == BJ_OK;) {
        /* Once the curve is known, its ends and its bend are enough to know it better. */
        bool is_wanted = bend[1] == 0 || n <= 2 || n == bend[0] || n == bend[1] || n == level->size;
        if (is_wanted)
            status = measure_number(run, level, order, n, error);
        size_t next = n < EVERY_NUMBER ? n + 1 : n + n / 3;
        n = n < level->size && next > level->size ? level->size : next;
    }
    if (status == BJ_OK && middle > bend[0])
        status = measure_number(run, level, order, middle, error);
    free(order);
    return status;
}

/* A row for each group that was asked too little to be known whole. */
static bj_status ask_more(bj_contention_run *run, bj_error *error) {
    bj_status status = BJ_OK;
    bool *reached = malloc((run->all.count + 1) * sizeof *reached);
    if (reached == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    for (bool more = true; more && status == BJ_OK && !bj_probe_is_late(run->rounds.request);) {
        bj_contention_samples read;
        bj_contention found = {0};
        size_t who = run->all.count, before = run->pair_count;
        status = bj_contention_read(run->rounds.samples, run->rounds.request->earlier, &read, error);
        if (status == BJ_OK && read.all.count == run->all.count)
            status = bj_contention_find_levels(&read, NULL, 0, false, &found, error);
        if (status == BJ_OK && read.all.count == run->all.count)
            who = bj_contention_find_unasked(&read, &found, reached);
        for (size_t i = 0; status == BJ_OK && who < run->all.count && i < run->all.count; i++)
            if (!reached[i] && run->pair_count < PAIRS_OF_CPU * run->all.count)
                status = bj_contention_add_cpus(run, who, i, error);
        more = run->pair_count > before;
        for (size_t i = before; i < run->pair_count && status == BJ_OK; i++)
            status = measure_pair(run, &run->pairs[i], error);
        bj_contention_free_levels(&found);
        bj_contention_free_samples(&read);
    }
    free(reached);
    return status;
}

bj_status bj_contention_measure_levels(bj_contention_run *run, bj_error *error) {
    BJ_TRY(measure_alone(run, error));
    BJ_TRY(measure_pairs(run, error));
    if (!run->is_servet && run->rounds.round == 0)
        BJ_TRY(ask_more(run, error));
    if (!run->is_servet)
        BJ_TRY(bj_contention_measure_crowds(run, error));
    bj_contention_samples read;
    BJ_TRY(bj_contention_read(run->rounds.samples, run->rounds.request->earlier, &read, error));
    bj_contention found = {0};
    bj_status status = BJ_OK;
    if (read.all.count == run->all.count)
        status = bj_contention_find_levels(&read, NULL, 0, run->is_servet, &found, error);
    if (status == BJ_OK)
        status = bj_contention_measure_draws(run, &read, &found, error);
    for (size_t i = 0; status == BJ_OK && i < found.count; i++)
        status = measure_level(run, &found, &found.levels[i], error);
    bj_contention_free_levels(&found);
    bj_contention_free_samples(&read);
    return status;
}
