/* The locality tree as the 2012 paper prints it (3.1.4): one clique of all cpus, and from the largest block down each
 * clique is split where some of its cpus exchange faster with each other than with the rest.
 *
 * Which difference counts the paper does not say: here the one that stats/nested_groups.h finds. Where a block shows
 * several levels it splits by the outermost, and is asked again about what came out. Cpus that a split leaves over
 * remain a clique among themselves. Of one line the pairs were measured apart from the blocks. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "probes/topology/topology_picture.h"
#include "stats/quantile.h"

typedef struct {
    bj_topology_picture *picture;
    double bytes;       /* of the block; NaN: one line */
    size_t *number;     /* by cpu: within the clique; BJ_NO_NODE: it is not in it */
    bj_distance *pairs; /* of the clique */
    size_t pair_count;
    double *values; /* scratch, as many as pairs */
    uint64_t seed;
} splitting;

static double find_block_ns(const bj_topology_sweep *sweep, double bytes) {
    for (size_t x = 0; x < sweep->curve->x_count; x++)
        if (sweep->curve->x[x] == bytes)
            return bj_topology_find_sweep_median(sweep, x);
    return NAN;
}

static bool is_in_clique(const splitting *all, size_t a, size_t b) {
    return all->number[a] != BJ_NO_NODE && all->number[b] != BJ_NO_NODE;
}

static void add_pair(splitting *all, size_t a, size_t b, double ns) {
    if (ns > 0)
        all->pairs[all->pair_count++] = (bj_distance){all->number[a], all->number[b], log(ns)};
}

/* The cpus that are in no child of the node, and their pairs; how many cpus. */
static size_t list_clique(splitting *all, size_t node) {
    const bj_topology_data *data = all->picture->data;
    size_t count = 0;
    for (size_t i = 0; i < data->cpu_count; i++)
        all->number[i] = all->picture->tree.node_of[i] == node ? count++ : BJ_NO_NODE;
    all->pair_count = 0;
    for (size_t i = 0; i < data->first_large && isnan(all->bytes); i++)
        if (is_in_clique(all, data->pairs[i].a, data->pairs[i].b))
            add_pair(all, data->pairs[i].a, data->pairs[i].b, bj_topology_find_median(data, &data->pairs[i], NULL, 0));
    for (size_t i = 0; i < data->sweep_count && !isnan(all->bytes); i++)
        if (is_in_clique(all, data->sweeps[i].a, data->sweeps[i].b))
            add_pair(all, data->sweeps[i].a, data->sweeps[i].b, find_block_ns(&data->sweeps[i], all->bytes));
    return count;
}

/* What a line takes within the groups, or between them; the flag is one line more. */
static double find_line_ns(splitting *all, const size_t *group_of, bool within) {
    const bj_topology_data *data = all->picture->data;
    size_t count = 0;
    for (size_t i = 0; i < all->pair_count; i++)
        if ((group_of[all->pairs[i].a] == group_of[all->pairs[i].b]) == within)
            all->values[count++] = all->pairs[i].distance;
    double ns = exp(bj_stats_median(all->values, count));
    return isnan(all->bytes) ? ns * all->picture->distance_factor : ns / (all->bytes / data->line_bytes + 1);
}

/* What is no tree at one line would make cliques of hops: there a clique is none of what one line tells apart. */
static bool is_within_line_groups(const splitting *all, const size_t *group_of) {
    const bj_nested_groups *line = &all->picture->groups->nested;
    const size_t *line_group = line->level_count > 0 ? line->levels[line->level_count - 1].group_of : NULL;
    for (size_t i = 0; i < all->picture->data->cpu_count; i++)
        for (size_t j = 0; j < i; j++)
            if (all->number[i] != BJ_NO_NODE && all->number[j] != BJ_NO_NODE &&
                group_of[all->number[i]] == group_of[all->number[j]] &&
                (line_group == NULL || line_group[i] != line_group[j]))
                return false;
    return true;
}

/* The outermost level that may split the clique; NULL: none. */
static const bj_group_level *choose_level(const splitting *all, const bj_nested_groups *nested) {
    for (size_t level = nested->level_count; level-- > 0;)
        if (!all->picture->groups->not_a_tree || is_within_line_groups(all, nested->levels[level].group_of))
            return &nested->levels[level];
    return NULL;
}

static bj_status split_clique(splitting *all, size_t node, bool *has_split, bj_error *error) {
    bj_topology_picture *picture = all->picture;
    size_t cpus = list_clique(all, node), before = picture->tree.count;
    *has_split = false;
    if (cpus < 3 || all->pair_count < cpus * (cpus - 1) / 2) /* a part of the pairs may look like cliques */
        return BJ_OK;
    bj_nested_groups nested;
    all->seed = bj_random_mix(all->seed, node);
    BJ_TRY(bj_stats_nest_groups(cpus, all->pairs, all->pair_count, all->seed, &nested, error));
    const bj_group_level *level = choose_level(all, &nested);
    bj_status status = BJ_OK;
    if (level != NULL)
        status = bj_topology_split(&picture->tree, node, all->number, cpus, level->group_of, error);
    if (status == BJ_OK && picture->tree.count > before) {
        *has_split = true;
        picture->p = fmax(picture->p, level->p);
        picture->not_a_tree = picture->not_a_tree || (node == 0 && nested.not_a_tree);
        if (isnan(picture->splits[node].block_bytes))
            picture->splits[node] = (bj_topology_split_facts){
                isnan(all->bytes) ? picture->data->line_bytes : all->bytes, find_line_ns(all, level->group_of, true),
                find_line_ns(all, level->group_of, false)};
    }
    bj_stats_free_nested_groups(&nested);
    return status;
}

/* Every clique, those that come out as well, and what is left over again. */
static bj_status split_at_block(splitting *all, bj_error *error) {
    for (size_t node = 0; node < all->picture->tree.count; node++) {
        bool has_split = true;
        while (has_split)
            BJ_TRY(split_clique(all, node, &has_split, error));
    }
    return BJ_OK;
}

static bj_status split_at_blocks(splitting *all, bj_error *error) {
    const bj_topology_data *data = all->picture->data;
    const bj_curve *longest = NULL;
    for (size_t i = 0; i < data->sweep_count; i++)
        if (longest == NULL || data->sweeps[i].curve->x_count > longest->x_count)
            longest = data->sweeps[i].curve;
    for (size_t x = longest != NULL ? longest->x_count : 0; x-- > 0;) {
        all->bytes = longest->x[x];
        if (all->bytes > data->line_bytes)
            BJ_TRY(split_at_block(all, error));
    }
    all->bytes = NAN;
    return split_at_block(all, error);
}

bj_status bj_topology_split_cliques(bj_topology_picture *picture, uint64_t seed, bj_error *error) {
    const bj_topology_data *data = picture->data;
    static const bj_nested_groups none = {0};
    size_t pairs = data->pair_count + data->sweep_count + 1, nodes = 2 * data->cpu_count + 1;
    BJ_TRY(bj_topology_plant(&none, data->cpu_count, &picture->tree, error));
    picture->splits = malloc(nodes * sizeof *picture->splits);
    splitting all = {.picture = picture,
                     .number = malloc((data->cpu_count + 1) * sizeof *all.number),
                     .pairs = malloc(pairs * sizeof *all.pairs),
                     .values = malloc(pairs * sizeof *all.values),
                     .seed = seed};
    bj_status status = BJ_OK;
    if (picture->splits == NULL || all.number == NULL || all.pairs == NULL || all.values == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", pairs);
    for (size_t i = 0; i < nodes && status == BJ_OK; i++)
        picture->splits[i] = (bj_topology_split_facts){NAN, NAN, NAN};
    if (status == BJ_OK)
        status = split_at_blocks(&all, error);
    free(all.number);
    free(all.pairs);
    free(all.values);
    return status;
}
