#include "stats/nested_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/quantile.h"

/* A level may leave out some items, such as cores that are slower with each other than with anybody; with more than a
 * quarter out it may be the odd groups that noise makes, and must stand out of all that noise makes, without a pair
 * astray. A level has several groups, but for three items, which cannot. */
static const double LEAST_COVERED = 0.75;
enum { ITEMS_OF_SEVERAL_GROUPS = 4 };
/* Pairs on the wrong side: single ones are disturbed, more are no cliques. */
static const double MOST_ASTRAY = 0.1;
/* Another jump of at least this share of the first, with few links of all between them, is the same level: a few items
 * were joined late, since their pairs were disturbed. */
static const double LATE_RISE = 0.5, FEW_LINKS = 0.05;
/* Distances that differ by less than the tenth within which a latency is promised are the same. */
static const double LEAST_RISE = 0.0953; /* ln 1.1 */
/* Chance of a level where there is none; a tree has a handful of levels to be tested. */
static const double SIGNIFICANT = 0.02;
/* Distances that differ by less are the same. */
static const double ROUNDING = 1e-6;
/* Draws of the null, fewer for many items, since each costs their square; of still more items a part is drawn. The
 * least can show a chance of 1 in 61. */
enum { DRAWS_MOST = 199, DRAWS_LEAST = 60, NULL_ITEMS_MOST = 128 };
static const double DRAW_CELLS = 4e6;

/* One level's items with their pairs, and the links between them. */
typedef struct {
    size_t count;
    bj_distance *pairs; /* between items of this level */
    size_t pair_count;
    bj_link *links;
    size_t link_count;
    size_t *root; /* scratch: union-find over the items */
    size_t *size;
} view;

typedef struct {
    size_t links;  /* made before the jump */
    double rise;   /* from the last of them to the next */
    double height; /* that over the standard deviation of distances within groups and of those between them */
    bool whole;    /* it leaves out few items */
} jump;

static size_t find_root(size_t *root, size_t item) {
    while (root[item] != item)
        item = root[item] = root[root[item]];
    return item;
}

static void restart(view *at) {
    for (size_t i = 0; i < at->count; i++) {
        at->root[i] = i;
        at->size[i] = 1;
    }
}

/* Makes the i-th link; *covered counts items in groups of several, *groups those groups. */
static void follow_link(view *at, size_t i, size_t *covered, size_t *groups) {
    size_t a = find_root(at->root, at->links[i].a), b = find_root(at->root, at->links[i].b);
    *covered += (at->size[a] == 1) + (at->size[b] == 1);
    *groups += at->size[a] == 1 && at->size[b] == 1;
    *groups -= at->size[a] > 1 && at->size[b] > 1;
    at->root[b] = a;
    at->size[a] += at->size[b];
}

static bool may_be_level(const view *at, size_t covered, size_t groups) {
    if (at->count < ITEMS_OF_SEVERAL_GROUPS)
        return groups == 1;
    return groups >= 2 && (double)covered >= LEAST_COVERED * (double)at->count;
}

/* Distances of one side: within groups, or between them. */
typedef struct {
    double count, sum, squares;
} side;

static double sum_deviations(const side *of) {
    return of->count > 0 ? fmax(of->squares - of->sum * of->sum / of->count, 0) : 0;
}

/* Jumps in the heights that may be levels (room for every link). *any: the largest of all that rise so far. */
static void list_jumps(view *at, double least_rise, jump *jumps, size_t *count, double *any) {
    size_t covered = 0, groups = 0;
    side within = {0}, across = {0};
    restart(at);
    for (size_t i = 0; i < at->link_count; i++) {
        const bj_link *link = &at->links[i];
        across.count += (double)link->pairs;
        across.sum += link->height * (double)link->pairs;
        across.squares += link->squares;
    }
    *count = 0;
    *any = 0;
    for (size_t i = 0; i + 1 < at->link_count; i++) {
        const bj_link *link = &at->links[i];
        double pairs = (double)link->pairs, sum = link->height * pairs;
        follow_link(at, i, &covered, &groups);
        within = (side){within.count + pairs, within.sum + sum, within.squares + link->squares};
        across = (side){across.count - pairs, across.sum - sum, across.squares - link->squares};
        double residual = sqrt((sum_deviations(&within) + sum_deviations(&across)) / (within.count + across.count));
        double rise = link[1].height - link->height;
        jump one = {.links = i + 1, .rise = rise, .height = rise / fmax(residual, ROUNDING)};
        *any = fmax(*any, rise >= least_rise ? one.height : 0);
        one.whole = may_be_level(at, covered, groups);
        if (one.whole || groups >= 2)
            jumps[(*count)++] = one;
    }
}

static double find_largest(const jump *jumps, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, jumps[i].whole ? jumps[i].height : 0);
    return largest;
}

static bj_status link_pairs(view *at, bj_error *error) {
    return bj_stats_link_average(at->count, at->pairs, at->pair_count, at->links, &at->link_count, error);
}

/* What jumps are worth: `draws` largest jumps of levels, and of any kind, when all distances are one normal
 * distribution. */
typedef struct {
    double *level, *any;
    size_t draws; /* 0: the limits were known */
    double limit, any_limit;
} null_draws;

/* What exceeds it is so rare that it is significant. Sorts the draws. */
static double find_limit(double *null, size_t draws) {
    size_t allowed = (size_t)(SIGNIFICANT * (double)(draws + 1)) - 1;
    bj_stats_sort_samples(null, draws);
    return null[draws - 1 - allowed];
}

static double find_p(const double *null, size_t draws, double height) {
    size_t as_high = 0;
    for (size_t i = 0; i < draws; i++)
        as_high += null[i] >= height;
    return (double)(as_high + 1) / (double)(draws + 1);
}

/* Pairs as dense as the level's among NULL_ITEMS_MOST items, in a path so that all are connected. The largest jump of
 * more items is smaller, so that this errs on the safe side. */
static void thin_out(const view *at, bj_random *random, view *null) {
    null->count = NULL_ITEMS_MOST;
    null->pair_count = (size_t)((double)at->pair_count * NULL_ITEMS_MOST / (double)at->count);
    for (size_t i = 0; i < null->pair_count; i++) {
        size_t a = i % null->count, b = i < null->count ? (i + 1) % null->count : bj_random_below(random, null->count);
        null->pairs[i] = (bj_distance){.a = a, .b = a == b ? (b + 1) % null->count : b};
    }
}

static bj_status draw_null(const view *at, jump *jumps, bj_random *random, null_draws *null, bj_error *error) {
    bj_status status = BJ_OK;
    view other = *at;
    other.pairs = malloc(at->pair_count * sizeof *other.pairs);
    other.links = malloc(at->count * sizeof *other.links);
    if (other.pairs == NULL || other.links == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu distances", at->pair_count);
    else if (at->count > NULL_ITEMS_MOST)
        thin_out(at, random, &other);
    else
        memcpy(other.pairs, at->pairs, at->pair_count * sizeof *other.pairs);
    for (size_t draw = 0; draw < null->draws && status == BJ_OK; draw++) {
        size_t count = 0;
        for (size_t i = 0; i < other.pair_count; i++)
            other.pairs[i].distance = bj_random_normal(random);
        status = link_pairs(&other, error);
        if (status == BJ_OK)
            list_jumps(&other, 0, jumps, &count, &null->any[draw]);
        null->level[draw] = find_largest(jumps, count);
    }
    free(other.pairs);
    free(other.links);
    return status;
}

/* The groups after so many links, numbered from 0 in the order of their first items: equal groups, equal numbers. */
static void take_groups(view *at, size_t links, size_t *group_of, size_t *group_count) {
    size_t covered = 0, groups = 0;
    restart(at);
    for (size_t i = 0; i < links; i++)
        follow_link(at, i, &covered, &groups);
    *group_count = 0;
    for (size_t i = 0; i < at->count; i++)
        at->size[i] = at->count; /* no number yet */
    for (size_t i = 0; i < at->count; i++) {
        size_t *number = &at->size[find_root(at->root, i)];
        if (*number == at->count)
            *number = (*group_count)++;
        group_of[i] = *number;
    }
}

/* Whether near pairs lie within groups and far ones between them, but for a few (not whole: none); fills in means. */
static bool are_cliques(const view *at, const jump *of, const size_t *group_of, bj_group_level *level) {
    size_t links = of->links;
    double most = of->whole ? MOST_ASTRAY : 0;
    double middle = (at->links[links - 1].height + at->links[links].height) / 2;
    double within = 0, within_far = 0, near = 0, near_across = 0, across = 0;
    level->inside = level->across = 0;
    for (size_t i = 0; i < at->pair_count; i++) {
        const bj_distance *pair = &at->pairs[i];
        bool together = group_of[pair->a] == group_of[pair->b], is_near = pair->distance < middle;
        within += together;
        within_far += together && !is_near;
        near += is_near;
        near_across += is_near && !together;
        across += !together;
        *(together ? &level->inside : &level->across) += pair->distance;
    }
    level->inside /= within;
    level->across /= across;
    return within_far <= most * within && near_across <= most * near;
}

/* The innermost jump (whole, or not) that the null does not show and whose groups are cliques, moved out past a few
 * late links; its groups are in group_of. NULL: none. *seen: whether the null does not show one, cliques or not. */
static const jump *choose_jump(view *at, const jump *jumps, size_t count, bool whole, const null_draws *null,
                               size_t *group_of, bj_group_level *level, bool *seen) {
    const jump *chosen = NULL;
    for (size_t i = 0; i < count; i++) {
        if (jumps[i].whole != whole || jumps[i].rise < LEAST_RISE ||
            jumps[i].height <= (whole ? null->limit : null->any_limit))
            continue;
        *seen = true;
        if (chosen != NULL && (double)(jumps[i].links - chosen->links) > FEW_LINKS * (double)at->count)
            break;
        if (chosen != NULL && jumps[i].rise < LATE_RISE * chosen->rise)
            continue;
        take_groups(at, jumps[i].links, group_of, &level->group_count);
        if (are_cliques(at, &jumps[i], group_of, level))
            chosen = &jumps[i];
    }
    if (chosen != NULL) {
        take_groups(at, chosen->links, group_of, &level->group_count);
        (void)are_cliques(at, chosen, group_of, level);
        level->p = null->draws > 0 ? find_p(whole ? null->level : null->any, null->draws, chosen->height) : NAN;
    }
    return chosen;
}

/* The items of the level before become groups, whose pairs are those of the next. */
static void step_out(view *at, const size_t *group_of, size_t group_count) {
    size_t kept = 0;
    for (size_t i = 0; i < at->pair_count; i++) {
        bj_distance pair = at->pairs[i];
        pair.a = group_of[pair.a];
        pair.b = group_of[pair.b];
        if (pair.a != pair.b)
            at->pairs[kept++] = pair;
    }
    at->pair_count = kept;
    at->count = group_count;
}

static size_t count_draws(size_t items) {
    double draws = DRAW_CELLS / ((double)items * (double)items);
    return draws > DRAWS_MOST ? DRAWS_MOST : draws < DRAWS_LEAST ? DRAWS_LEAST : (size_t)draws;
}

/* A nesting in the making. */
typedef struct {
    size_t item_count;
    const bj_distance *distances;
    size_t distance_count;
    bj_random random;
    const bj_nested_groups *like; /* another one of the same pairs, whose limits are taken; NULL: they are drawn */
    size_t searches;              /* for a level, so far */
    bj_nested_groups *nested;
} nesting;

static bj_status find_limits(nesting *all, const view *at, jump *jumps, null_draws *null, bj_error *error) {
    size_t search = all->searches++;
    if (all->like != NULL) {
        bool known = search < all->like->search_count;
        *null = (null_draws){.limit = known ? all->like->limits[search] : INFINITY,
                             .any_limit = known ? all->like->any_limits[search] : INFINITY};
        return BJ_OK;
    }
    null->draws = count_draws(at->count);
    null->level = malloc(2 * null->draws * sizeof *null->level);
    if (null->level == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to group %zu items", at->count);
    null->any = null->level + null->draws;
    BJ_TRY(draw_null(at, jumps, &all->random, null, error));
    null->limit = find_limit(null->level, null->draws);
    null->any_limit = find_limit(null->any, null->draws);
    if (search < BJ_GROUP_SEARCHES_MAX) {
        all->nested->limits[search] = null->limit;
        all->nested->any_limits[search] = null->any_limit;
        all->nested->search_count = search + 1;
    }
    return BJ_OK;
}

/* Looks for one level among the items of the view; group_of has room for them. *structure: whether there is any. */
static bj_status find_level(nesting *all, view *at, size_t *group_of, bj_group_level *level, bool *found,
                            bool *structure, bj_error *error) {
    *found = *structure = false;
    if (at->count < 3)
        return BJ_OK;
    BJ_TRY(link_pairs(at, error));
    size_t count = 0;
    double any = 0;
    null_draws null = {0};
    jump *jumps = malloc(at->count * sizeof *jumps);
    bj_status status = BJ_OK;
    if (jumps == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to group %zu items", at->count);
    else
        status = find_limits(all, at, jumps, &null, error);
    if (status == BJ_OK) {
        list_jumps(at, LEAST_RISE, jumps, &count, &any);
        *structure = any > null.any_limit;
        for (int whole = 1; whole >= 0 && !*found; whole--)
            *found = choose_jump(at, jumps, count, whole, &null, group_of, level, structure) != NULL;
    }
    free(null.level);
    free(jumps);
    return status;
}

/* Makes room for a level at that place; its groups are of the items of the level before. */
static bj_status insert_level(nesting *all, size_t place, bj_group_level level, const size_t *group_of,
                              bj_error *error) {
    bj_nested_groups *nested = all->nested;
    level.group_of = malloc(all->item_count * sizeof *level.group_of);
    if (level.group_of == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to group %zu items", all->item_count);
    for (size_t i = 0; i < all->item_count; i++)
        level.group_of[i] = group_of[place > 0 ? nested->levels[place - 1].group_of[i] : i];
    memmove(&nested->levels[place + 1], &nested->levels[place], (nested->level_count - place) * sizeof level);
    nested->levels[place] = level;
    nested->level_count++;
    return BJ_OK;
}

/* From the inside out. */
static bj_status find_outwards(nesting *all, view *at, size_t *group_of, bj_error *error) {
    bj_nested_groups *nested = all->nested;
    bool found = true;
    while (found && nested->level_count < BJ_GROUP_LEVELS_MAX) {
        bj_group_level level;
        BJ_TRY(find_level(all, at, group_of, &level, &found, &nested->not_a_tree, error));
        /* What has no distances to the others makes no level. */
        found = found && at->link_count + 1 == at->count;
        nested->not_a_tree = nested->not_a_tree && !found && at->link_count + 1 == at->count;
        if (!found)
            break;
        BJ_TRY(insert_level(all, nested->level_count, level, group_of, error));
        step_out(at, group_of, level.group_count);
    }
    return BJ_OK;
}

/* The view of what is within the groups of a level: the items are the groups of the level before. */
static void look_within(const nesting *all, size_t place, view *at) {
    const bj_nested_groups *nested = all->nested;
    const size_t *before = place > 0 ? nested->levels[place - 1].group_of : NULL;
    at->count = place > 0 ? nested->levels[place - 1].group_count : all->item_count;
    at->pair_count = 0;
    for (size_t i = 0; i < all->distance_count; i++) {
        bj_distance pair = all->distances[i];
        if (nested->levels[place].group_of[pair.a] != nested->levels[place].group_of[pair.b])
            continue;
        pair.a = before != NULL ? before[pair.a] : pair.a;
        pair.b = before != NULL ? before[pair.b] : pair.b;
        if (pair.a != pair.b)
            at->pairs[at->pair_count++] = pair;
    }
}

/* Levels that the distances between larger groups had drowned: within those, a smaller rise stands out. */
static bj_status find_inwards(nesting *all, view *at, size_t *group_of, bj_error *error) {
    bj_nested_groups *nested = all->nested;
    for (size_t place = 0; place < nested->level_count && nested->level_count < BJ_GROUP_LEVELS_MAX;) {
        bj_group_level level;
        bool found, structure;
        look_within(all, place, at);
        if (at->pair_count == 0) {
            place++;
            continue;
        }
        BJ_TRY(find_level(all, at, group_of, &level, &found, &structure, error));
        if (!found) {
            place++;
            continue;
        }
        nested->levels[place].inside = level.across;
        BJ_TRY(insert_level(all, place, level, group_of, error));
    }
    return BJ_OK;
}

static bj_status nest(nesting *all, uint64_t seed, bj_error *error) {
    bj_random_seed(&all->random, seed);
    *all->nested = (bj_nested_groups){0};
    if (all->item_count < 2 || all->distance_count == 0)
        return BJ_OK;
    view at = {.count = all->item_count,
               .pairs = malloc(all->distance_count * sizeof *at.pairs),
               .pair_count = all->distance_count,
               .links = malloc(all->item_count * sizeof *at.links),
               .root = malloc(all->item_count * sizeof *at.root),
               .size = malloc(all->item_count * sizeof *at.size)};
    size_t *group_of = malloc(all->item_count * sizeof *group_of);
    bj_status status = BJ_OK;
    if (!at.pairs || !at.links || !at.root || !at.size || !group_of) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to group %zu items", all->item_count);
    } else {
        memcpy(at.pairs, all->distances, all->distance_count * sizeof *at.pairs);
        status = find_outwards(all, &at, group_of, error);
    }
    if (status == BJ_OK)
        status = find_inwards(all, &at, group_of, error);
    free(group_of);
    free(at.pairs);
    free(at.links);
    free(at.root);
    free(at.size);
    if (status != BJ_OK)
        bj_stats_free_nested_groups(all->nested);
    return status;
}

bj_status bj_stats_nest_groups(size_t item_count, const bj_distance *distances, size_t distance_count, uint64_t seed,
                               bj_nested_groups *nested, bj_error *error) {
    nesting all = {item_count, distances, distance_count, .nested = nested};
    return nest(&all, seed, error);
}

bj_status bj_stats_nest_groups_again(size_t item_count, const bj_distance *distances, size_t distance_count,
                                     const bj_nested_groups *like, bj_nested_groups *nested, bj_error *error) {
    nesting all = {item_count, distances, distance_count, .like = like, .nested = nested};
    return nest(&all, 0, error); /* nothing is drawn */
}

void bj_stats_free_nested_groups(bj_nested_groups *nested) {
    for (size_t i = 0; i < nested->level_count; i++)
        free(nested->levels[i].group_of);
    *nested = (bj_nested_groups){0};
}
