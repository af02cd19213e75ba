/* Blocks from one line to beyond the last level: what separates the groups that one line tells apart, and whether the
 * largest block tells more. By the 2012 paper's way all blocks of all pairs, of which the tree is made then. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/topology/topology_groups.h"
#include "probes/topology/topology_run.h"
#include "probes/topology/topology_tree.h"

/* Pairs of each level whose blocks are swept: one may be odd. */
#define PAIRS_OF_LEVEL 2u
#define LEVELS_MOST (BJ_GROUP_LEVELS_MAX + 1u)
#define BLOCKS_MOST 40u
#define REPETITIONS 3u
/* Larger blocks take so long that one batch is enough. */
#define LONG_BLOCK_BYTES (1u << 20)
/* All pairs of so many children, at most; of more, rows of pivots first. */
#define FEW_CHILDREN 8u

typedef struct {
    unsigned rounds;
    double factor, paper_factor;         /* from block to block: two levels are rarely nearer than the latter */
    double sweep_seconds, large_seconds; /* after which nothing new begins; of all pairs only the deadline ends it */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 16, 4, 1, 0.5}, {6, 4, 4, 4, 3}, {12, 4, 2, 20, 20}};

/* A pair whose blocks are swept. */
typedef struct {
    uint32_t a, b;
    uint32_t curve; /* its number + 1, as all pairs are too many to look it up by name; 0: not known yet */
} swept;

typedef struct {
    bj_topology_run *run;
    swept *pairs;
    size_t pair_count;
    size_t blocks[BLOCKS_MOST];
    size_t block_count;
} sweeps;

static bj_status make_room(sweeps *all, size_t pairs, bj_error *error) {
    all->pairs = calloc(pairs + 1, sizeof *all->pairs);
    return all->pairs != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", pairs);
}

static void list_blocks(sweeps *all, double first_bytes, double factor) {
    const bj_topology_run *run = all->run;
    double bytes = first_bytes;
    while (all->block_count + 1 < BLOCKS_MOST && bytes < (double)run->large_bytes) {
        all->blocks[all->block_count++] = (size_t)bytes / run->line_bytes * run->line_bytes;
        bytes *= factor;
    }
    all->blocks[all->block_count++] = run->large_bytes;
}

static void name_curve(const bj_topology_run *run, const swept *pair, char *id, size_t room) {
    snprintf(id, room, "topology.blocks.%d.%d", run->cpus[pair->a], run->cpus[pair->b]);
}

static bj_status open_curve(bj_topology_run *run, swept *pair, bj_curve **curve, bj_error *error) {
    if (pair->curve == 0) {
        char id[48];
        name_curve(run, pair, id, sizeof id);
        bj_curve_axes axes = {id, "block", "bytes", "time_of_turn", "ns"};
        BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, curve, error));
        BJ_TRY(bj_data_set_attribute_text(*curve, "part", "blocks", error));
        BJ_TRY(bj_data_set_attribute_number(*curve, "cpu", run->cpus[pair->a], error));
        BJ_TRY(bj_data_set_attribute_number(*curve, "partner", run->cpus[pair->b], error));
        pair->curve = (uint32_t)(*curve - run->samples->items) + 1;
    }
    *curve = &run->samples->items[pair->curve - 1];
    return BJ_OK;
}

static bj_status measure_block(void *context, const uint32_t *points, size_t count, bj_error *error) {
    sweeps *all = context;
    bj_topology_run *run = all->run;
    swept *pair = &all->pairs[*points / all->block_count];
    size_t bytes = all->blocks[*points % all->block_count];
    bj_exchange exchange = {.cpu_a = run->cpus[pair->a], .cpu_b = run->cpus[pair->b], .bytes = bytes};
    double ns;
    bj_curve *curve;
    (void)count;
    BJ_TRY(bj_topology_exchange(run, &exchange, 1, bytes > LONG_BLOCK_BYTES ? 1 : REPETITIONS, &ns, error));
    if (isnan(ns))
        return BJ_OK;
    BJ_TRY(open_curve(run, pair, &curve, error));
    return bj_data_record_sample(curve, (double)bytes, run->rounds.round, ns, error);
}

static bj_status run_sweeps(sweeps *all, unsigned rounds, double seconds, bj_error *error) {
    bj_topology_run *run = all->run;
    if (all->pair_count == 0)
        return BJ_OK;
    char id[48];
    name_curve(run, &all->pairs[0], id, sizeof id);
    bj_round_plan plan = {.count = rounds,
                          .first_round = bj_kit_count_rounds(run->samples, id),
                          .seconds = seconds,
                          .progress_from = 0.8,
                          .progress_to = 0.95,
                          .point_count = all->pair_count * all->block_count,
                          .context = all,
                          .measure = measure_block};
    return bj_kit_run_rounds(&run->rounds, &plan, error);
}

/* Some pairs that meet at each level, at random among those measured. */
static void choose_pairs(sweeps *all, const bj_topology_data *data, const bj_topology_tree *tree, size_t levels) {
    bj_random *random = &all->run->rounds.random;
    for (size_t level = 0; level <= levels; level++) {
        size_t met = 0, first = all->pair_count;
        for (size_t i = 0; i < data->first_large; i++) {
            const bj_topology_pair *pair = &data->pairs[i];
            if (tree->nodes[bj_topology_meet(tree, pair->a, pair->b)].level != level)
                continue;
            /* Each of those met so far has the same chance to be among the chosen. */
            size_t place = met < PAIRS_OF_LEVEL ? met : bj_random_below(random, met + 1);
            met++;
            if (place >= PAIRS_OF_LEVEL)
                continue;
            all->pairs[first + place] = (swept){(uint32_t)pair->a, (uint32_t)pair->b, 0};
        }
        all->pair_count = first + (met < PAIRS_OF_LEVEL ? met : PAIRS_OF_LEVEL);
    }
}

/* Every pair that was asked. */
static void take_all_pairs(sweeps *all, const bj_topology_data *data) {
    for (size_t i = 0; i < data->first_large; i++)
        all->pairs[all->pair_count++] = (swept){(uint32_t)data->pairs[i].a, (uint32_t)data->pairs[i].b, 0};
}

/* One cpu of each child of the node, at the largest block. */
static bj_status ask_large(bj_topology_run *run, const bj_topology_tree *tree, size_t node, size_t *child_of,
                           uint32_t *cpus, bj_error *error) {
    size_t children = bj_topology_number_children(tree, node, child_of), listed = 0;
    for (size_t i = 0; i < tree->cpu_count; i++)
        if (child_of[i] == listed) /* children are numbered by their first cpus */
            cpus[listed++] = (uint32_t)i;
    if (children <= 2)
        return BJ_OK;
    size_t before = run->large_asked;
    if (children > FEW_CHILDREN)
        BJ_TRY(bj_topology_explore(run, cpus, children, BJ_TOPOLOGY_LARGE, error));
    bool is_flat = run->large_asked - before == children - 1;
    return children <= FEW_CHILDREN || (children <= BJ_TOPOLOGY_LARGE_ALL && !is_flat)
               ? bj_topology_ask_everyone(run, cpus, children, BJ_TOPOLOGY_LARGE, error)
               : BJ_OK;
}

/* Nodes in random order, the root first, as long as there is time; who is alike has one chance after the other. */
static bj_status ask_large_nodes(bj_topology_run *run, const bj_topology_tree *tree, double seconds, bj_error *error) {
    size_t *child_of = malloc(tree->cpu_count * sizeof *child_of);
    uint32_t *cpus = malloc(tree->cpu_count * sizeof *cpus), *order = malloc(tree->count * sizeof *order);
    bj_status status = BJ_OK;
    if (child_of == NULL || cpus == NULL || order == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu nodes", tree->count);
    double start_s = bj_kit_read_clock(&run->rounds);
    for (size_t i = 0; i < tree->count && status == BJ_OK; i++)
        order[i] = (uint32_t)i;
    if (status == BJ_OK)
        bj_random_shuffle_u32(&run->rounds.random, order + 1, tree->count - 1);
    for (size_t i = 0; i < tree->count && status == BJ_OK; i++) {
        if (bj_kit_read_clock(&run->rounds) - start_s > seconds || bj_probe_is_late(run->request))
            break;
        status = ask_large(run, tree, order[i], child_of, cpus, error);
    }
    free(order);
    free(cpus);
    free(child_of);
    return status;
}

/* Late rounds sweep the pairs of the first ones. */
static void take_up_sweeps(sweeps *all, const bj_topology_data *data) {
    for (size_t i = 0; i < data->sweep_count; i++) {
        const bj_topology_sweep *sweep = &data->sweeps[i];
        all->pairs[all->pair_count++] = (swept){(uint32_t)sweep->a, (uint32_t)sweep->b, 0};
        all->block_count = 0;
        for (size_t x = 0; x < sweep->curve->x_count && x < BLOCKS_MOST; x++)
            all->blocks[all->block_count++] = (size_t)sweep->curve->x[x];
    }
}

/* Which pairs at which blocks; the tree of what is known so far, unless all pairs are asked anyway. */
static bj_status plan_sweeps(sweeps *all, const bj_topology_data *data, bj_topology_groups *groups,
                             bj_topology_tree *tree, bj_error *error) {
    const bj_measure_request *request = all->run->request;
    const effort_plan *plan = &plans[request->effort];
    bool more = request->more_rounds > 0, everyone = bj_probe_is_method(request->method, BJ_TOPOLOGY_ALL_PAIRS);
    BJ_TRY(make_room(all,
                     more       ? data->sweep_count
                     : everyone ? data->first_large
                                : PAIRS_OF_LEVEL * LEVELS_MOST,
                     error));
    if (more) {
        take_up_sweeps(all, data);
    } else if (everyone) { /* one line is known already */
        list_blocks(all, (double)all->run->line_bytes * plan->paper_factor, plan->paper_factor);
        take_all_pairs(all, data);
    } else {
        BJ_TRY(bj_topology_find_groups(data, false, request->seed, groups, error));
        BJ_TRY(bj_topology_plant(&groups->nested, data->cpu_count, tree, error));
        list_blocks(all, (double)all->run->line_bytes, plan->factor);
        choose_pairs(all, data, tree, groups->nested.level_count);
    }
    return BJ_OK;
}

bj_status bj_topology_measure_blocks(bj_topology_run *run, bj_error *error) {
    const effort_plan *plan = &plans[run->request->effort];
    bool everyone = bj_probe_is_method(run->request->method, BJ_TOPOLOGY_ALL_PAIRS);
    sweeps all = {.run = run};
    bj_topology_data data;
    bj_topology_groups groups = {0};
    bj_topology_tree tree = {0};
    if (run->large_bytes <= run->line_bytes || bj_probe_is_late(run->request))
        return BJ_OK;
    BJ_TRY(bj_topology_gather(run->samples, &data, error));
    bj_status status = plan_sweeps(&all, &data, &groups, &tree, error);
    if (status == BJ_OK)
        status = run_sweeps(&all, plan->rounds, everyone ? 0 : plan->sweep_seconds, error);
    if (status == BJ_OK && tree.count > 0)
        status = ask_large_nodes(run, &tree, plan->large_seconds, error);
    free(all.pairs);
    bj_topology_fell(&tree);
    bj_topology_free_groups(&groups);
    bj_topology_free(&data);
    return status;
}
