#include "probes/kit/estimate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void ask_single_rounds(const bj_estimate_request *request, double *scratch, double *single) {
    static const double fractions[BJ_SINGLE_COUNT] = {0, 0.1, 0.9, 1};
    for (size_t r = 0; r < request->rounds; r++)
        scratch[r] = request->statistic(request->context, &r, 1);
    size_t count = bj_stats_sort_samples(scratch, request->rounds);
    for (size_t i = 0; i < BJ_SINGLE_COUNT; i++)
        single[i] = bj_stats_quantile_sorted(scratch, count, fractions[i]);
}

bj_status bj_kit_estimate(const bj_estimate_request *request, bj_estimate *estimate, bj_error *error) {
    size_t resamples = request->resamples > 0 ? request->resamples : BJ_KIT_RESAMPLES;
    *estimate =
        (bj_estimate){.value = NAN, .interval = {NAN, NAN}, .tolerance = request->tolerance, .rounds = request->rounds};
    size_t *all = malloc((request->rounds + 1) * sizeof *all);
    double *scratch = malloc((request->rounds + 1) * sizeof *scratch);
    bj_bootstrap bootstrap = {0};
    bj_status status = BJ_OK;
    if (all == NULL || scratch == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", request->rounds);
        goto done;
    }
    for (size_t i = 0; i < request->rounds; i++)
        all[i] = i;
    ask_single_rounds(request, scratch, estimate->single);
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

bj_status bj_kit_estimate_values(const double *of_round, size_t count, double quantile, double tolerance, uint64_t seed,
                                 bj_estimate *estimate, bj_error *error) {
    values_context context = {of_round, quantile, malloc((count + 1) * sizeof(double))};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", count);
    bj_estimate_request request = {
        .rounds = count, .seed = seed, .tolerance = tolerance, .statistic = quantile_of_values, .context = &context};
    bj_status status = bj_kit_estimate(&request, estimate, error);
    free(context.scratch);
    return status;
}

/* What the rounds say that have the point; how many. */
static size_t list_point(const bj_curve *curve, size_t point, double *of_round) {
    size_t count = 0;
    for (size_t r = 0; r < curve->round_count; r++)
        if (!isnan(curve->rounds[r][point]))
            of_round[count++] = curve->rounds[r][point];
    return count;
}

bj_status bj_kit_estimate_point(const bj_curve *curve, size_t point, double quantile, double tolerance, uint64_t seed,
                                bj_estimate *estimate, bj_error *error) {
    double *of_round = malloc((curve->round_count + 1) * sizeof *of_round);
    if (of_round == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    size_t count = list_point(curve, point, of_round);
    bj_status status = bj_kit_estimate_values(of_round, count, quantile, tolerance, seed, estimate, error);
    free(of_round);
    return status;
}

bj_status bj_kit_estimate_rounds(const bj_curve *curve, double quantile_of_round, double quantile, double tolerance,
                                 uint64_t seed, bj_estimate *estimate, bj_error *error) {
    double *of_round = malloc((curve->round_count + curve->x_count + 1) * sizeof *of_round);
    if (of_round == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    double *points = of_round + curve->round_count;
    size_t count = 0;
    for (size_t r = 0; r < curve->round_count; r++) {
        memcpy(points, curve->rounds[r], curve->x_count * sizeof *points);
        double value = bj_stats_quantile(points, curve->x_count, quantile_of_round);
        if (!isnan(value))
            of_round[count++] = value;
    }
    bj_status status = bj_kit_estimate_values(of_round, count, quantile, tolerance, seed, estimate, error);
    free(of_round);
    return status;
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
