/* All cpus of a branch at once, and some of its parts. */
#include "probes/contention/contention_round.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Draws of parts in the first round, and in each further one. Two parts of 18 are in the same one of 27 some six times
 * where a third of them fill the branch; groups that the tree lacks show themselves in every second. */
#define DRAWS_FIRST 12u
#define DRAWS_LATER 3u

typedef struct {
    size_t *who;
    double *gbs;
    size_t count;
    bool done; /* false: no memory for buffers beyond the caches */
} crowd;

static void free_crowd(crowd *c) {
    free(c->who);
    free(c->gbs);
}

static double total_of(const crowd *c) {
    double total = c->done ? 0 : NAN;
    for (size_t i = 0; c->done && i < c->count; i++)
        total += c->gbs[i];
    return total;
}

/* Freed by the caller, also after an error. */
static bj_status stream_runs(bj_contention_run *run, const bj_cpu_run *runs, size_t count, crowd *c, bj_error *error) {
    *c = (crowd){.who = malloc((run->all.count + 1) * sizeof *c->who),
                 .gbs = malloc((run->all.count + 1) * sizeof *c->gbs)};
    if (c->who == NULL || c->gbs == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < runs[i].count; j++)
            c->who[c->count++] = run->all.index_at[runs[i].first + j];
    return bj_contention_stream(run, c->who, c->count, run->kind, c->gbs, &c->done, error);
}

static bj_status record_branch(bj_contention_run *run, const char *kind, bj_cpu_run branch, double y, bj_error *error) {
    char id[48];
    bj_curve *curve;
    snprintf(id, sizeof id, "contention.%s.%zu", kind, branch.count);
    BJ_TRY(bj_contention_open_curve(run, id, kind, "cpu", &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPUS, (double)branch.count, error));
    return bj_data_record_sample(curve, bj_contention_lowest(&run->all, branch), run->rounds.round, y, error);
}

bj_status bj_contention_measure_crowds(bj_contention_run *run, bj_error *error) {
    const bj_near_tree *tree = &run->all.tree;
    for (size_t i = 0; i < tree->branch_count; i++) {
        crowd c;
        if (tree->branches[i].count < 3)
            continue;
        bj_status status = stream_runs(run, &tree->branches[i], 1, &c, error);
        if (status == BJ_OK && c.done)
            status = record_branch(run, CONTENTION_CROWD, tree->branches[i], total_of(&c), error);
        free_crowd(&c);
        BJ_TRY(status);
    }
    return BJ_OK;
}

/* ---- draws */

/* A branch of which parts are drawn, and what it and each part get. Known before the first draw is recorded: curves
 * that are added move those which were read. */
typedef struct {
    bj_cpu_run branch;
    double whole;
    struct drawn_part {
        bj_cpu_run cpus;
        double total;
    } * parts;
    size_t count;
} draw_plan;

static void shuffle_parts(bj_random *random, draw_plan *plan) {
    for (size_t i = plan->count; i > 1; i--) {
        size_t other = bj_random_below(random, i);
        struct drawn_part kept = plan->parts[i - 1];
        plan->parts[i - 1] = plan->parts[other];
        plan->parts[other] = kept;
    }
}

static bj_status record_draw(bj_contention_run *run, bj_cpu_run branch, unsigned draw, const crowd *c,
                             bj_error *error) {
    char id[64];
    bj_curve *curve;
    int lowest = bj_contention_lowest(&run->all, branch);
    snprintf(id, sizeof id, "contention.draw%u.%zu.cpu%d", draw, branch.count, lowest);
    BJ_TRY(bj_contention_open_curve(run, id, CONTENTION_DRAW, "cpu", &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPU, lowest, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPUS, (double)branch.count, error));
    for (size_t i = 0; i < c->count; i++)
        BJ_TRY(bj_data_record_sample(curve, run->all.cpus[c->who[i]], run->rounds.round, c->gbs[i], error));
    return BJ_OK;
}

/* As many of the parts as would by themselves just fill what the whole gives: fewer fill nothing, more hide which of
 * them are held back by something inside. */
static bj_status measure_draw(bj_contention_run *run, draw_plan *plan, unsigned draw, bj_cpu_run *chosen,
                              bj_error *error) {
    size_t count = 0;
    double sum = 0;
    crowd c;
    shuffle_parts(&run->rounds.random, plan);
    while (count + 1 < plan->count && (count < 2 || sum < plan->whole)) {
        sum += plan->parts[count].total;
        chosen[count] = plan->parts[count].cpus;
        count++;
    }
    bj_status status = stream_runs(run, chosen, count, &c, error);
    double share = total_of(&c) / fmin(sum, plan->whole);
    if (status == BJ_OK && !isnan(share))
        status = record_draw(run, plan->branch, draw, &c, error);
    if (status == BJ_OK && !isnan(share) && draw == 0)
        status = record_branch(run, CONTENTION_HALF, plan->branch, share, error);
    free_crowd(&c);
    return status;
}

/* Of a branch that collides as a crowd, or did in an earlier round. */
static bool is_wanted(const bj_contention_samples *read, const bj_contention *found, bj_cpu_run branch) {
    bool wanted = false;
    for (size_t i = 0; i < found->count && !wanted; i++)
        wanted = isnan(found->levels[i].gbs) && branch.count == found->levels[i].size;
    for (size_t i = 0; i < read->draw_count && !wanted; i++)
        wanted = read->draws[i].branch.first == branch.first && read->draws[i].branch.count == branch.count;
    return wanted;
}

/* `runs` has room for all cpus. */
static bj_status plan_draws(const bj_contention_samples *read, bj_cpu_run branch, bj_cpu_run *runs, draw_plan *plan,
                            bj_error *error) {
    size_t count = bj_kit_list_parts(&read->all.tree, branch, runs);
    if (count < BJ_CONTENTION_DRAWN_LEAST)
        return BJ_OK;
    *plan = (draw_plan){.branch = branch,
                        .whole = bj_contention_find_total(read, branch, NULL, 0),
                        .parts = malloc(count * sizeof *plan->parts)};
    if (plan->parts == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu parts", count);
    for (; plan->count < count; plan->count++)
        plan->parts[plan->count] =
            (struct drawn_part){runs[plan->count], bj_contention_find_total(read, runs[plan->count], NULL, 0)};
    return BJ_OK;
}

bj_status bj_contention_measure_draws(bj_contention_run *run, const bj_contention_samples *read,
                                      const bj_contention *found, bj_error *error) {
    const bj_near_tree *tree = &run->all.tree;
    unsigned draws = run->rounds.round == 0 ? DRAWS_FIRST : DRAWS_LATER;
    bj_cpu_run *runs = malloc((run->all.count + 1) * sizeof *runs);
    draw_plan *plans = calloc(tree->branch_count + 1, sizeof *plans);
    bj_status status = BJ_OK;
    if (runs == NULL || plans == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    for (size_t i = 0; i < tree->branch_count && status == BJ_OK; i++)
        if (is_wanted(read, found, tree->branches[i]))
            status = plan_draws(read, tree->branches[i], runs, &plans[i], error);
    for (size_t i = 0; i < tree->branch_count && status == BJ_OK; i++)
        for (unsigned d = 0; plans[i].count > 0 && d < draws && status == BJ_OK; d++)
            status = measure_draw(run, &plans[i], d, runs, error);
    for (size_t i = 0; plans != NULL && i < tree->branch_count; i++)
        free(plans[i].parts);
    free(plans);
    free(runs);
    return status;
}
