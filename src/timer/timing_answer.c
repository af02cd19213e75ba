/* Samples to answers: pure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "probes/kit/estimate.h"
#include "stats/quantile.h"
#include "timer/timer_constants.h"
#include "timer/timing.h"

#define METHOD_WALL "least_wall/1"
#define METHOD_CPU "median_cpu/1"

typedef struct {
    const bj_timing_samples *a, *b; /* b NULL: the time of a */
    double *scratch;
} statistic_context;

static double quantile_of(const double *values, const size_t *index, size_t count, double fraction, double *scratch) {
    for (size_t i = 0; i < count; i++)
        scratch[i] = values[index[i]];
    return bj_stats_quantile(scratch, count, fraction);
}

/* Other processes only add to wall time, so its least is nearest to the truth; cpu time errs in both directions. */
static double time_of(const bj_timing_samples *samples, const size_t *index, size_t count, double *scratch) {
    double fraction = samples->cpu_time ? 0.5 : 0;
    return (quantile_of(samples->raw_ns, index, count, fraction, scratch) -
            quantile_of(samples->empty_ns, index, count, fraction, scratch)) /
           (double)samples->calls;
}

static double find_time(void *context, const size_t *index, size_t count) {
    const statistic_context *s = context;
    return time_of(s->a, index, count, s->scratch);
}

/* The median of the pairs: both of a pair met the same minute. */
static double find_ratio(void *context, const size_t *index, size_t count) {
    const statistic_context *s = context;
    double cost_a = NAN, cost_b = NAN;
    cost_a = quantile_of(s->a->empty_ns, index, count, 0.5, s->scratch);
    cost_b = quantile_of(s->b->empty_ns, index, count, 0.5, s->scratch);
    for (size_t i = 0; i < count; i++) {
        double a = (s->a->raw_ns[index[i]] - cost_a) / (double)s->a->calls;
        s->scratch[i] = a > 0 ? (s->b->raw_ns[index[i]] - cost_b) / (double)s->b->calls / a : NAN;
    }
    return bj_stats_median(s->scratch, count);
}

static bj_status estimate(const bj_timing_samples *a, const bj_timing_samples *b, bj_estimate *result,
                          bj_error *error) {
    statistic_context context = {.a = a, .b = b, .scratch = malloc((a->count + 1) * sizeof(double))};
    bj_estimate_request request = {.rounds = a->count,
                                   .seed = a->seed,
                                   .tolerance = BJ_TIMING_TOLERANCE,
                                   .statistic = b != NULL ? find_ratio : find_time,
                                   .context = &context};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu samples", a->count);
    bj_status status = bj_kit_estimate(&request, result, error);
    free(context.scratch);
    return status;
}

static void round_answer(bj_answer *answer) {
    answer->value = bj_data_round_number(answer->value, BJ_ANSWER_DIGITS);
    for (int i = 0; i < 2; i++)
        answer->interval[i] = bj_data_round_number(answer->interval[i], BJ_ANSWER_DIGITS);
}

/* Below the clock's step, spread over the calls, nothing can be told from nothing. */
static double find_grain(const bj_timing_samples *samples) {
    return samples->step_ns / (double)samples->calls;
}

static bj_status fill_spread(const bj_timing_samples *samples, bj_timing *timing, bj_error *error) {
    double *single = malloc((samples->count + 1) * sizeof *single);
    if (single == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu samples", samples->count);
    for (size_t i = 0; i < samples->count; i++)
        single[i] = (samples->raw_ns[i] - samples->empty_ns[i]) / (double)samples->calls;
    size_t count = bj_stats_sort_samples(single, samples->count);
    timing->least_ns = bj_stats_quantile_sorted(single, count, 0);
    timing->quartiles_ns[0] = bj_stats_quantile_sorted(single, count, 0.25);
    timing->quartiles_ns[1] = bj_stats_quantile_sorted(single, count, 0.75);
    free(single);
    return BJ_OK;
}

bool bj_timer_is_narrow(const bj_timing *timing, const bj_timing_samples *samples) {
    const double *interval = timing->time_ns.interval;
    if (interval[1] - interval[0] <= 4 * find_grain(samples) && interval[0] <= 0)
        return true;
    return !bj_data_is_wide(interval, BJ_TIMING_TOLERANCE);
}

/* Many samples make the interval of a median narrow, however they scatter; the next timing would not lie in it, since a
 * loaded machine changes from minute to minute. The least of wall times does not care how late the others were. */
static bool is_scattered(const bj_timing *timing, const bj_timing_samples *samples) {
    const double *quartiles = timing->quartiles_ns;
    return samples->cpu_time && quartiles[0] > find_grain(samples) &&
           quartiles[1] > quartiles[0] * (1 + BJ_TIMING_TOLERANCE);
}

bj_status bj_timer_answer_time(const bj_timing_samples *samples, bj_timing *timing, bj_error *error) {
    bj_estimate found;
    bj_answer *answer = &timing->time_ns;
    BJ_TRY(estimate(samples, NULL, &found, error));
    BJ_TRY(fill_spread(samples, timing, error));
    *answer = (bj_answer){.key = "time_ns", .unit = "ns", .status = BJ_ANSWER_OK};
    snprintf(answer->method, sizeof answer->method, "%s", samples->cpu_time ? METHOD_CPU : METHOD_WALL);
    bj_kit_fill_answer(answer, &found, BJ_CONFIDENCE_HIGH);
    double grain = find_grain(samples);
    if (!answer->has_interval) {
        answer->has_interval = true;
        answer->interval[0] = answer->interval[1] = answer->value;
    }
    answer->interval[0] -= grain;
    answer->interval[1] += grain;
    timing->samples = samples->count;
    timing->calls_per_timing = samples->calls;
    timing->cpu_time = samples->cpu_time;
    round_answer(answer);
    if (!bj_timer_is_narrow(timing, samples))
        bj_kit_call_unstable(answer, "the interval is still more than %.0f%% to either side after %zu samples",
                             100 * BJ_TIMING_TOLERANCE, samples->count);
    else if (is_scattered(timing, samples))
        bj_kit_call_unstable(answer, "the quartiles of its samples are %.0f%% apart",
                             100 * (timing->quartiles_ns[1] / timing->quartiles_ns[0] - 1));
    return BJ_OK;
}

void bj_timer_refuse(bj_timing *timing, bj_answer_status status, const char *reason) {
    *timing = (bj_timing){.time_ns = {.key = "time_ns", .unit = "ns"}};
    bj_kit_refuse(&timing->time_ns, status, "%.230s", reason);
}

bool bj_timer_is_different(const bj_answer *ratio) {
    return bj_data_has_value(ratio) && ratio->has_interval && (ratio->interval[0] > 1 || ratio->interval[1] < 1);
}

bj_status bj_timer_answer_ratio(const bj_timing_samples *a, const bj_timing_samples *b, bj_answer *ratio,
                                bj_error *error) {
    bj_estimate found;
    BJ_TRY(estimate(a, b, &found, error));
    *ratio = (bj_answer){.key = "ratio", .unit = "", .status = BJ_ANSWER_OK, .method = "median_pair/1"};
    if (isnan(found.value)) {
        bj_kit_refuse(ratio, BJ_ANSWER_UNDETERMINED, "the first kernel takes no time that the clock can see");
        return BJ_OK;
    }
    bj_kit_fill_answer(ratio, &found, BJ_CONFIDENCE_HIGH);
    round_answer(ratio);
    return BJ_OK;
}
