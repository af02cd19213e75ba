#include "probes/topology/topology_picture.h"

#include <math.h>
#include <stdlib.h>

#include "probes/topology/topology_constants.h"
#include "stats/quantile.h"

/* A number that belongs to a node. */
typedef struct {
    size_t node;
    double value;
} noted;

static int compare_noted(const void *a, const void *b) {
    const noted *left = a, *right = b;
    return (left->node > right->node) - (left->node < right->node);
}

/* The median of what was noted of each node; NaN: nothing. */
static bj_status find_medians(noted *notes, size_t count, double *of_node, size_t node_count, bj_error *error) {
    double *values = malloc((count + 1) * sizeof *values);
    if (values == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", count);
    qsort(notes, count, sizeof *notes, compare_noted);
    for (size_t node = 0, i = 0; node < node_count; node++) {
        size_t own = 0;
        for (; i < count && notes[i].node == node; i++)
            values[own++] = notes[i].value;
        of_node[node] = bj_stats_median(values, own);
    }
    free(values);
    return BJ_OK;
}

/* Medians over pairs that meet in each node: of the largest block, or of one line. */
static bj_status find_typical(const bj_topology_picture *picture, bool large, double *of_node, bj_error *error) {
    const bj_topology_data *data = picture->data;
    noted *notes = malloc((data->pair_count + 1) * sizeof *notes);
    size_t count = 0;
    if (notes == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    for (size_t i = 0; i < data->pair_count; i++) {
        const bj_topology_pair *pair = &data->pairs[i];
        double ns = bj_topology_find_median(data, pair, NULL, 0);
        if ((pair->part == BJ_TOPOLOGY_LARGE) == large && ns > 0)
            notes[count++] = (noted){bj_topology_meet(&picture->tree, pair->a, pair->b), ns};
    }
    bj_status status = find_medians(notes, count, of_node, picture->tree.count, error);
    free(notes);
    return status;
}

/* Splits a node where its children have cliques at the largest block. */
static bj_status split_node(bj_topology_picture *picture, size_t node, size_t *child_of, bj_distance *distances,
                            uint64_t seed, bj_error *error) {
    const bj_topology_data *data = picture->data;
    bj_topology_tree *tree = &picture->tree;
    size_t children = bj_topology_number_children(tree, node, child_of), count = 0;
    for (size_t i = 0; i < data->pair_count; i++) {
        const bj_topology_pair *pair = &data->pairs[i];
        if (pair->part != BJ_TOPOLOGY_LARGE || bj_topology_meet(tree, pair->a, pair->b) != node)
            continue;
        double ns = bj_topology_find_median(data, pair, NULL, 0);
        if (ns > 0)
            distances[count++] = (bj_distance){child_of[pair->a], child_of[pair->b], log(ns)};
    }
    /* Few children were asked about each other all of them, so that a ring is not taken for cliques. */
    size_t needed = children <= BJ_TOPOLOGY_LARGE_ALL ? children * (children - 1) / 2 : children - 1;
    if (children < 3 || count < needed)
        return BJ_OK;
    bj_nested_groups nested;
    BJ_TRY(bj_stats_nest_groups(children, distances, count, seed, &nested, error));
    bj_status status = BJ_OK;
    if (nested.level_count > 0)
        status =
            bj_topology_split(tree, node, child_of, children, nested.levels[nested.level_count - 1].group_of, error);
    bj_stats_free_nested_groups(&nested);
    return status;
}

static bj_status split_by_large(bj_topology_picture *picture, uint64_t seed, bj_error *error) {
    const bj_topology_data *data = picture->data;
    size_t nodes = picture->tree.count;
    size_t *child_of = malloc((data->cpu_count + 1) * sizeof *child_of);
    bj_distance *distances = malloc((data->pair_count + 1) * sizeof *distances);
    bool *asked = calloc(nodes, sizeof *asked);
    bj_status status = BJ_OK;
    if (child_of == NULL || distances == NULL || asked == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", data->pair_count);
    for (size_t i = 0; i < data->pair_count && status == BJ_OK; i++)
        if (data->pairs[i].part == BJ_TOPOLOGY_LARGE)
            asked[bj_topology_meet(&picture->tree, data->pairs[i].a, data->pairs[i].b)] = true;
    /* What is no tree at one line would only make cliques of hops. */
    for (size_t node = picture->groups->not_a_tree ? 1 : 0; node < nodes && status == BJ_OK; node++)
        if (asked[node])
            status = split_node(picture, node, child_of, distances, seed, error);
    free(asked);
    free(distances);
    free(child_of);
    return status;
}

/* A line of a block of so many bytes, from sweeps of pairs that meet at that level; NaN: none. The flag is one line
 * more. */
static double find_line_ns(const bj_topology_picture *picture, size_t level, double bytes) {
    const bj_topology_data *data = picture->data;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < data->sweep_count; i++) {
        const bj_topology_sweep *sweep = &data->sweeps[i];
        const bj_topology_node *node = &picture->tree.nodes[bj_topology_meet(&picture->tree, sweep->a, sweep->b)];
        for (size_t x = 0; x < sweep->curve->x_count && node->level == level && !node->large; x++) {
            double ns = sweep->curve->x[x] == bytes ? bj_topology_find_sweep_median(sweep, x) : NAN;
            sum += ns > 0 ? log(ns) : 0;
            count += ns > 0;
        }
    }
    return count > 0 ? exp(sum / (double)count) / (bytes / data->line_bytes + 1) : NAN;
}

/* The smallest block at which the levels differ as much as at any, within what a latency is right. */
static bj_topology_split_facts compare_levels(const bj_topology_picture *picture, size_t inside, size_t across) {
    const bj_curve *sweep = picture->data->sweep_count > 0 ? picture->data->sweeps[0].curve : NULL;
    bj_topology_split_facts best = {NAN, NAN, NAN};
    double most = 0;
    for (size_t x = sweep != NULL ? sweep->x_count : 0; x-- > 0;) {
        double near = find_line_ns(picture, inside, sweep->x[x]), far = find_line_ns(picture, across, sweep->x[x]);
        most = fmax(most, far / near);
        if (far / near > most * (1 - SAME_LATENCY))
            best = (bj_topology_split_facts){sweep->x[x], near, far};
    }
    return best;
}

/* Of each node that has children of several cpus; nodes of a level are alike. */
static bj_status find_splits(bj_topology_picture *picture, bj_error *error) {
    const bj_topology_tree *tree = &picture->tree;
    const bj_topology_data *data = picture->data;
    bj_topology_split_facts known[BJ_GROUP_LEVELS_MAX + 1][BJ_GROUP_LEVELS_MAX + 1];
    bool is_known[BJ_GROUP_LEVELS_MAX + 1][BJ_GROUP_LEVELS_MAX + 1] = {{false}};
    double *large_ns = malloc(tree->count * sizeof *large_ns);
    if (large_ns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu nodes", tree->count);
    bj_status status = find_typical(picture, true, large_ns, error);
    for (size_t i = 1; i < tree->count && status == BJ_OK; i++) {
        const bj_topology_node *child = &tree->nodes[i], *parent = &tree->nodes[child->parent];
        bj_topology_split_facts *facts = &picture->splits[child->parent];
        if (child->large) {
            double lines = data->large_bytes / data->line_bytes + 1;
            *facts = (bj_topology_split_facts){data->large_bytes, large_ns[i] / lines, large_ns[child->parent] / lines};
        } else if (isnan(facts->block_bytes) && !parent->large) {
            if (!is_known[child->level][parent->level])
                known[child->level][parent->level] = compare_levels(picture, child->level, parent->level);
            is_known[child->level][parent->level] = true;
            *facts = known[child->level][parent->level];
            if (isnan(facts->block_bytes)) /* no sweeps: what the tree was built of */
                *facts = (bj_topology_split_facts){data->line_bytes, picture->latency_ns[i],
                                                   picture->latency_ns[child->parent]};
        }
    }
    free(large_ns);
    return status;
}

/* From what one line tells outwards, and then what the largest block splits. */
static bj_status draw_by_line(bj_topology_picture *picture, uint64_t seed, bj_error *error) {
    BJ_TRY(bj_topology_plant(&picture->groups->nested, picture->data->cpu_count, &picture->tree, error));
    BJ_TRY(split_by_large(picture, seed, error));
    picture->splits = malloc(picture->tree.count * sizeof *picture->splits);
    if (picture->splits == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu nodes", picture->tree.count);
    for (size_t i = 0; i < picture->tree.count; i++)
        picture->splits[i] = (bj_topology_split_facts){NAN, NAN, NAN};
    return BJ_OK;
}

bj_status bj_topology_draw(bj_topology_picture *picture, uint64_t seed, bj_error *error) {
    picture->not_a_tree = picture->groups->not_a_tree;
    BJ_TRY(picture->by_blocks ? bj_topology_split_cliques(picture, seed, error) : draw_by_line(picture, seed, error));
    size_t nodes = picture->tree.count;
    picture->latency_ns = malloc(nodes * sizeof *picture->latency_ns);
    if (picture->latency_ns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu nodes", nodes);
    BJ_TRY(find_typical(picture, false, picture->latency_ns, error));
    for (size_t i = 0; i < nodes; i++)
        picture->latency_ns[i] *= picture->distance_factor;
    return picture->by_blocks ? BJ_OK : find_splits(picture, error);
}

void bj_topology_free_picture(bj_topology_picture *picture) {
    bj_topology_fell(&picture->tree);
    free(picture->latency_ns);
    free(picture->splits);
    picture->latency_ns = NULL;
    picture->splits = NULL;
}
