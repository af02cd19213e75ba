#include "probes/contexts/contexts_answer.h"

#include <math.h>
#include <string.h>

#include "probes/contexts/contexts_constants.h"
#include "probes/kit/estimate.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/steps.h"

static const char *const keys[BJ_WORK_COUNT] = {"contexts.int", "contexts.fp", "contexts.memory"};

const bj_curve_axes bj_contexts_axes[BJ_CONTEXTS_CURVES] = {
    [BJ_WORK_INT] = {"contexts.int.time", "threads", "count", "time", "ms"},
    [BJ_WORK_FP] = {"contexts.fp.time", "threads", "count", "time", "ms"},
    [BJ_WORK_MEMORY] = {"contexts.memory.time", "threads", "count", "time", "ms"},
    [BJ_CONTEXTS_THROTTLED] = {"contexts.throttled", "kind", "count", "times_throttled", "count"},
    [BJ_CONTEXTS_STOLEN] = {"contexts.stolen", "kind", "count", "stolen_share", "1"},
};

typedef struct {
    bj_point_summary points;
    bool paper;     /* its first step, else the first delay */
    bool throttled; /* a quota takes its part in some rounds: the mean of all is what is granted */
    bj_delay delay; /* of the last call */
} curve_context;

/* index NULL: the first rounds, as of the kit. */
static double mean_of_point(const bj_curve *curve, size_t point, const size_t *index, size_t count) {
    double sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double value = curve->rounds[index != NULL ? index[i] : i][point];
        sum += isnan(value) ? 0 : value;
        kept += !isnan(value);
    }
    return kept > 0 ? sum / (double)kept : NAN;
}

/* Low quantile: threads that were put on one cpu while others idled were delayed by chance, but nothing lets more
 * threads than contexts through without delay. A single thread is never stopped by a quota of one cpu or more. */
static double find_contexts(void *argument, const size_t *index, size_t count) {
    curve_context *context = argument;
    const bj_curve *curve = context->points.curve;
    double *y = context->points.of_point;
    bj_step step;
    bj_kit_summarise(&context->points, index, count, BJ_LOW_QUANTILE);
    for (size_t i = 0; context->throttled && i < curve->x_count; i++)
        if (curve->x[i] > 1)
            y[i] = mean_of_point(curve, i, index, count);
    if (!context->paper)
        return bj_contexts_find_first_delay(curve->x, y, curve->x_count, &context->delay) ? context->delay.contexts
                                                                                          : NAN;
    bj_stats_enforce_monotone(y, curve->x_count);
    return bj_stats_find_first_step(y, curve->x_count, &step) ? curve->x[step.before] : NAN;
}

bj_status bj_contexts_find_delay(const bj_curve *curve, bj_delay *delay, bool *is_found, bj_error *error) {
    curve_context context = {.paper = false};
    BJ_TRY(bj_kit_open_summary(&context.points, curve, error));
    *is_found = !isnan(find_contexts(&context, NULL, curve->round_count));
    *delay = context.delay;
    bj_kit_close_summary(&context.points);
    return BJ_OK;
}

/* What was taken in all rounds of a kind of work. */
static double sum_taken(const bj_curves *samples, size_t taken, bj_work work) {
    const bj_curve *curve = bj_data_find_curve(samples, bj_contexts_axes[taken].id);
    double sum = 0;
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++)
        for (size_t round = 0; curve->x[i] == work + 1.0 && round < curve->round_count; round++)
            sum += isnan(curve->rounds[round][i]) ? 0 : curve->rounds[round][i];
    return sum;
}

typedef struct {
    double throttled; /* times */
    double stolen;    /* mean share */
    double alone[2];  /* ms of a thread by itself: what a tenth of the rounds is below, and above */
    bool from_table;
} circumstances;

/* A thread alone waits for nobody of ours. */
static bool is_crowded(const circumstances *around) {
    return around->alone[1] > CROWDED_SCATTER * around->alone[0];
}

static void read_alone(const bj_curve *curve, circumstances *around, double *scratch) {
    const double tails[2] = {0.1, 0.9};
    for (size_t i = 0; i < 2; i++)
        around->alone[i] =
            curve->x[0] == 1 ? bj_kit_quantile_of_point(curve, 0, NULL, curve->round_count, tails[i], scratch) : NAN;
}

static void refuse(const curve_context *context, bj_answer *answer) {
    const bj_curve *curve = context->points.curve;
    if (curve->x_count < 2)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no two numbers of threads were measured");
    else if (context->delay.after > 0)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "threads wait for each other at the least number that was measured, %g", curve->x[0]);
    else
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "up to %g threads none stands out as delayed",
                      curve->x[curve->x_count - 1]);
}

/* How far the answer may be off for the points that were not measured, and for noise in shared waiting. */
static void widen_interval(const curve_context *context, bj_estimate *contexts) {
    const bj_curve *curve = context->points.curve;
    const bj_delay *delay = &context->delay;
    double value = contexts->value, *interval = contexts->interval;
    if (context->paper)
        return;
    if (delay->steep || value <= curve->x[delay->before])
        interval[1] = fmax(interval[1], fmax(curve->x[delay->after] - 1, value));
    else if (value * TOLERANCE >= HALF) {
        interval[0] = fmin(interval[0], floor(value * (1 - TOLERANCE)));
        interval[1] = fmax(interval[1], ceil(value * (1 + TOLERANCE)));
    }
}

/* What may be said at most where numbers above the answer were not measured, of a table, or where much was taken in
 * every round alike. */
static bj_confidence find_most_confidence(const circumstances *around, const bj_estimate *contexts) {
    double width = contexts->interval[1] - contexts->value;
    if (around->throttled > 0 || is_crowded(around) || width > WIDE * contexts->value)
        return BJ_CONFIDENCE_LOW;
    bool is_closed = width <= fmax(TOLERANCE * contexts->value, HALF);
    return is_closed && !around->from_table && around->stolen <= STOLEN_MUCH ? BJ_CONFIDENCE_HIGH
                                                                             : BJ_CONFIDENCE_MEDIUM;
}

static void fill_answer(const bj_estimate *contexts, const circumstances *around, bj_answer *answer) {
    bj_kit_fill_answer(answer, contexts, find_most_confidence(around, contexts));
    if (around->throttled > 0)
        bj_kit_call_unstable(answer,
                             "throttled: a cpu quota stopped the threads %g times; this is what is left on average",
                             around->throttled);
    else if (is_crowded(around))
        bj_kit_call_unstable(answer, "others use the cpus: one thread alone took %.3g to %.3g ms", around->alone[0],
                             around->alone[1]);
    else if (around->stolen > STOLEN_MUCH && contexts->support < BJ_SUPPORT_MEDIUM)
        bj_kit_call_unstable(answer, "the hypervisor gave %.0f%% of the cpus' time to others", 100 * around->stolen);
    else if (contexts->rounds > 1 && contexts->support < SUPPORT_STABLE)
        bj_kit_call_unstable(answer, "rounds differ: other ones would answer from %g to %g", contexts->interval[0],
                             contexts->interval[1]);
}

static bj_status answer_curve(curve_context *context, const circumstances *around, uint64_t seed, bj_answer *answer,
                              bj_error *error) {
    const bj_curve *curve = context->points.curve;
    double unthrottled = NAN;
    bj_estimate contexts;
    bj_estimate_request resampling = {.rounds = curve->round_count,
                                      .curve = curve,
                                      .resamples = bj_kit_afford_resamples(curve->x_count * curve->round_count),
                                      .seed = seed,
                                      .tolerance = TOLERANCE,
                                      .statistic = find_contexts,
                                      .context = context};
    if (around->throttled > 0)
        unthrottled = find_contexts(context, NULL, curve->round_count);
    context->throttled = around->throttled > 0;
    bj_status status = bj_kit_estimate(&resampling, &contexts, error);
    if (status == BJ_OK && isnan(contexts.value)) {
        refuse(context, answer);
    } else if (status == BJ_OK) {
        /* What throttled rounds leave on average reaches to what those say that were not stopped. */
        contexts.interval[0] = fmin(contexts.interval[0], unthrottled);
        contexts.interval[1] = fmax(contexts.interval[1], unthrottled);
        widen_interval(context, &contexts);
        fill_answer(&contexts, around, answer);
    }
    return status;
}

static bj_status analyse_kind(const bj_curves *samples, const bj_analyse_request *request, bj_work work,
                              bj_answers *answers, bj_error *error) {
    const char *id = request->from_table ? BJ_CONTEXTS_TABLE : bj_contexts_axes[work].id;
    const bj_curve *curve = bj_data_find_curve(samples, id);
    bj_answer *answer = NULL;
    bj_status status = bj_data_put_answer(answers, keys[work], "count", &answer, error);
    if (status != BJ_OK)
        return status;
    bj_data_cite_curve(answer, id);
    if (curve == NULL || curve->x_count == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the time budget ended before this was measured");
        return BJ_OK;
    }
    curve_context context = {.paper = request->method != NULL && strcmp(request->method, BJ_CONTEXTS_FIRST_STEP) == 0};
    status = bj_kit_open_summary(&context.points, curve, error);
    if (status != BJ_OK)
        return status;
    circumstances around = {
        .throttled = sum_taken(samples, BJ_CONTEXTS_THROTTLED, work),
        .stolen = sum_taken(samples, BJ_CONTEXTS_STOLEN, work) / fmax(1, (double)curve->round_count),
        .from_table = request->from_table,
    };
    if (around.throttled > 0)
        bj_data_cite_curve(answer, bj_contexts_axes[BJ_CONTEXTS_THROTTLED].id);
    read_alone(curve, &around, context.points.scratch);
    status = answer_curve(&context, &around, request->seed, answer, error);
    bj_kit_close_summary(&context.points);
    return status;
}

bj_status bj_contexts_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) {
    bj_status status = BJ_OK;
    for (bj_work work = 0; status == BJ_OK && work < BJ_WORK_COUNT; work++)
        status = analyse_kind(samples, request, work, answers, error);
    return status;
}
