#include "probes/tlb/tlb_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/tlb/tlb_walks.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"

/* Rounds are summed up low, since disturbance only adds time; not at the bottom, since frames can be lucky too. */
#define LOW_OF_ROUNDS 0.25
/* As long as the lines fit the first cache frames have no part in it, but a program on the core's other thread takes
 * entries of the first TLB: only the quietest rounds show all of it. Fits: the twin takes hardly longer than ever. */
#define LOWEST_OF_ROUNDS 0.1
#define FITS_FIRST 1.1
/* A level stands out by so many standard errors: the best of some thousand candidates in pure noise reaches four. */
#define LEAST_SIGMAS 7.0
/* Of the access time: less than this the twins differ by in caches that fill up by chance. */
#define LEAST_COST 0.05
#define ROUNDS_TO_SEE 2u
#define RESAMPLES 200u
/* An answer is right within these; `high` promises that 99 times in 100, `medium` 90 times. */
#define RIGHT_SHARE 0.06
#define RIGHT_ENTRIES 2.0
#define SUPPORT_HIGH 0.99
#define SUPPORT_MEDIUM 0.9
/* A model that is off by this many standard errors around the edge does not explain it. */
#define POOR_FIT 5.0
/* Around an edge: where the ramp of a level of three ways and more lies. */
#define EDGE 1.4
/* What is left of disturbance in the quietest rounds, and of the caches in the difference of the twins. */
#define SYSTEMATIC 0.02
/* A cost is right within a tenth to either side; an interval wider than that promises less. */
#define COST_WIDTH_HIGH (1.1 / 0.9)
/* Second levels are seen from so many pages on. */
#define LOOKED_FAR 4096.0
/* Of what a miss costs with base pages: more than this inside few huge pages, and they are not held as such. */
#define INSIDE_SHARE 0.3

typedef struct {
    double pages[BJ_TLB_POINTS_MAX], twin_pages[BJ_TLB_POINTS_MAX];
    double cost[BJ_TLB_POINTS_MAX], error[BJ_TLB_POINTS_MAX], time[BJ_TLB_POINTS_MAX];
    double quantile[BJ_TLB_POINTS_MAX];          /* of the rounds, that sums them up */
    const double *const *spread, *const *packed; /* rounds */
    size_t spread_at[BJ_TLB_POINTS_MAX], packed_at[BJ_TLB_POINTS_MAX];
    size_t count, rounds;
    double *column;
} twins;

static bj_status match_twins(const bj_curve *spread, const bj_curve *packed, twins *t, bj_error *error) {
    memset(t, 0, sizeof *t);
    t->spread = (const double *const *)spread->rounds;
    t->packed = (const double *const *)packed->rounds;
    t->rounds = spread->round_count < packed->round_count ? spread->round_count : packed->round_count;
    for (size_t i = 0, k = 0; i < spread->x_count; i++) {
        while (k < packed->x_count && packed->x[k] < spread->x[i])
            k++;
        if (k == packed->x_count || packed->x[k] != spread->x[i])
            continue;
        if (t->count == BJ_TLB_POINTS_MAX)
            return bj_base_set_error(error, BJ_ERR_FAILED, "more than %u points", BJ_TLB_POINTS_MAX);
        t->spread_at[t->count] = i;
        t->packed_at[t->count] = k;
        t->pages[t->count] = spread->x[i];
        t->twin_pages[t->count++] = bj_tlb_count_twin_pages(spread->x[i]);
    }
    t->column = malloc((t->rounds > 0 ? t->rounds : 1) * sizeof *t->column);
    return t->column != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", t->rounds);
}

/* Differences within a round, since both twins met the same machine then. */
static size_t list_costs(const twins *t, size_t point, const size_t *index, size_t count) {
    size_t kept = 0;
    for (size_t r = 0; r < count; r++) {
        size_t round = index != NULL ? index[r] : r;
        double cost = t->spread[round][t->spread_at[point]] - t->packed[round][t->packed_at[point]];
        if (isfinite(cost))
            t->column[kept++] = cost;
    }
    return kept;
}

/* Of the spread twin's or the packed one's rounds (NULL: all). */
static double low_of_rounds(const twins *t, bool spread, size_t point, const size_t *index, size_t count) {
    const double *const *rounds = spread ? t->spread : t->packed;
    size_t at = spread ? t->spread_at[point] : t->packed_at[point];
    size_t kept = 0;
    for (size_t r = 0; r < count; r++) {
        size_t round = index != NULL ? index[r] : r;
        if (!isnan(rounds[round][at]))
            t->column[kept++] = rounds[round][at];
    }
    return bj_stats_quantile(t->column, kept, t->quantile[point]);
}

static void choose_quantiles(twins *t) {
    double least = INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        t->quantile[i] = LOWEST_OF_ROUNDS;
        double quiet = low_of_rounds(t, false, i, NULL, t->rounds);
        least = fmin(least, quiet);
        if (!(quiet <= FITS_FIRST * least))
            t->quantile[i] = LOW_OF_ROUNDS;
    }
}

/* Costs of the chosen rounds (NULL: all); false where a point has none. Errors are of all rounds. */
static size_t sum_up(const twins *t, const size_t *index, size_t count, bj_tlb_curve *curve, double *pages,
                     double *twin_pages, double *cost, double *error, double *time) {
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        cost[kept] = low_of_rounds(t, true, i, index, count) - low_of_rounds(t, false, i, index, count);
        if (!isfinite(cost[kept]))
            continue;
        pages[kept] = t->pages[i];
        twin_pages[kept] = t->twin_pages[i];
        time[kept] = t->time[i];
        error[kept++] = t->error[i];
    }
    *curve = (bj_tlb_curve){pages, twin_pages, time, cost, error, kept};
    return kept;
}

/* Standard errors of the points: their own, but not less than a typical point's share of its time. Few rounds agree by
 * chance. */
static void estimate_errors(twins *t) {
    choose_quantiles(t);
    double shares[BJ_TLB_POINTS_MAX];
    size_t have[BJ_TLB_POINTS_MAX], kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t times = 0;
        for (size_t r = 0; r < t->rounds; r++)
            if (!isnan(t->spread[r][t->spread_at[i]]))
                t->column[times++] = t->spread[r][t->spread_at[i]];
        t->time[i] = bj_stats_median(t->column, times);
        have[i] = list_costs(t, i, NULL, t->rounds);
        t->error[i] = bj_stats_estimate_sigma(t->column, have[i]);
        if (have[i] >= ROUNDS_TO_SEE && t->time[i] > 0)
            shares[kept++] = t->error[i] / t->time[i];
    }
    double typical = kept > 0 ? fmax(bj_stats_median(shares, kept), 0.002) : 0.05;
    for (size_t i = 0; i < t->count; i++) {
        double sigma = fmax(isnan(t->error[i]) ? 0 : t->error[i], typical * fabs(t->time[i]));
        t->error[i] = fmax(sigma / sqrt(fmax(1, (double)have[i])), 1e-30);
    }
}

static void fit_all(const twins *t, bj_tlb_levels *found) {
    static const bj_tlb_levels none;
    double pages[BJ_TLB_POINTS_MAX], twin_pages[BJ_TLB_POINTS_MAX], cost[BJ_TLB_POINTS_MAX], error[BJ_TLB_POINTS_MAX];
    double time[BJ_TLB_POINTS_MAX];
    bj_tlb_curve curve;
    *found = none;
    if (sum_up(t, NULL, t->rounds, &curve, pages, twin_pages, cost, error, time) > 2)
        bj_tlb_fit_levels(&curve, LEAST_SIGMAS, LEAST_COST, found);
}

bj_status bj_tlb_find_levels(const bj_curves *samples, const char *spread_id, const char *packed_id,
                             bj_tlb_levels *found, bj_error *error) {
    const bj_curve *spread = bj_data_find_curve(samples, spread_id), *packed = bj_data_find_curve(samples, packed_id);
    twins t = {0};
    memset(found, 0, sizeof *found);
    if (spread == NULL || packed == NULL)
        return BJ_OK;
    bj_status status = match_twins(spread, packed, &t, error);
    if (status == BJ_OK && t.rounds >= ROUNDS_TO_SEE) {
        estimate_errors(&t);
        fit_all(&t, found);
    }
    free(t.column);
    return status;
}

typedef struct {
    const bj_analyse_request *request;
    bj_answers *answers;
    const char *prefix; /* "tlb" or "tlb.huge" */
    const char *spread_id, *packed_id;
} tlb_answer;

typedef struct {
    const twins *twins;
    bj_tlb_levels found; /* of all rounds */
    double entries[BJ_TLB_LEVELS_MAX][RESAMPLES], cost[BJ_TLB_LEVELS_MAX][RESAMPLES];
    size_t done;
} resampling;

static double refit_rounds(void *argument, const size_t *index, size_t count) {
    resampling *resampling = argument;
    double pages[BJ_TLB_POINTS_MAX], twin_pages[BJ_TLB_POINTS_MAX], cost[BJ_TLB_POINTS_MAX], error[BJ_TLB_POINTS_MAX];
    double time[BJ_TLB_POINTS_MAX];
    bj_tlb_curve curve;
    if (resampling->done == RESAMPLES ||
        sum_up(resampling->twins, index, count, &curve, pages, twin_pages, cost, error, time) < 3)
        return NAN;
    bj_tlb_levels found = resampling->found;
    bj_tlb_refit_levels(&curve, &found);
    for (size_t k = 0; k < found.count; k++) {
        resampling->entries[k][resampling->done] = found.level[k].entries;
        resampling->cost[k][resampling->done] = found.level[k].cost;
    }
    resampling->done++;
    return found.count > 0 ? found.level[0].entries : NAN;
}

static bj_status put(const tlb_answer *a, size_t level, const char *name, const char *unit, bj_answer **answer,
                     bj_error *error) {
    char key[64];
    if (level == 0)
        snprintf(key, sizeof key, "%s.%s", a->prefix, name);
    else
        snprintf(key, sizeof key, "%s.L%zu.%s", a->prefix, level, name);
    bj_status status = bj_data_put_answer(a->answers, key, unit, answer, error);
    if (status != BJ_OK)
        return status;
    snprintf((*answer)->method, sizeof(*answer)->method, "paired_walks/%u", BJ_TLB_REVISION);
    bj_data_cite_curve(*answer, a->spread_id);
    bj_data_cite_curve(*answer, a->packed_id);
    return BJ_OK;
}

static bj_status put_undetermined(const tlb_answer *a, const char *reason, bj_error *error) {
    bj_answer *answer;
    bj_status status = put(a, 0, "levels", "count", &answer, error);
    if (status != BJ_OK)
        return status;
    answer->status = BJ_ANSWER_UNDETERMINED;
    answer->evidence_count = 0;
    snprintf(answer->reason, sizeof answer->reason, "%s", reason);
    return BJ_OK;
}

static void set_interval(bj_answer *answer, double *replicates, size_t count, size_t rounds) {
    double tail = bj_stats_expand_percentile(rounds);
    bj_stats_sort_samples(replicates, count);
    double low = bj_stats_quantile_sorted(replicates, count, tail);
    double high = bj_stats_quantile_sorted(replicates, count, 1 - tail);
    answer->has_interval = true;
    answer->interval[0] = fmin(answer->value, isnan(low) ? answer->value : low);
    answer->interval[1] = fmax(answer->value, isnan(high) ? answer->value : high);
}

static double share_near(const double *replicates, size_t count, double value) {
    size_t near = 0;
    for (size_t i = 0; i < count; i++)
        near += fabs(replicates[i] - value) <= fmax(RIGHT_ENTRIES, RIGHT_SHARE * value);
    return count > 0 ? (double)near / (double)count : 0;
}

/* By how much the twin's time grows across an edge: it has a fraction of the pages there, so the caches do that. */
static double rise_of_caches(const twins *t, double entries) {
    double first = NAN, last = NAN;
    for (size_t i = 0; i < t->count && t->pages[i] <= EDGE * entries; i++) {
        if (t->pages[i] < entries / EDGE)
            continue;
        last = low_of_rounds(t, false, i, NULL, t->rounds);
        first = isnan(first) ? last : first;
    }
    return last - first;
}

static bj_confidence judge_level(const twins *t, const bj_tlb_level *level, double support) {
    size_t rounds = t->rounds;
    if (rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED || support < SUPPORT_MEDIUM)
        return BJ_CONFIDENCE_LOW;
    /* A ramp as wide as that of one or two ways may be something else that fills up slowly, such as the caches with the
     * page tables, or a level that a hypervisor's own look-ups share. */
    bool plain = level->ways > 2 && level->misfit < POOR_FIT;
    /* As many lines in other sets overfill a cache a little earlier or later: where it fills up by more than the level
     * costs, the difference of the twins may be that. */
    plain = plain && !(rise_of_caches(t, level->entries) > level->cost);
    return plain && support >= SUPPORT_HIGH ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
}

/* `least` of the levels before: where one of those may be none, this one is another than its number says. */
static bj_status answer_level(const tlb_answer *a, resampling *resampling, size_t index, bj_confidence least,
                              bj_confidence *confidence, bj_error *error) {
    const bj_tlb_level *level = &resampling->found.level[index];
    size_t rounds = resampling->twins->rounds, done = resampling->done;
    bj_answer *entries, *miss;
    *confidence = judge_level(resampling->twins, level, share_near(resampling->entries[index], done, level->entries));
    if (least == BJ_CONFIDENCE_LOW)
        *confidence = BJ_CONFIDENCE_LOW;
    bj_status status = put(a, index + 1, "entries", "count", &entries, error);
    if (status != BJ_OK)
        return status;
    entries->value = level->entries;
    entries->confidence = *confidence;
    set_interval(entries, resampling->entries[index], done, rounds);
    status = put(a, index + 1, "miss_ns", "ns", &miss, error);
    if (status != BJ_OK)
        return status;
    miss->value = level->cost;
    miss->confidence = *confidence;
    set_interval(miss, resampling->cost[index], done, rounds);
    miss->interval[0] *= 1 - SYSTEMATIC;
    miss->interval[1] *= 1 + SYSTEMATIC;
    if (miss->confidence == BJ_CONFIDENCE_HIGH && miss->interval[1] > COST_WIDTH_HIGH * miss->interval[0])
        miss->confidence = BJ_CONFIDENCE_MEDIUM;
    return BJ_OK;
}

static bj_status answer_levels(const tlb_answer *a, resampling *resampling, bj_error *error) {
    const twins *t = resampling->twins;
    size_t count = resampling->found.count;
    double looked = t->pages[t->count - 1];
    bj_answer *levels;
    bj_confidence least = BJ_CONFIDENCE_HIGH;
    bj_status status = put(a, 0, "levels", "count", &levels, error);
    if (status != BJ_OK)
        return status;
    size_t at = a->answers->count - 1;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        bj_confidence confidence = BJ_CONFIDENCE_LOW;
        status = answer_level(a, resampling, i, least, &confidence, error);
        least = confidence < least ? confidence : least;
    }
    levels = &a->answers->items[at];
    levels->value = (double)count;
    levels->confidence = looked >= LOOKED_FAR ? least : BJ_CONFIDENCE_LOW;
    levels->has_interval = true;
    levels->interval[0] = (double)count;
    /* What lies beyond has not been looked at. */
    levels->interval[1] = (double)count + (looked >= LOOKED_FAR ? 0 : 1);
    return status;
}

static bj_status resample_and_answer(const tlb_answer *a, const twins *t, const bj_tlb_levels *found, bj_error *error) {
    resampling *resampling = calloc(1, sizeof *resampling);
    if (resampling == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for resamples");
    resampling->twins = t;
    resampling->found = *found;
    bj_bootstrap bootstrap = {0};
    bj_status status =
        bj_stats_bootstrap_rounds(t->rounds, RESAMPLES, a->request->seed, refit_rounds, resampling, &bootstrap, error);
    if (status == BJ_OK)
        status = answer_levels(a, resampling, error);
    bj_stats_free_bootstrap(&bootstrap);
    free(resampling);
    return status;
}

static bj_status answer_twins(const tlb_answer *a, const bj_curve *spread, const bj_curve *packed, bj_error *error) {
    twins *t = calloc(1, sizeof *t);
    bj_tlb_levels found = {0};
    char reason[200];
    if (t == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", spread->x_count);
    bj_status status = match_twins(spread, packed, t, error);
    if (status == BJ_OK && t->rounds >= ROUNDS_TO_SEE) {
        estimate_errors(t);
        fit_all(t, &found);
    }
    if (status == BJ_OK && found.count > 0) {
        status = resample_and_answer(a, t, &found, error);
    } else if (status == BJ_OK) {
        snprintf(reason, sizeof reason, "up to %.0f pages cost no more than their lines in fewer pages",
                 t->count > 0 ? t->pages[t->count - 1] : 0.0);
        status = put_undetermined(a, t->rounds < ROUNDS_TO_SEE ? "too few rounds" : reason, error);
    }
    free(t->column);
    free(t);
    return status;
}

/* What small pages inside few huge ones cost, by the largest number of them; NaN: not known. */
static double find_inside_cost(const bj_curves *samples) {
    const bj_curve *spread = bj_data_find_curve(samples, BJ_TLB_INSIDE_SPREAD);
    const bj_curve *packed = bj_data_find_curve(samples, BJ_TLB_INSIDE_PACKED);
    if (spread == NULL || packed == NULL || spread->x_count == 0 || packed->x_count != spread->x_count)
        return NAN;
    size_t last = spread->x_count - 1;
    double lowest[2] = {NAN, NAN};
    for (size_t r = 0; r < spread->round_count; r++)
        lowest[0] = fmin(lowest[0], spread->rounds[r][last]);
    for (size_t r = 0; r < packed->round_count; r++)
        lowest[1] = fmin(lowest[1], packed->rounds[r][last]);
    return lowest[0] - lowest[1];
}

static bj_status answer_huge(const bj_curves *samples, const tlb_answer *a, bj_error *error) {
    const bj_curve *spread = bj_data_find_curve(samples, a->spread_id),
                   *packed = bj_data_find_curve(samples, a->packed_id);
    if (spread == NULL || packed == NULL)
        return put_undetermined(a, "huge pages are not granted, or too few of them", error);
    double base_cost = NAN, inside = find_inside_cost(samples);
    char reason[200];
    if (bj_data_get_number(a->answers, "tlb.L1.miss_ns", &base_cost) && inside > INSIDE_SHARE * base_cost) {
        snprintf(reason, sizeof reason,
                 "small pages inside few huge ones miss as well, at %.3g ns: what backs the huge pages is smaller",
                 inside);
        return put_undetermined(a, reason, error);
    }
    return answer_twins(a, spread, packed, error);
}

bj_status bj_tlb_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    tlb_answer base = {request, answers, "tlb", BJ_TLB_SPREAD, BJ_TLB_PACKED};
    tlb_answer huge = {request, answers, "tlb.huge", BJ_TLB_HUGE_SPREAD, BJ_TLB_HUGE_PACKED};
    const bj_curve *spread = bj_data_find_curve(samples, BJ_TLB_SPREAD),
                   *packed = bj_data_find_curve(samples, BJ_TLB_PACKED);
    if (request->from_table && spread != NULL)
        return bj_tlb_analyse_table(spread, request, answers, error);
    bj_status status = spread == NULL || packed == NULL
                           ? put_undetermined(&base, "the memory limit allows too few pages", error)
                           : answer_twins(&base, spread, packed, error);
    return status == BJ_OK ? answer_huge(samples, &huge, error) : status;
}
