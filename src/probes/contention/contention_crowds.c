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

static void shuffle_parts(bj_random *random, bj_cpu_run *parts, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t other = bj_random_below(random, i);
        bj_cpu_run kept = parts[i - 1];
        parts[i - 1] = parts[other];
        parts[other] = kept;
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
static bj_status measure_draw(bj_contention_run *run, const bj_contention_samples *read, bj_cpu_run branch,
                              unsigned draw, bj_cpu_run *parts, bj_error *error) {
    size_t count = bj_kit_list_parts(&run->all.tree, branch, parts), chosen = 0;
    double whole = bj_contention_find_total(read, branch, NULL, 0), sum = 0;
    crowd c;
    shuffle_parts(&run->rounds.random, parts, count);
    while (chosen + 1 < count && (chosen < 2 || sum < whole))
        sum += bj_contention_find_total(read, parts[chosen++], NULL, 0);
    bj_status status = stream_runs(run, parts, chosen, &c, error);
    double share = total_of(&c) / fmin(sum, whole);
    if (status == BJ_OK && !isnan(share))
        status = record_draw(run, branch, draw, &c, error);
    if (status == BJ_OK && !isnan(share) && draw == 0)
        status = record_branch(run, CONTENTION_HALF, branch, share, error);
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

bj_status bj_contention_measure_draws(bj_contention_run *run, const bj_contention_samples *read,
                                      const bj_contention *found, bj_error *error) {
    const bj_near_tree *tree = &run->all.tree;
    unsigned draws = run->rounds.round == 0 ? DRAWS_FIRST : DRAWS_LATER;
    bj_cpu_run *parts = malloc((run->all.count + 1) * sizeof *parts);
    if (parts == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < tree->branch_count && status == BJ_OK; i++) {
        bool is_drawn = is_wanted(read, found, tree->branches[i]) &&
                        bj_kit_list_parts(tree, tree->branches[i], parts) >= BJ_CONTENTION_DRAWN_LEAST;
        for (unsigned d = 0; is_drawn && d < draws && status == BJ_OK; d++)
            status = measure_draw(run, read, tree->branches[i], d, parts, error);
    }
    free(parts);
    return status;
}
