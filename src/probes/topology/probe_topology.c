/* Which cpus are near each other, and do they differ?
 *
 * The kernel of the 2012 paper (3.1.4): two cpus update a block in turn and hand it over by a flag. One line for every
 * pair that is asked; the tree comes from its times. Of few cpus all pairs are asked. Of many, group tests find who
 * shares a first level, rows of pivots put the others together, and random pairs confirm what came out. Larger blocks
 * are for pairs that stand for each level: they say what separates its groups; the paper's own way, all_pairs, asks
 * every pair at every block. The yardstick and small walks tell kinds of cpus apart. Assumes that cpus of one group are
 * alike to all others. */
#include <math.h>
#include <stdlib.h>

#include "probes/topology/topology_answer.h"
#include "probes/topology/topology_groups.h"
#include "probes/topology/topology_kinds.h"
#include "probes/topology/topology_run.h"
#include "stats/quantile.h"

/* All pairs of up to so many cpus: 630 of them cost less than exploring would save. */
#define FEW_CPUS 36u
/* A sharer's exchange that takes so much longer than those of other sharers is none. */
#define NO_SHARER 1.5

/* Where more than one in so many is in doubt the group tests failed, and the rows have asked them all. */
#define FEW_DOUBTFUL 4u
/* Pairs of pivots for each cpu, where those are needed. */
#define MOST_PIVOT_PAIRS 4u

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {6, 8, 16};

/* Sharers of a first level are asked by one exchange with their leader; *count leaders remain, in `cpus`. What is far
 * is no sharer, and both are in doubt. */
static bj_status ask_sharers(bj_topology_run *run, const uint32_t *leader_of, bool *in_doubt, uint32_t *cpus,
                             size_t *count, bj_error *error) {
    double *ns = malloc(2 * run->cpu_count * sizeof *ns);
    size_t sharers = 0;
    bj_status status = BJ_OK;
    if (ns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->cpu_count);
    double *sorted = ns + run->cpu_count;
    for (size_t i = 0; i < run->cpu_count && status == BJ_OK; i++)
        if (leader_of[i] != i) {
            status = bj_topology_ask(run, leader_of[i], i, BJ_TOPOLOGY_PAIRS, &ns[i], error);
            sorted[sharers++] = ns[i];
        }
    double usual = bj_stats_median(sorted, sharers);
    *count = 0;
    for (size_t i = 0; i < run->cpu_count && status == BJ_OK; i++) {
        bool shares = leader_of[i] != i && ns[i] <= NO_SHARER * usual;
        if (leader_of[i] != i && !shares)
            in_doubt[i] = in_doubt[leader_of[i]] = true;
        if (!shares)
            cpus[(*count)++] = (uint32_t)i;
    }
    free(ns);
    return status;
}

/* Where what was asked so far is no tree, rows of pivots do not tell all: every pivot is asked about every other. Of
 * many that would be too much, and what remains unknown is said to be. */
static bj_status ask_pivots(bj_topology_run *run, bj_error *error) {
    bj_topology_data data;
    bj_topology_groups groups = {0};
    size_t pairs = run->pivot_count * (run->pivot_count - 1) / 2;
    BJ_TRY(bj_topology_gather(run->samples, &data, error));
    bj_status status = bj_topology_find_groups(&data, false, run->request->seed, &groups, error);
    bool no_tree = groups.not_a_tree || groups.astray > 0;
    bj_topology_free_groups(&groups);
    bj_topology_free(&data);
    if (status == BJ_OK && no_tree && pairs <= MOST_PIVOT_PAIRS * run->cpu_count)
        status = bj_topology_ask_everyone(run, run->pivots, run->pivot_count, BJ_TOPOLOGY_PAIRS, error);
    return status;
}

/* A few whose sharers were not told: they are among each other. */
static bj_status ask_doubtful(bj_topology_run *run, const bool *in_doubt, uint32_t *cpus, bj_error *error) {
    size_t count = 0;
    for (size_t i = 0; i < run->cpu_count; i++)
        if (in_doubt[i])
            cpus[count++] = (uint32_t)i;
    return count * FEW_DOUBTFUL > run->cpu_count ? BJ_OK
                                                 : bj_topology_explore(run, cpus, count, BJ_TOPOLOGY_PAIRS, error);
}

/* Many cpus: `cpus` and `leader_of` have room for all. */
static bj_status choose_few_pairs(bj_topology_run *run, uint32_t *cpus, uint32_t *leader_of, bool *in_doubt,
                                  bj_error *error) {
    size_t count = 0;
    BJ_TRY(bj_topology_find_sharers(run, leader_of, in_doubt, error));
    BJ_TRY(ask_sharers(run, leader_of, in_doubt, cpus, &count, error));
    BJ_TRY(bj_topology_explore(run, cpus, count, BJ_TOPOLOGY_PAIRS, error));
    /* Sharers of a second level that no row showed: their pivots stood alone. */
    BJ_TRY(bj_topology_find_crowded(run, cpus, &count, error));
    BJ_TRY(bj_topology_explore(run, cpus, count, BJ_TOPOLOGY_PAIRS, error));
    BJ_TRY(ask_doubtful(run, in_doubt, cpus, error));
    BJ_TRY(bj_topology_confirm(run, run->cpu_count / 2, error));
    return ask_pivots(run, error);
}

static bj_status choose_pairs(bj_topology_run *run, bj_error *error) {
    size_t count = run->cpu_count;
    uint32_t *cpus = malloc(2 * count * sizeof *cpus);
    bool *in_doubt = malloc(count * sizeof *in_doubt);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && cpus != NULL; i++)
        cpus[i] = (uint32_t)i;
    if (cpus == NULL || in_doubt == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    else if (count <= FEW_CPUS || run->request->all_pairs ||
             bj_probe_is_method(run->request->method, BJ_TOPOLOGY_ALL_PAIRS))
        status = bj_topology_ask_everyone(run, cpus, count, BJ_TOPOLOGY_PAIRS, error);
    else
        status = choose_few_pairs(run, cpus, cpus + count, in_doubt, error);
    free(in_doubt);
    free(cpus);
    return status;
}

static bj_status measure_run(bj_topology_run *run, bj_error *error) {
    unsigned rounds = rounds_of_effort[run->request->effort], more = run->request->more_rounds;
    size_t done = 0;
    for (int part = 0; part < BJ_TOPOLOGY_PARTS - 1; part++)
        for (size_t i = 0; i < run->cpu_count; i++)
            if (run->curve_of[part][i] > 0)
                done = run->samples->items[run->curve_of[part][i] - 1].round_count;
    BJ_TRY(bj_topology_measure_kinds(run, rounds, error));
    if (run->cpu_count < 2)
        return BJ_OK;
    if (more == 0) {
        BJ_TRY(choose_pairs(run, error));
        BJ_TRY(bj_kit_keep_fact(&run->rounds, BJ_TOPOLOGY_YARDSTICK, BJ_TOPOLOGY_COMPARED, 1, error));
        done = 1;
    }
    BJ_TRY(bj_topology_repeat(run, done, more > 0 ? more : rounds - 1, error));
    return bj_topology_measure_blocks(run, error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_topology_run run;
    bj_status status = bj_topology_open_run(&run, request, samples, error);
    if (status == BJ_OK)
        status = measure_run(&run, error);
    bj_topology_close_run(&run);
    return status;
}

static const bj_probe_key provides[] = {
    {"topology.tree", "", 0, 0, "locality tree of cpus: who is near whom, and what separates them", .tolerance = 0},
    {"topology.pairs", "", 0, 0, "the pairs that were measured: latency, and bandwidth where blocks were exchanged",
     .tolerance = 0},
    {"cpu.kinds", "", 0, 0, "cpus that differ in clock or first level; one entry where all are alike", .tolerance = 0},
    {0},
};
static const char *const needs[] = {"cache", "line", NULL};
static const char *const methods[] = {"exchange_groups", BJ_TOPOLOGY_ALL_PAIRS, NULL};

const bj_probe bj_probe_topology = {
    .name = "topology",
    .question = "Which cpus are near each other, and are they all alike?",
    .revision = 2,
    .compares_cpus = true,
    .provides = provides,
    .needs = needs,
    .methods = methods,
    .paper_method = BJ_TOPOLOGY_ALL_PAIRS,
    .cost_s = {2, 6, 30},
    .cost_cpu_s = {0.1, 0.2, 0.5},
    .memory_bytes = {64u << 20, 128u << 20, 256u << 20},
    .measure = measure,
    .analyse = bj_topology_analyse,
    .analyze_curve = "topology.table",
    .analyze_x_name = "cpu",
    .analyze_x_unit = "",
    .analyze_matrix = true,
};
