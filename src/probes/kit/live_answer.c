/* From the time per addition over the number of live variables to how many fit into registers; pure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/kit/live.h"
#include "probes/kit/live_constants.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/steps.h"

void bj_kit_name_live(const bj_live_set *set, size_t type, char *key) {
    snprintf(key, BJ_LIVE_KEY_ROOM, "live.%s", set->types[type]);
}

size_t bj_kit_find_spill_onset(const double *x, const double *y, size_t count, double unspilled, double part) {
    double rise = y[count - 1] - unspilled;
    if (!(rise > 0))
        return count;
    for (size_t i = 1; i < count; i++) {
        /* If everything up to x[i - 1] fits, these shares of the variables are in memory here and at the end. */
        double here = (x[i] - x[i - 1]) / x[i], at_end = (x[count - 1] - x[i - 1]) / x[count - 1];
        if (y[i] - unspilled >= part * rise * here / at_end)
            return i - 1;
    }
    return count;
}

typedef struct {
    const bj_curve *curve;
    bool biggest_step, hinge;
    /* Of the rounds that were asked last: points that have samples, low; y is made monotone, raw is not. */
    double *x, *y, *raw;
    size_t count;
    double *scratch;
} onset_context;

/* The low order statistic of a point, which is a sample; NaN: these rounds have none. */
static double find_low(const onset_context *c, size_t point, const size_t *index, size_t rounds) {
    size_t count = 0;
    for (size_t i = 0; i < rounds; i++)
        if (c->curve->rounds[index[i]][point] > 0)
            c->scratch[count++] = c->curve->rounds[index[i]][point];
    bj_stats_sort_samples(c->scratch, count);
    if (c->hinge && count > 0)
        return c->scratch[0];
    return count > 0 ? c->scratch[(size_t)fmax(ceil(LOW_OF_ROUNDS * (double)count), 1) - 1] : NAN;
}

static void sum_up_rounds(onset_context *c, const size_t *index, size_t rounds) {
    c->count = 0;
    for (size_t i = 0; i < c->curve->x_count; i++) {
        double low = find_low(c, i, index, rounds);
        if (isnan(low))
            continue;
        c->x[c->count] = c->curve->x[i];
        c->raw[c->count] = low;
        c->y[c->count++] = low;
    }
    bj_stats_enforce_monotone(c->y, c->count);
}

/* The least of many noisy points lies below the truth, by more than a cheap spill adds. Where the time had come to a
 * standstill, the median of what lies before the onset does not; NaN where it had not. */
static double find_unspilled(const onset_context *c, size_t onset) {
    size_t first = onset;
    while (first > 0 && c->x[first - 1] >= STANDSTILL_FROM * c->x[onset])
        first--;
    size_t count = onset - first + 1;
    memcpy(c->scratch, c->raw + first, count * sizeof *c->scratch);
    bj_stats_sort_samples(c->scratch, count);
    bool stands = count >= STANDSTILL_POINTS &&
                  bj_stats_quantile_sorted(c->scratch, count, HIGH_OF_POINTS) <=
                      STANDSTILL_SCATTER * bj_stats_quantile_sorted(c->scratch, count, LOW_OF_POINTS);
    return stands ? bj_stats_quantile_sorted(c->scratch, count, 0.5) : NAN;
}

/* Of the rounds that were summed up last; NaN: no spills. */
static double find_answer(const onset_context *c, double part) {
    bj_step step;
    if (c->hinge)
        return c->count < 3 ? NAN : bj_kit_find_spill_hinge(c->x, c->raw, c->count, part);
    if (c->count < 3 || c->y[c->count - 1] < c->y[0] * LEAST_RISE)
        return NAN;
    if (c->biggest_step)
        return bj_stats_find_biggest_step(c->y, c->count, &step) ? c->x[step.before] : NAN;
    size_t onset = bj_kit_find_spill_onset(c->x, c->y, c->count, c->y[0], part);
    double unspilled = onset < c->count ? find_unspilled(c, onset) : NAN;
    if (!isnan(unspilled))
        onset = bj_kit_find_spill_onset(c->x, c->y, c->count, unspilled, part);
    return onset < c->count ? c->x[onset] : NAN;
}

static double ask_rounds(void *context, const size_t *index, size_t rounds) {
    sum_up_rounds(context, index, rounds);
    return find_answer(context, ((onset_context *)context)->hinge ? HINGE_PART : PART);
}

/* Whether the time had stood still before the answer. */
static bool stands_still(const onset_context *c, double value) {
    double first = NAN, last = NAN;
    for (size_t i = 0; i < c->count && c->x[i] <= value; i++) {
        if (isnan(first) && c->x[i] >= STANDSTILL_FROM * value)
            first = c->raw[i];
        last = c->raw[i];
    }
    return first <= last * STANDSTILL;
}

static bool is_sure(const onset_context *c, double value) {
    if (c->hinge)
        return find_answer(c, HINGE_PART_LOW) == value && find_answer(c, HINGE_PART_HIGH) == value;
    return c->biggest_step ||
           (find_answer(c, PART_LOW) == value && find_answer(c, PART_HIGH) == value && !stands_still(c, value));
}

static bj_status answer_curve(const bj_curve *curve, const bj_analyse_request *request, bj_answer *answer,
                              bj_error *error) {
    size_t points = curve->x_count, rounds = curve->round_count;
    double *numbers = malloc((4 * points + rounds) * sizeof *numbers);
    if (numbers == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", points);
    onset_context context = {.curve = curve,
                             .biggest_step = request->method != NULL && strcmp(request->method, "biggest_step") == 0,
                             .hinge = request->method != NULL && strcmp(request->method, "spill_hinge") == 0,
                             .x = numbers,
                             .y = numbers + points,
                             .raw = numbers + 2 * points,
                             .scratch = numbers + 3 * points};
    bj_estimate variables;
    bj_estimate_request resampling = {.rounds = rounds,
                                      .curve = curve,
                                      .resamples = bj_kit_afford_resamples(points * rounds),
                                      .seed = request->seed,
                                      .statistic = ask_rounds,
                                      .context = &context};
    bj_status status = bj_kit_estimate(&resampling, &variables, error);
    if (status == BJ_OK && isnan(variables.value))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      points < 3 ? "too few points" : "the time does not rise with the number of variables");
    else if (status == BJ_OK)
        bj_kit_fill_answer(answer, &variables,
                           is_sure(&context, variables.value) ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM);
    free(numbers);
    return status;
}

bj_status bj_kit_answer_live(const bj_curves *samples, const char *key, const bj_analyse_request *request,
                             bj_answers *answers, bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, key);
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, key, "count", &answer, error);
    if (status != BJ_OK)
        return status;
    bj_data_cite_curve(answer, key);
    if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED))
        bj_kit_refuse(answer, BJ_ANSWER_UNSUPPORTED, "this machine has no registers for that type");
    else if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_WRONG))
        bj_kit_refuse(answer, BJ_ANSWER_FAILED, "the compiled additions return a wrong result");
    else if (curve == NULL || curve->x_count == 0)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no samples");
    else
        status = answer_curve(curve, request, answer, error);
    return status;
}
