/* The picture as JSON. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/structured.h"
#include "probes/topology/topology_picture.h"

typedef struct {
    const bj_topology_picture *picture;
    bj_structured value;
    int *cpus; /* scratch */
    size_t *child_of;
    bool *written; /* nodes */
} writer;

/* Between the children of the root, where they are no tree: means of what was measured. */
static void write_distances(writer *out, double *sums) {
    const bj_topology_picture *picture = out->picture;
    const bj_topology_data *data = picture->data;
    size_t children = bj_topology_number_children(&picture->tree, 0, out->child_of);
    double *counts = sums + children * children;
    for (size_t i = 0; i < 2 * children * children; i++)
        sums[i] = 0;
    for (size_t i = 0; i < data->first_large; i++) {
        const bj_topology_pair *pair = &data->pairs[i];
        double ns = bj_topology_find_median(data, pair, NULL, 0);
        if (!(ns > 0))
            continue;
        size_t a = out->child_of[pair->a], b = out->child_of[pair->b];
        sums[a * children + b] += log(ns);
        counts[a * children + b]++;
        if (a != b) {
            sums[b * children + a] += log(ns);
            counts[b * children + a]++;
        }
    }
    for (size_t i = 0; i < children * children; i++)
        sums[i] = counts[i] > 0 ? exp(sums[i] / counts[i]) * picture->distance_factor : NAN;
    bj_structured_add_matrix(&out->value, "distances_ns", sums, children, children);
}

/* Of a single pair: the least and the greatest of its rounds. */
static void add_spread(writer *out) {
    const bj_topology_data *data = out->picture->data;
    double spread[2] = {NAN, NAN};
    for (size_t r = 0; r < data->rounds; r++) {
        spread[0] = fmin(spread[0], data->pairs[0].ns[r]);
        spread[1] = fmax(spread[1], data->pairs[0].ns[r]);
    }
    bj_structured_open(&out->value, "spread_ns", '[');
    for (int end = 0; end < 2; end++)
        bj_structured_add_number(&out->value, NULL, spread[end] * out->picture->distance_factor);
    bj_structured_close(&out->value, ']');
}

static void add_facts(writer *out, size_t node) {
    const bj_topology_picture *picture = out->picture;
    const bj_topology_split_facts *split = &picture->splits[node];
    if (!isnan(split->block_bytes)) {
        bj_structured_add_number(&out->value, "block_bytes", split->block_bytes);
        bj_structured_add_number(&out->value, "inside_ns", split->inside_ns);
        bj_structured_add_number(&out->value, "across_ns", split->across_ns);
    }
    if (node != 0)
        return;
    size_t cpus = picture->data->cpu_count;
    if (cpus == 2 && !isnan(picture->distance_factor))
        add_spread(out);
    bj_structured_add_number(&out->value, "pairs_measured", (double)picture->data->first_large);
    bj_structured_add_number(&out->value, "pairs_possible", (double)cpus * (double)(cpus - 1) / 2);
    if (!picture->not_a_tree)
        return;
    bj_structured_add_flag(&out->value, "tree_like", false);
    double *sums = malloc((2 * cpus * cpus) * sizeof *sums);
    out->value.failed = out->value.failed || sums == NULL;
    if (sums != NULL && !isnan(picture->distance_factor))
        write_distances(out, sums);
    free(sums);
}

/* Depth is that of the levels. */
static void write_node(writer *out, size_t node) {
    const bj_topology_picture *picture = out->picture;
    const bj_topology_tree *tree = &picture->tree;
    size_t count = 0;
    for (size_t i = 0; i < tree->cpu_count; i++)
        if (bj_topology_is_within(tree, node, i))
            out->cpus[count++] = picture->data->cpus[i];
    bj_structured_open_node(&out->value, out->cpus, count, picture->latency_ns[node]);
    add_facts(out, node);
    bool opened = false;
    for (size_t i = 0; i < tree->cpu_count; i++) {
        size_t at = tree->node_of[i], child = BJ_NO_NODE;
        for (; at != BJ_NO_NODE && at != node; at = tree->nodes[at].parent)
            child = at;
        if (at != node || child == BJ_NO_NODE || out->written[child])
            continue;
        out->written[child] = true;
        if (!opened)
            bj_structured_open(&out->value, "children", '[');
        opened = true;
        write_node(out, child);
    }
    if (opened)
        bj_structured_close(&out->value, ']');
    bj_structured_close(&out->value, '}');
}

bj_status bj_topology_write_tree(const bj_topology_picture *picture, bj_answer *answer, bj_error *error) {
    size_t cpus = picture->data->cpu_count;
    writer out = {.picture = picture,
                  .cpus = malloc((cpus + 1) * sizeof *out.cpus),
                  .child_of = malloc((cpus + 1) * sizeof *out.child_of),
                  .written = calloc(picture->tree.count, sizeof *out.written)};
    out.value.failed = out.cpus == NULL || out.child_of == NULL || out.written == NULL;
    if (!out.value.failed)
        write_node(&out, 0);
    free(out.cpus);
    free(out.child_of);
    free(out.written);
    return bj_structured_finish(&out.value, answer, error);
}

/* Bytes that one side updates in the time of two turns, at the largest block measured for the pair; NaN: none. */
static double find_gbs(const bj_topology_picture *picture, const bj_topology_pair *pair) {
    const bj_topology_data *data = picture->data;
    for (size_t i = 0; i < data->sweep_count; i++) {
        const bj_topology_sweep *sweep = &data->sweeps[i];
        size_t last = sweep->curve->x_count - 1;
        if (sweep->a == pair->a && sweep->b == pair->b)
            return sweep->curve->x[last] / (2 * bj_topology_find_sweep_median(sweep, last));
    }
    for (size_t i = data->first_large; i < data->pair_count; i++)
        if (data->pairs[i].a == pair->a && data->pairs[i].b == pair->b)
            return data->large_bytes / (2 * bj_topology_find_median(data, &data->pairs[i], NULL, 0));
    return NAN;
}

bj_status bj_topology_write_pairs(const bj_topology_picture *picture, bj_answer *answer, bj_error *error) {
    const bj_topology_data *data = picture->data;
    bj_structured value = {0};
    bj_structured_open(&value, NULL, '[');
    for (size_t i = 0; i < data->first_large; i++) {
        const bj_topology_pair *pair = &data->pairs[i];
        bj_structured_open(&value, NULL, '{');
        bj_structured_add_number(&value, "a", data->cpus[pair->a]);
        bj_structured_add_number(&value, "b", data->cpus[pair->b]);
        bj_structured_add_number(&value, "latency_ns",
                                 bj_topology_find_median(data, pair, NULL, 0) * picture->distance_factor);
        bj_structured_add_number(&value, "gbs", find_gbs(picture, pair));
        bj_structured_close(&value, '}');
    }
    bj_structured_close(&value, ']');
    return bj_structured_finish(&value, answer, error);
}
