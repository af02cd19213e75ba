#include "probes/contention/contention_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/contention/contention_constants.h"
#include "probes/contention/contention_hidden.h"

/* A class of pairs of about the same rate, as a share of what the two get alone. */
typedef struct {
    double sum, least, most;
    size_t count;
} rate_class;

typedef struct {
    const bj_contention_samples *read;
    const size_t *rounds;
    size_t round_count;
    double gap;
    double *shares; /* of each pair */
    rate_class *classes;
    size_t class_count;
    bj_contention *found;
} search;

/* What a look at one branch after the other needs. */
typedef struct {
    bj_cpu_run *parts;
    size_t *group_of; /* by part */
    bool *is_level;   /* by branch */
} crowd_room;

double bj_contention_find_gap(const bj_contention_samples *read) {
    return fmax(LEAST_GAP, NOISE_SIGMAS * read->sigma); /* LEAST_GAP where sigma is NaN */
}

static double mean_of(const rate_class *of) {
    return of->sum / (double)of->count;
}

static int compare_classes(const void *a, const void *b) {
    double left = mean_of(a), right = mean_of(b);
    return (left > right) - (left < right);
}

/* Classes of bins, the nearest joined until none are nearer than the gap. */
static void join_near(search *all) {
    while (all->class_count > 1) {
        size_t nearest = 0;
        double least = INFINITY;
        for (size_t i = 0; i + 1 < all->class_count; i++) {
            double apart = log(mean_of(&all->classes[i + 1]) / mean_of(&all->classes[i]));
            nearest = apart < least ? i : nearest;
            least = fmin(apart, least);
        }
        if (least > all->gap)
            return;
        rate_class *kept = &all->classes[nearest], *gone = kept + 1;
        *kept = (rate_class){kept->sum + gone->sum, kept->least, gone->most, kept->count + gone->count};
        memmove(gone, gone + 1, (all->class_count - nearest - 2) * sizeof *gone);
        all->class_count--;
    }
}

static void add_to_bin(search *all, double share) {
    double bin = floor(log(share) / BIN);
    size_t i = 0;
    while (i < all->class_count && floor(log(all->classes[i].least) / BIN) != bin)
        i++;
    if (i == all->class_count)
        all->classes[all->class_count++] = (rate_class){0, share, share, 0};
    rate_class *to = &all->classes[i];
    *to = (rate_class){to->sum + share, fmin(to->least, share), fmax(to->most, share), to->count + 1};
}

static void find_shares(search *all) {
    const bj_contention_samples *read = all->read;
    for (size_t i = 0; i < read->pair_count; i++) {
        const bj_contention_point *pair = &read->pairs[i];
        double alone = (read->alone_gbs[pair->a] + read->alone_gbs[pair->b]) / 2;
        all->shares[i] = bj_contention_find_median(read, pair, all->rounds, all->round_count) / alone;
        if (!(all->shares[i] > 0))
            all->shares[i] = 1;
    }
}

static void classify(search *all) {
    find_shares(all);
    for (size_t i = 0; i < all->read->pair_count; i++)
        add_to_bin(all, all->shares[i]);
    qsort(all->classes, all->class_count, sizeof *all->classes, compare_classes);
    join_near(all);
}

/* Figure 6: in the order of the pairs, each joins the first rate that is similar to its own. */
static void classify_first_come(search *all) {
    find_shares(all);
    for (size_t i = 0; i < all->read->pair_count; i++) {
        size_t c = 0;
        double share = all->shares[i];
        while (c < all->class_count && fabs(share / all->classes[c].sum - 1) > SERVET_SIMILAR)
            c++;
        if (c == all->class_count)
            all->classes[all->class_count++] = (rate_class){share, share, share, 1};
        rate_class *to = &all->classes[c];
        *to = (rate_class){to->sum, fmin(to->least, share), fmax(to->most, share), 1};
    }
    qsort(all->classes, all->class_count, sizeof *all->classes, compare_classes);
}

static void join_parts(const bj_cpus *all, const bj_contention_point *pair, size_t *group_of) {
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < pair->parts[p].count; i++)
            bj_kit_join(group_of, all->count, pair->a, all->index_at[pair->parts[p].first + i]);
}

static void find_largest(const bj_cpus *all, bj_contention_level *level) {
    level->size = 0;
    for (size_t i = 0; i < all->count; i++) {
        size_t size = 0;
        for (size_t j = i; level->group_of[i] == i && j < all->count; j++)
            size += level->group_of[j] == i;
        if (size > level->size) {
            level->size = size;
            level->lowest = i;
        }
    }
}

/* The last level's groups become those of the level before. */
static void start_level(bj_contention *found, size_t count) {
    bj_contention_level *level = &found->levels[found->count - 1];
    if (found->count == 1)
        bj_kit_part_all(level->group_of, count);
    else
        memcpy(level->group_of, level[-1].group_of, count * sizeof *level->group_of);
}

/* Starts as a copy of the level before. NULL: no memory, or too many levels. */
static bj_contention_level *add_level(search *all, bj_error *error) {
    size_t count = all->read->all.count;
    bj_contention *found = all->found;
    if (found->count == BJ_CONTENTION_LEVELS_MAX)
        return NULL;
    bj_contention_level *level = &found->levels[found->count];
    *level = (bj_contention_level){.group_of = malloc((count + 1) * sizeof *level->group_of), .gbs = NAN};
    if (level->group_of == NULL) {
        (void)bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
        return NULL;
    }
    found->count++;
    start_level(found, count);
    return level;
}

/* The last level counts only if its groups differ from those before. */
static bool keep_level(search *all) {
    size_t count = all->read->all.count;
    bj_contention *found = all->found;
    bj_contention_level *level = &found->levels[found->count - 1];
    find_largest(&all->read->all, level);
    bool is_new = level->size > 1 && (found->count == 1 || memcmp(level->group_of, level[-1].group_of,
                                                                  count * sizeof *level->group_of) != 0);
    if (!is_new) {
        free(level->group_of);
        found->count--;
    }
    return is_new;
}

/* Groups whose own pairs do not collide, but for a few that were disturbed, are not what parts let expect. */
static bool are_contradicted(const search *all, const bj_contention_level *level, double most) {
    const bj_contention_samples *read = all->read;
    size_t within = 0, against = 0;
    for (size_t i = 0; i < read->pair_count; i++)
        if (level->group_of[read->pairs[i].a] == level->group_of[read->pairs[i].b]) {
            within++;
            against += all->shares[i] > most;
        }
    return (double)against > MOST_ASTRAY * (double)within;
}

static void join_class(const search *all, const rate_class *of, bool by_parts, bj_contention_level *level) {
    const bj_contention_samples *read = all->read;
    for (size_t i = 0; i < read->pair_count; i++) {
        if (all->shares[i] > of->most)
            continue;
        if (by_parts)
            join_parts(&read->all, &read->pairs[i], level->group_of);
        else
            bj_kit_join(level->group_of, read->all.count, read->pairs[i].a, read->pairs[i].b);
    }
}

/* Where the tree's parts are not what collides, pairs stand for themselves alone. */
static bj_status find_pair_levels(search *all, double limit, bj_error *error) {
    const bj_contention_samples *read = all->read;
    for (size_t c = 0; c < all->class_count && mean_of(&all->classes[c]) < limit; c++) {
        const rate_class *of = &all->classes[c];
        if (all->found->count == BJ_CONTENTION_LEVELS_MAX)
            break;
        bj_contention_level *level = add_level(all, error);
        if (level == NULL)
            return BJ_ERR_RESOURCE;
        join_class(all, of, true, level);
        bool contradicted = are_contradicted(all, level, of->most);
        if (contradicted) {
            start_level(all->found, read->all.count);
            join_class(all, of, false, level);
            contradicted = are_contradicted(all, level, of->most);
        }
        level->gbs = mean_of(of) * read->reference_gbs;
        all->found->hides_groups = (keep_level(all) && contradicted) || all->found->hides_groups;
    }
    return BJ_OK;
}

/* ---- crowds */

static bool is_within(bj_cpu_run inner, bj_cpu_run outer) {
    return inner.first >= outer.first && inner.first + inner.count <= outer.first + outer.count;
}

double bj_contention_find_total(const bj_contention_samples *read, bj_cpu_run run, const size_t *rounds,
                                size_t round_count) {
    if (run.count == 1)
        return read->alone_gbs[read->all.index_at[run.first]];
    for (size_t i = 0; i < read->crowd_count; i++)
        if (read->crowds[i].branch.first == run.first && read->crowds[i].branch.count == run.count)
            return bj_contention_find_median(read, &read->crowds[i], rounds, round_count);
    if (run.count > 2)
        return NAN;
    size_t a = read->all.index_at[run.first], b = read->all.index_at[run.first + 1];
    for (size_t i = 0; i < read->pair_count; i++)
        if ((read->pairs[i].a == a && read->pairs[i].b == b) || (read->pairs[i].a == b && read->pairs[i].b == a))
            return 2 * bj_contention_find_median(read, &read->pairs[i], rounds, round_count);
    return read->alone_gbs[a] + read->alone_gbs[b];
}

static double find_total(const search *all, bj_cpu_run run) {
    return bj_contention_find_total(all->read, run, all->rounds, all->round_count);
}

/* What the groups that pairs show let expect of a branch: a pair that collides fills what its group shares. */
static double expect_by_groups(const search *all, bj_cpu_run branch) {
    const bj_cpus *cpus = &all->read->all;
    double least = INFINITY;
    for (size_t l = 0; l < all->found->count && !isnan(all->found->levels[l].gbs); l++) {
        const bj_contention_level *level = &all->found->levels[l];
        double sum = 0;
        for (size_t group = 0; group < cpus->count; group++) {
            double alone = 0;
            for (size_t i = 0; i < branch.count; i++)
                if (level->group_of[cpus->index_at[branch.first + i]] == group)
                    alone += all->read->alone_gbs[cpus->index_at[branch.first + i]];
            sum += fmin(alone, 2 * level->gbs);
        }
        least = fmin(least, sum);
    }
    return least;
}

/* Whether the branch as a whole holds its parts back, and nothing around it does so as much. */
static bool is_narrow(const search *all, bj_cpu_run branch, bj_cpu_run *parts) {
    const bj_near_tree *tree = &all->read->all.tree;
    double total = find_total(all, branch), sum = 0;
    size_t count = bj_kit_list_parts(tree, branch, parts);
    for (size_t i = 0; i < count; i++)
        sum += find_total(all, parts[i]);
    bool narrow = total < (1 - all->gap) * fmin(sum, expect_by_groups(all, branch));
    for (size_t i = 0; narrow && i < tree->branch_count; i++)
        if (is_within(branch, tree->branches[i]) && tree->branches[i].count > branch.count)
            narrow = !(find_total(all, tree->branches[i]) <= (1 + all->gap) * total);
    return narrow;
}

/* Whether all its cpus are in one group of the outermost level so far. */
static bool is_known(const search *all, bj_cpu_run branch) {
    const bj_contention *found = all->found;
    const bj_cpus *cpus = &all->read->all;
    if (found->count == 0)
        return false;
    const size_t *group_of = found->levels[found->count - 1].group_of;
    for (size_t i = 1; i < branch.count; i++)
        if (group_of[cpus->index_at[branch.first + i]] != group_of[cpus->index_at[branch.first]])
            return false;
    return true;
}

static void check_halves(search *all, bj_cpu_run branch) {
    for (size_t i = 0; i < all->read->half_count; i++) {
        const bj_contention_point *half = &all->read->halves[i];
        if (half->branch.first != branch.first || half->branch.count != branch.count)
            continue;
        /* The least of the rounds: each has another draw. */
        for (size_t r = 0; r < half->curve->round_count; r++)
            if (half->curve->rounds[r][half->point] < HALF_LEAST - all->gap)
                all->found->hides_groups = true;
    }
}

static bj_status open_crowd_level(search *all, bj_contention_level **level, bj_error *error) {
    if (*level == NULL && all->found->count < BJ_CONTENTION_LEVELS_MAX && (*level = add_level(all, error)) == NULL)
        return BJ_ERR_RESOURCE;
    return BJ_OK;
}

static void join_run(const search *all, bj_contention_level *level, bj_cpu_run run, size_t with) {
    const bj_cpus *cpus = &all->read->all;
    for (size_t i = 0; level != NULL && i < run.count; i++)
        bj_kit_join(level->group_of, cpus->count, with, cpus->index_at[run.first + i]);
}

/* Whether pairs have already shown groups of parts of this branch. */
static bool has_groups(const search *all, const bj_cpu_run *parts, size_t count) {
    const bj_contention *found = all->found;
    const bj_cpus *cpus = &all->read->all;
    const size_t *group_of = found->count > 0 ? found->levels[found->count - 1].group_of : NULL;
    for (size_t a = 0; group_of != NULL && a < count; a++)
        for (size_t b = a + 1; b < count; b++)
            if (group_of[cpus->index_at[parts[a].first]] == group_of[cpus->index_at[parts[b].first]])
                return true;
    return false;
}

/* Groups inside one branch that the tree lacks; *explains: they are all that holds it back. */
static bj_status join_hidden(search *all, bj_cpu_run branch, const crowd_room *room, bj_contention_level **level,
                             bool *explains, bj_error *error) {
    const bj_cpus *cpus = &all->read->all;
    bj_contention_hidden hidden = {.group_of = room->group_of};
    size_t count = bj_kit_list_parts(&cpus->tree, branch, room->parts);
    *explains = false;
    if (!has_groups(all, room->parts, count))
        BJ_TRY(bj_contention_find_hidden(all->read, branch, room->parts, count, all->rounds, all->round_count, &hidden,
                                         error));
    all->found->hides_groups = all->found->hides_groups || hidden.contradicts;
    if (hidden.count == 0) {
        check_halves(all, branch);
        return BJ_OK;
    }
    BJ_TRY(open_crowd_level(all, level, error));
    for (size_t p = 0; p < count; p++)
        join_run(all, *level, room->parts[p], cpus->index_at[room->parts[hidden.group_of[p]].first]);
    *explains = find_total(all, branch) >= (1 - all->gap) * hidden.total_gbs;
    return BJ_OK;
}

/* Branches of one size are one level, and groups hidden in them another, within it. */
static bj_status find_crowd_level(search *all, size_t size, const crowd_room *room, bj_error *error) {
    const bj_cpus *cpus = &all->read->all;
    bj_contention_level *hidden = NULL, *level = NULL;
    for (size_t b = 0; b < cpus->tree.branch_count; b++) {
        bj_cpu_run branch = cpus->tree.branches[b];
        room->is_level[b] = branch.count == size && !is_known(all, branch) && is_narrow(all, branch, room->parts);
    }
    for (size_t b = 0; b < cpus->tree.branch_count; b++) {
        bool explains = false;
        if (room->is_level[b])
            BJ_TRY(join_hidden(all, cpus->tree.branches[b], room, &hidden, &explains, error));
        room->is_level[b] = room->is_level[b] && !explains;
    }
    if (hidden != NULL)
        (void)keep_level(all);
    for (size_t b = 0; b < cpus->tree.branch_count; b++) {
        bj_cpu_run branch = cpus->tree.branches[b];
        if (!room->is_level[b])
            continue;
        BJ_TRY(open_crowd_level(all, &level, error));
        join_run(all, level, branch, cpus->index_at[branch.first]);
    }
    if (level != NULL)
        (void)keep_level(all);
    return BJ_OK;
}

/* From the smallest branches on. */
static bj_status find_crowd_levels(search *all, bj_error *error) {
    const bj_cpus *cpus = &all->read->all;
    crowd_room room = {.parts = malloc((cpus->count + 1) * sizeof *room.parts),
                       .group_of = malloc((cpus->count + 1) * sizeof *room.group_of),
                       .is_level = malloc((cpus->tree.branch_count + 1) * sizeof *room.is_level)};
    bj_status status = BJ_OK;
    if (room.parts == NULL || room.group_of == NULL || room.is_level == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", cpus->count);
    for (size_t size = 3; size <= cpus->count && status == BJ_OK; size++)
        status = find_crowd_level(all, size, &room, error);
    free(room.parts);
    free(room.group_of);
    free(room.is_level);
    return status;
}

bj_status bj_contention_find_levels(const bj_contention_samples *read, const size_t *rounds, size_t round_count,
                                    bool is_servet, bj_contention *found, bj_error *error) {
    search all = {.read = read,
                  .rounds = rounds,
                  .round_count = round_count,
                  .gap = bj_contention_find_gap(read),
                  .shares = malloc((read->pair_count + 1) * sizeof *all.shares),
                  .classes = malloc((read->pair_count + 1) * sizeof *all.classes),
                  .found = found};
    *found = (bj_contention){0};
    bj_status status = BJ_OK;
    if (all.shares == NULL || all.classes == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", read->pair_count);
    } else if (is_servet) {
        classify_first_come(&all);
        status = find_pair_levels(&all, 1 - SERVET_SIMILAR, error);
    } else {
        classify(&all);
        status = find_pair_levels(&all, 1 - all.gap, error);
        if (status == BJ_OK)
            status = find_crowd_levels(&all, error);
    }
    free(all.shares);
    free(all.classes);
    if (status != BJ_OK)
        bj_contention_free_levels(found);
    return status;
}

void bj_contention_free_levels(bj_contention *found) {
    for (size_t i = 0; i < found->count; i++)
        free(found->levels[i].group_of);
    *found = (bj_contention){0};
}
