/* Which pairs of cpus stream together: few where the tree says who stands for whom, all where there are few cpus. */
#include <stdlib.h>

#include "probes/contention/contention_round.h"

/* Branches with up to so many parts have all pairs of parts measured; of more, those of one part with all others and as
 * many others drawn at random. */
#define ALL_PAIRS_PARTS 6u
/* Of so few cpus all pairs are measured: a part of the tree need not be what collides. 20% off: 45 pairs or 91 instead
 * of 66. */
#define ALL_PAIRS_CPUS 12u
/* Of more cpus one is measured with so many others, whatever the tree says of them: who collides with it is to be as
 * the parts let expect. 20% less: a bus of two that lies across parts is missed a little oftener; more: only time. */
#define ROW_OF_CPU 48u

static bj_status add_pair(bj_contention_run *run, bj_cpu_run a, bj_cpu_run b, bj_error *error) {
    bj_part_pair *grown = realloc(run->pairs, (run->pair_count + 1) * sizeof *grown);
    if (grown == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", run->pair_count);
    run->pairs = grown;
    grown[run->pair_count++] = (bj_part_pair){a, b};
    return BJ_OK;
}

static bj_status plan_pairs_of(bj_contention_run *run, const bj_cpu_run *parts, size_t count, bj_error *error) {
    if (count <= ALL_PAIRS_PARTS) {
        for (size_t i = 0; i < count; i++)
            for (size_t j = i + 1; j < count; j++)
                BJ_TRY(add_pair(run, parts[i], parts[j], error));
        return BJ_OK;
    }
    size_t leader = bj_random_below(&run->rounds.random, count);
    for (size_t i = 0; i < count; i++) {
        size_t a = bj_random_below(&run->rounds.random, count), b = bj_random_below(&run->rounds.random, count - 1);
        if (i != leader)
            BJ_TRY(add_pair(run, parts[leader], parts[i], error));
        BJ_TRY(add_pair(run, parts[a], parts[b < a ? b : b + 1], error));
    }
    return BJ_OK;
}

static bj_cpu_run place_of(const bj_contention_run *run, size_t who) {
    return (bj_cpu_run){bj_kit_find_cpu(&run->all.tree, run->all.cpus[who]), 1};
}

bj_status bj_contention_add_cpus(bj_contention_run *run, size_t a, size_t b, bj_error *error) {
    return add_pair(run, place_of(run, a), place_of(run, b), error);
}

static bj_status plan_all_pairs(bj_contention_run *run, bj_error *error) {
    for (size_t i = 0; i < run->all.count; i++)
        for (size_t j = i + 1; j < run->all.count; j++)
            BJ_TRY(bj_contention_add_cpus(run, i, j, error));
    return BJ_OK;
}

/* One cpu with others as they come. */
static bj_status plan_row(bj_contention_run *run, bj_error *error) {
    size_t count = run->all.count, who = bj_random_below(&run->rounds.random, count);
    size_t wanted = count - 1 < ROW_OF_CPU ? count - 1 : ROW_OF_CPU;
    size_t from = bj_random_below(&run->rounds.random, count - 1);
    for (size_t i = 0; i < wanted; i++) {
        size_t other = (from + i * (count - 1) / wanted) % (count - 1);
        BJ_TRY(bj_contention_add_cpus(run, who, other < who ? other : other + 1, error));
    }
    return BJ_OK;
}

bj_status bj_contention_plan_pairs(bj_contention_run *run, bj_error *error) {
    const bj_near_tree *tree = &run->all.tree;
    if (run->is_servet || run->all.count <= ALL_PAIRS_CPUS)
        return plan_all_pairs(run, error);
    bj_cpu_run *parts = malloc((run->all.count + 1) * sizeof *parts);
    bj_status status = BJ_OK;
    if (parts == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    for (size_t i = 0; i < tree->branch_count && status == BJ_OK; i++)
        status = plan_pairs_of(run, parts, bj_kit_list_parts(tree, tree->branches[i], parts), error);
    free(parts);
    return status == BJ_OK ? plan_row(run, error) : status;
}
