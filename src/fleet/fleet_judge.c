/* Which numbers of which hosts are not like the others'.
 *
 * Assumed: hosts of one kind are equal but for a spread between them, which is normal on the scale of logarithms once
 * it is measured robustly; and the spread that the fleet shows tells better than single intervals how far an equal
 * host's answer moves. So the error of a host's number is the fleet's robust spread, and more where its own interval is
 * wider than those of nine hosts in ten. Its distance from the median over that error is Student's t; Holm's rule over
 * all hosts and keys aims at any false alarm in no more than one fleet of equals in a hundred (BJ_FALSE_ALARM).
 *
 * The spread is the largest that the inner 50%, 80% and 90% of the hosts ask for, so that equals with heavy tails do
 * not alarm; a tenth of the hosts may be off in one key. `medium` promises less than its interval says (right nine
 * times in ten), and numbers that nearly all hosts agree on to the digit have no spread to go by: both must be beyond
 * the tolerance of their key as well, unless a `medium` one is twice as far off as nearly all others. Numbers that are
 * right or wrong, as ways of a cache, are only mentioned: that one measurement in a hundred may be wrong would name
 * many hosts of a large fleet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_parts.h"
#include "report/compare_constants.h"
#include "stats/quantile.h"
#include "stats/student.h"

/* Of n hosts, a robust spread is as good as a standard deviation of this share of them: 0.37 for the inner half (MAD).
 * The wider ranges are better, so this is the cautious end. */
#define SPREAD_EFFICIENCY 0.37
/* The spread is that of the inner nine tenths, whose own intervals differ in width as estimates do. Only a host with a
 * wider one than these is held to be less well known than the spread says. */
#define SPREAD_COVERS 0.9
/* More hosts than a tenth far outside of what the inner half shows: several kinds, or one fault of many. Then the
 * spread is theirs, and hides them; so it is said. Normal hosts have
 * a ratio near 1. */
#define TWO_KINDS_RATIO 5.0
/* Of a key's tolerance nobody would call a difference, however sure: half a hundredth of most times and rates. */
#define OF_TOLERANCE 0.05
/* Of `medium` one in ten may be wrong, which the spread does not hold; but hardly two in a hundred more than twice as
 * wrong as all others. */
#define OUTER_SHARE 0.98
#define BEYOND_OUTER 2.0
/* So many errors from the median the chance is above BJ_WORTH_MENTIONING, whatever the degrees of freedom. */
#define NEAR 2.0

typedef struct {
    size_t host;
    const bj_fleet_value *value;
} cell;

typedef struct {
    bj_fleet *fleet;
    bj_find_tolerance find_tolerance;
    size_t kind;
    cell *cells;    /* of all keys of one kind, key by key */
    size_t *starts; /* of each key, and the end */
    double *scratch;
    bj_error *error;
} judging;

typedef struct {
    size_t key, count;
    const cell *cells;
    double median, spread, usual_error;
    double wide_error; /* the spread holds what hosts with errors up to this do */
    double outer;      /* distance from the median that OUTER_SHARE of the hosts stay within */
    bj_tolerance tolerance;
    bool exact, two_kinds;
} key_view;

static void find_spread(const judging *judging, key_view *view) {
    double *values = judging->scratch, nearest;
    for (size_t i = 0; i < view->count; i++)
        values[i] = log(view->cells[i].value->value);
    view->spread = bj_stats_estimate_inner_spread(values, view->count, &view->median, &nearest);
    view->outer = bj_stats_quantile_sorted(values, view->count, OUTER_SHARE); /* sorted distances by now */
    view->two_kinds = nearest > 0 && view->spread > TWO_KINDS_RATIO * nearest;
    for (size_t i = 0; i < view->count; i++)
        values[i] = view->cells[i].value->error;
    view->usual_error = bj_stats_median(values, view->count);
    view->wide_error = bj_stats_quantile_sorted(values, view->count, SPREAD_COVERS);
}

/* Standard error of a host's logarithm, and what is known of it. */
static double find_error(const key_view *view, const bj_fleet_value *value, double *freedom) {
    double own = value->error, usual = view->usual_error;
    *freedom = SPREAD_EFFICIENCY * (double)view->count;
    if (!(view->spread > 0)) {
        *freedom = BJ_FREEDOM_UNKNOWN;
        return fmax(own, usual);
    }
    /* Where intervals are wider than equals differ, they are too wide by that factor, wide ones as well. */
    double scale = usual > view->spread ? view->spread / usual : 1;
    double beyond = fmax(0, own * own - view->wide_error * view->wide_error) * scale * scale;
    double of_median = BJ_MEDIAN_VARIANCE * view->spread * view->spread / (double)view->count;
    return sqrt(view->spread * view->spread + beyond + of_median);
}

static const char *find_doubt(const key_view *view, const bj_fleet_value *value, double error) {
    if (view->exact)
        return "right or wrong: one measurement in a hundred may be wrong";
    if (!(error > 0))
        return "no spread between hosts and no interval";
    double away = fabs(log(value->value) - view->median), distance = expm1(away);
    double allowed = fmax(view->tolerance.share, view->tolerance.least / value->value);
    bool unlike_any = value->high || away > BEYOND_OUTER * view->outer;
    if (distance <= OF_TOLERANCE * allowed || ((!unlike_any || !(view->spread > 0)) && distance <= allowed))
        return "within the tolerance of the key";
    return NULL;
}

static bj_status judge_host(judging *judging, const key_view *view, const cell *cell) {
    bj_fleet *fleet = judging->fleet;
    double freedom, error = find_error(view, cell->value, &freedom);
    double distance = log(cell->value->value) - view->median;
    const char *doubt = find_doubt(view, cell->value, error);
    bool may_count = !view->exact && error > 0;
    fleet->judged += may_count;
    if (!(fabs(distance) > NEAR * error)) /* most of them: no need to work the chance out */
        return BJ_OK;
    double p = error > 0 ? bj_stats_student_tail(distance / error, freedom) : 0;
    bool settled = doubt != NULL && may_count; /* within the tolerance: nothing to mention */
    if (!(p <= BJ_WORTH_MENTIONING) || settled)
        return BJ_OK;
    BJ_TRY(bj_fleet_grow((void **)&fleet->outliers, &fleet->outlier_room, fleet->outlier_count, sizeof *fleet->outliers,
                         judging->error));
    fleet->outliers[fleet->outlier_count++] = (bj_fleet_outlier){.host = cell->host,
                                                                 .key = view->key,
                                                                 .kind = judging->kind,
                                                                 .value = cell->value->value,
                                                                 .median = exp(view->median),
                                                                 .ratio = exp(distance),
                                                                 .p = p,
                                                                 .of = view->count,
                                                                 .weight = fabs(distance) / M_LN2,
                                                                 .may_count = may_count,
                                                                 .doubt = doubt};
    return BJ_OK;
}

static bj_status judge_key(judging *judging, size_t key) {
    bj_fleet *fleet = judging->fleet;
    key_view view = {.key = key,
                     .cells = judging->cells + judging->starts[key],
                     .count = judging->starts[key + 1] - judging->starts[key]};
    if (view.count < BJ_FLEET_LEAST_HOSTS)
        return BJ_OK;
    if (judging->find_tolerance != NULL)
        view.tolerance = judging->find_tolerance(fleet->keys[key].name);
    if (!(view.tolerance.share > 0) && !(view.tolerance.least > 0))
        view.tolerance.share = BJ_TOLERANCE_UNKNOWN;
    view.exact = view.tolerance.share < BJ_TOLERANCE_EXACT && view.tolerance.least < BJ_TOLERANCE_EXACT;
    find_spread(judging, &view);
    if (view.two_kinds && !view.exact && view.spread > OF_TOLERANCE * view.tolerance.share)
        BJ_TRY(bj_strings_add_note(
            &fleet->notes, judging->error,
            "%s: more than a tenth of the %zu hosts are far from the rest: several kinds of machines, "
            "or a fault of many; single hosts can hardly stand out",
            fleet->keys[key].name, view.count));
    for (size_t i = 0; i < view.count; i++)
        BJ_TRY(judge_host(judging, &view, &view.cells[i]));
    return BJ_OK;
}

/* All numbers of a kind, key by key. */
static void list_cells(judging *judging) {
    bj_fleet *fleet = judging->fleet;
    size_t *starts = judging->starts;
    memset(starts, 0, (fleet->key_count + 2) * sizeof *starts);
    for (size_t h = 0; h < fleet->count; h++)
        for (size_t i = 0; fleet->hosts[h].kind == judging->kind && i < fleet->hosts[h].count; i++)
            starts[fleet->hosts[h].values[i].key + 2]++;
    for (size_t key = 2; key < fleet->key_count + 2; key++)
        starts[key] += starts[key - 1];
    for (size_t h = 0; h < fleet->count; h++)
        for (size_t i = 0; fleet->hosts[h].kind == judging->kind && i < fleet->hosts[h].count; i++) {
            const bj_fleet_value *value = &fleet->hosts[h].values[i];
            judging->cells[starts[value->key + 1]++] = (cell){h, value};
        }
}

static bj_status judge_kind(judging *judging) {
    bj_fleet *fleet = judging->fleet;
    bj_fleet_kind *kind = &fleet->kinds[judging->kind];
    kind->judged = kind->hosts >= BJ_FLEET_LEAST_HOSTS;
    if (!kind->judged)
        return bj_strings_add_note(&fleet->notes, judging->error,
                                   "%s: %zu host%s, too few of one kind to judge (%u are needed)", kind->name,
                                   kind->hosts, kind->hosts == 1 ? "" : "s", BJ_FLEET_LEAST_HOSTS);
    list_cells(judging);
    for (size_t key = 0; key < fleet->key_count; key++)
        BJ_TRY(judge_key(judging, key));
    return BJ_OK;
}

static int compare_chances(const void *left, const void *right) {
    const bj_fleet_outlier *a = left, *b = right;
    if (a->p != b->p)
        return a->p < b->p ? -1 : 1;
    return a->host != b->host ? (a->host < b->host ? -1 : 1) : (a->key > b->key) - (a->key < b->key);
}

/* Holm's rule. What cannot count is kept as a doubt if it would pass the strictest step. */
static void mark_certain(bj_fleet *fleet) {
    size_t marked = 0, kept = 0;
    bool open = true;
    if (fleet->outlier_count > 0)
        qsort(fleet->outliers, fleet->outlier_count, sizeof *fleet->outliers, compare_chances);
    for (size_t i = 0; i < fleet->outlier_count; i++) {
        bj_fleet_outlier item = fleet->outliers[i];
        double left = (double)(fleet->judged > marked ? fleet->judged - marked : 1);
        bool passes = item.p <= BJ_FALSE_ALARM / left;
        if (item.may_count && !passes)
            open = false;
        item.certain = open && item.may_count && passes;
        marked += item.certain;
        if (item.certain || (!item.may_count && passes))
            fleet->outliers[kept++] = item;
    }
    fleet->outlier_count = kept;
    fleet->certain_count = marked;
}

typedef struct {
    const bj_fleet_outlier *item;
    double host_weight;
} ranked;

static int compare_ranks(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->item->certain != b->item->certain)
        return a->item->certain ? -1 : 1;
    if (a->host_weight != b->host_weight)
        return a->host_weight > b->host_weight ? -1 : 1;
    if (a->item->host != b->item->host)
        return a->item->host < b->item->host ? -1 : 1;
    if (a->item->weight != b->item->weight)
        return a->item->weight > b->item->weight ? -1 : 1;
    return (a->item->key > b->item->key) - (a->item->key < b->item->key);
}

/* Hosts by what is worst of them, and their numbers likewise. */
static bj_status order_outliers(bj_fleet *fleet, bj_error *error) {
    size_t count = fleet->outlier_count;
    double *weights = calloc(2 * fleet->count + 1, sizeof *weights); /* of hosts: certain ones, then doubts */
    ranked *order = calloc(count + 1, sizeof *order);
    bj_fleet_outlier *sorted = calloc(count + 1, sizeof *sorted);
    bj_status status = BJ_OK;
    if (weights == NULL || order == NULL || sorted == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu outliers", count);
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        const bj_fleet_outlier *item = &fleet->outliers[i];
        double *weight = &weights[2 * item->host + !item->certain];
        fleet->odd_hosts += item->certain && *weight == 0;
        *weight = fmax(*weight, item->weight);
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (ranked){&fleet->outliers[i], weights[2 * fleet->outliers[i].host + !fleet->outliers[i].certain]};
    if (count > 0)
        qsort(order, count, sizeof *order, compare_ranks);
    for (size_t i = 0; i < count; i++)
        sorted[i] = *order[i].item;
    free(fleet->outliers);
    fleet->outliers = sorted;
    fleet->outlier_room = count + 1;
    sorted = NULL;
done:
    free(weights);
    free(order);
    free(sorted);
    return status;
}

bj_status bj_fleet_judge(bj_fleet *fleet, bj_find_tolerance find_tolerance, bj_error *error) {
    BJ_TRY(bj_fleet_align_levels(fleet, error));
    judging judging = {.fleet = fleet, .find_tolerance = find_tolerance, .error = error};
    size_t cells = 1;
    for (size_t i = 0; i < fleet->count; i++)
        cells += fleet->hosts[i].count;
    judging.cells = calloc(cells, sizeof *judging.cells);
    judging.starts = calloc(fleet->key_count + 2, sizeof *judging.starts);
    judging.scratch = calloc(fleet->count + 1, sizeof *judging.scratch);
    bj_status status = BJ_OK;
    if (judging.cells == NULL || judging.starts == NULL || judging.scratch == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu numbers", cells);
    for (; judging.kind < fleet->kind_count && status == BJ_OK; judging.kind++)
        status = judge_kind(&judging);
    free(judging.cells);
    free(judging.starts);
    free(judging.scratch);
    if (status != BJ_OK)
        return status;
    mark_certain(fleet);
    return order_outliers(fleet, error);
}
