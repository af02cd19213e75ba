#include "probes/kit/estimate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/spells.h"
#include "stats/quantile.h"

/* So many samples are looked at in some seconds. */
#define RESAMPLED_SAMPLES 2e7
/* The least that leave out one replicate in twenty. */
#define RESAMPLES_LEAST 20.0

size_t bj_kit_afford_resamples(size_t samples) {
    return (size_t)fmax(RESAMPLES_LEAST, fmin(BJ_KIT_RESAMPLES, RESAMPLED_SAMPLES / (double)(samples + 1)));
}

/* The share of the resamples of which the replicate is within the tolerance of the value, or the same whole number. */
static double share_alike(const bj_estimate *estimate, bool whole, const double *replicates, size_t count,
                          size_t resamples) {
    size_t alike = 0;
    for (size_t i = 0; i < count; i++)
        alike += whole ? round(replicates[i]) == round(estimate->value)
                       : fabs(replicates[i] - estimate->value) <= estimate->tolerance * fabs(estimate->value);
    return (double)alike / (double)resamples;
}

static void ask_single_rounds(const bj_estimate_request *request, double *of_round, double *scratch, double *single) {
    static const double fractions[BJ_SINGLE_COUNT] = {0, 0.1, 0.9, 1};
    for (size_t r = 0; r < request->rounds; r++)
        scratch[r] = of_round[r] = request->statistic(request->context, &r, 1);
    size_t count = bj_stats_sort_samples(scratch, request->rounds);
    for (size_t i = 0; i < BJ_SINGLE_COUNT; i++)
        single[i] = bj_stats_quantile_sorted(scratch, count, fractions[i]);
}

bj_status bj_kit_estimate(const bj_estimate_request *request, bj_estimate *estimate, bj_error *error) {
    size_t resamples = request->resamples > 0 ? request->resamples : BJ_KIT_RESAMPLES;
    *estimate =
        (bj_estimate){.value = NAN, .interval = {NAN, NAN}, .tolerance = request->tolerance, .rounds = request->rounds};
    size_t *all = malloc((request->rounds + 1) * sizeof *all);
    double *scratch = malloc(2 * (request->rounds + 1) * sizeof *scratch), *of_round = scratch + request->rounds;
    bj_bootstrap bootstrap = {0};
    bj_status status = BJ_OK;
    if (all == NULL || scratch == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", request->rounds);
        goto done;
    }
    for (size_t i = 0; i < request->rounds; i++)
        all[i] = i;
    ask_single_rounds(request, of_round, scratch, estimate->single);
    status = bj_stats_bootstrap_rounds(request->rounds, resamples, request->seed, request->statistic, request->context,
                                       &bootstrap, error);
    /* All rounds last: what the statistic leaves in its context is then of them. */
    if (status == BJ_OK && request->rounds > 0)
        estimate->value = request->statistic(request->context, all, request->rounds);
    if (!isnan(estimate->value)) {
        estimate->interval[0] = fmin(estimate->value, bootstrap.low); /* fmin passes over NaN */
        estimate->interval[1] = fmax(estimate->value, bootstrap.high);
        estimate->support =
            share_alike(estimate, request->whole, bootstrap.replicates, bootstrap.replicate_count, resamples);
        status = bj_kit_heed_spells(request, of_round, estimate, error);
    }
done:
    bj_stats_free_bootstrap(&bootstrap);
    free(all);
    free(scratch);
    return status;
}

typedef struct {
    const double *of_round;
    double quantile;
    double *scratch;
} values_context;

static double quantile_of_values(void *context, const size_t *index, size_t count) {
    const values_context *c = context;
    for (size_t i = 0; i < count; i++)
        c->scratch[i] = c->of_round[index[i]];
    return bj_stats_quantile(c->scratch, count, c->quantile);
}

/* `request` has the rounds and where they are from. */
static bj_status estimate_quantile(const double *of_round, double quantile, bj_estimate_request *request,
                                   bj_estimate *estimate, bj_error *error) {
    values_context context = {of_round, quantile, malloc((request->rounds + 1) * sizeof(double))};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", request->rounds);
    request->statistic = quantile_of_values;
    request->context = &context;
    bj_status status = bj_kit_estimate(request, estimate, error);
    free(context.scratch);
    return status;
}

bj_status bj_kit_estimate_values(const double *of_round, size_t count, double quantile, double tolerance, uint64_t seed,
                                 bj_estimate *estimate, bj_error *error) {
    bj_estimate_request request = {.rounds = count, .seed = seed, .tolerance = tolerance};
    return estimate_quantile(of_round, quantile, &request, estimate, error);
}

/* What a round says: a quantile of so many points from the first on; NaN: none of them. */
static double read_round(const double *round, size_t first, size_t points, double quantile, double *scratch) {
    memcpy(scratch, round + first, points * sizeof *scratch);
    return bj_stats_quantile(scratch, points, quantile);
}

static bj_status estimate_points(const bj_curve *curve, size_t first, size_t points, double quantile_of_round,
                                 double quantile, bj_estimate_request request, bj_estimate *estimate, bj_error *error) {
    double *of_round = malloc((curve->round_count + points + 1) * sizeof *of_round);
    size_t *round_of = malloc((curve->round_count + 1) * sizeof *round_of);
    bj_status status = BJ_OK;
    if (of_round == NULL || round_of == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    for (size_t r = 0; status == BJ_OK && r < curve->round_count; r++) {
        double value = read_round(curve->rounds[r], first, points, quantile_of_round, of_round + curve->round_count);
        if (isnan(value))
            continue;
        round_of[request.rounds] = r;
        of_round[request.rounds++] = value;
    }
    request.curve = curve;
    request.round_of = round_of;
    if (status == BJ_OK)
        status = estimate_quantile(of_round, quantile, &request, estimate, error);
    free(of_round);
    free(round_of);
    return status;
}

bj_status bj_kit_estimate_point(const bj_curve *curve, size_t point, double quantile, double tolerance, uint64_t seed,
                                bj_estimate *estimate, bj_error *error) {
    const bj_estimate_request request = {.seed = seed, .tolerance = tolerance};
    return estimate_points(curve, point, 1, 0.5, quantile, request, estimate, error);
}

bj_status bj_kit_estimate_rounds(const bj_curve *curve, double quantile_of_round, double quantile, double tolerance,
                                 uint64_t seed, bj_estimate *estimate, bj_error *error) {
    const bj_estimate_request request = {.seed = seed, .tolerance = tolerance};
    return estimate_points(curve, 0, curve->x_count, quantile_of_round, quantile, request, estimate, error);
}

void bj_kit_take_replicates(bj_estimate *estimate, double *replicates, size_t count, size_t resamples) {
    double tail = bj_stats_expand_percentile(estimate->rounds);
    count = bj_stats_sort_samples(replicates, count);
    estimate->interval[0] = fmin(estimate->value, bj_stats_quantile_sorted(replicates, count, tail));
    estimate->interval[1] = fmax(estimate->value, bj_stats_quantile_sorted(replicates, count, 1 - tail));
    estimate->support = share_alike(estimate, false, replicates, count, resamples);
}

void bj_kit_widen(bj_estimate *estimate, double low_share, double high_share) {
    estimate->interval[0] *= 1 - low_share;
    estimate->interval[1] *= 1 + high_share;
}

bj_confidence bj_kit_least(bj_confidence a, bj_confidence b) {
    return a < b ? a : b;
}

bj_confidence bj_kit_judge_support(double support) {
    return support >= BJ_SUPPORT_HIGH     ? BJ_CONFIDENCE_HIGH
           : support >= BJ_SUPPORT_MEDIUM ? BJ_CONFIDENCE_MEDIUM
                                          : BJ_CONFIDENCE_LOW;
}

bj_confidence bj_kit_judge(const bj_estimate *estimate, bj_confidence most) {
    if (estimate->rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return BJ_CONFIDENCE_LOW;
    if (bj_data_is_wide(estimate->interval, estimate->tolerance))
        most = bj_kit_least(most, BJ_CONFIDENCE_MEDIUM);
    return bj_kit_least(bj_kit_judge_support(estimate->support), most);
}

void bj_kit_fill_answer(bj_answer *answer, const bj_estimate *estimate, bj_confidence most) {
    answer->value = estimate->value;
    answer->has_interval = true;
    answer->interval[0] = estimate->interval[0];
    answer->interval[1] = estimate->interval[1];
    answer->confidence = bj_kit_judge(estimate, most);
    bj_kit_tell_spells(estimate, answer);
}

void bj_kit_call_unstable(bj_answer *answer, const char *reason, ...) {
    va_list list;
    va_start(list, reason);
    vsnprintf(answer->reason, sizeof answer->reason, reason, list);
    va_end(list);
    answer->status = BJ_ANSWER_UNSTABLE;
    answer->confidence = bj_kit_least(answer->confidence, BJ_CONFIDENCE_MEDIUM);
}

void bj_kit_refuse(bj_answer *answer, bj_answer_status status, const char *reason, ...) {
    va_list list;
    va_start(list, reason);
    vsnprintf(answer->reason, sizeof answer->reason, reason, list);
    va_end(list);
    answer->status = status;
}

bj_status bj_kit_put_answer(bj_answers *answers, const char *unit, bj_answer **answer, bj_error *error, const char *key,
                            ...) {
    char text[sizeof(*answer)->key + 1];
    va_list list;
    va_start(list, key);
    vsnprintf(text, sizeof text, key, list);
    va_end(list);
    return bj_data_put_answer(answers, text, unit, answer, error);
}

double bj_kit_find_number(const bj_answers *earlier, const char *key, ...) {
    char text[80];
    double number = NAN;
    va_list list;
    va_start(list, key);
    vsnprintf(text, sizeof text, key, list);
    va_end(list);
    return bj_data_get_number(earlier, text, &number) ? number : NAN;
}

double bj_kit_quantile_of_point(const bj_curve *curve, size_t point, const size_t *index, size_t count, double quantile,
                                double *scratch) {
    for (size_t i = 0; i < count; i++)
        scratch[i] = curve->rounds[index != NULL ? index[i] : i][point];
    return bj_stats_quantile(scratch, count, quantile);
}

bj_status bj_kit_open_summary(bj_point_summary *summary, const bj_curve *curve, bj_error *error) {
    *summary =
        (bj_point_summary){curve, malloc((curve->x_count + curve->round_count + 1) * sizeof(double)), NAN, NAN, NULL};
    if (summary->of_point == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a curve of %zu points", curve->x_count);
    summary->scratch = summary->of_point + curve->x_count;
    return BJ_OK;
}

void bj_kit_close_summary(bj_point_summary *summary) {
    free(summary->of_point);
    summary->of_point = NULL;
}

void bj_kit_summarise(bj_point_summary *summary, const size_t *index, size_t count, double quantile) {
    summary->least = summary->most = NAN;
    for (size_t i = 0; i < summary->curve->x_count; i++) {
        double value = bj_kit_quantile_of_point(summary->curve, i, index, count, quantile, summary->scratch);
        summary->of_point[i] = value;
        summary->least = fmin(summary->least, value); /* fmin and fmax pass over NaN */
        summary->most = fmax(summary->most, value);
    }
}

size_t bj_kit_list_point(const bj_curve *curve, size_t point, double *values) {
    size_t count = 0;
    for (size_t r = 0; r < curve->round_count; r++)
        if (!isnan(curve->rounds[r][point]))
            values[count++] = curve->rounds[r][point];
    return count;
}
