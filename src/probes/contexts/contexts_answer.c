#include "probes/contexts/contexts_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/steps.h"

/* Enough for the interval; fewer of large tables, whose resampling would take minutes. */
#define RESAMPLES 400u
#define RESAMPLES_LEAST 20u
#define RESAMPLED_CELLS 20000000u
/* Resamples within this of the answer agree with it: up to twenty contexts they are the same. One of more than that is
 * less than what noise leaves of a ramp. */
#define AGREE 0.03
#define SHARE_HIGH 0.99
#define SHARE_MEDIUM 0.9
#define SHARE_STABLE 0.5
/* More than this taken by a hypervisor is more than what noise can look like. */
#define STOLEN_MUCH 0.1
/* An interval that reaches further up than this share of the answer says little. */
#define WIDE 0.25

const char *const bj_contexts_keys[BJ_WORK_COUNT] = {"contexts.int", "contexts.fp", "contexts.memory"};
const char *const bj_contexts_curves[BJ_WORK_COUNT] = {"contexts.int.time", "contexts.fp.time", "contexts.memory.time"};

typedef struct {
    const bj_curve *curve;
    bool paper;     /* its first step, else the first delay */
    bool throttled; /* a quota takes its part in some rounds: the mean of all is what is granted */
    double *y, *scratch;
    bj_delay delay; /* of the last call */
} curve_context;

static bj_status open_context(const bj_curve *curve, curve_context *context, bj_error *error) {
    *context = (curve_context){.curve = curve};
    context->y = malloc((curve->x_count + curve->round_count + 1) * sizeof *context->y);
    if (context->y == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", curve->x_count);
    context->scratch = context->y + curve->x_count;
    return BJ_OK;
}

static double mean_of(const double *values, size_t count) {
    double sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        sum += values[i];
        kept++;
    }
    return kept > 0 ? sum / (double)kept : NAN;
}

/* Low quantile: threads that were put on one cpu while others idled were delayed by chance, but nothing lets more
 * threads than contexts through without delay. A single thread is never stopped by a quota of one cpu or more. */
static double sum_up_point(const curve_context *context, size_t point, const size_t *index, size_t count) {
    for (size_t i = 0; i < count; i++)
        context->scratch[i] = context->curve->rounds[index[i]][point];
    if (context->throttled && context->curve->x[point] > 1)
        return mean_of(context->scratch, count);
    return bj_stats_low_quantile(context->scratch, count);
}

static double find_contexts(void *argument, const size_t *index, size_t count) {
    curve_context *context = argument;
    const bj_curve *curve = context->curve;
    for (size_t i = 0; i < curve->x_count; i++)
        context->y[i] = sum_up_point(context, i, index, count);
    if (!context->paper)
        return bj_contexts_find_first_delay(curve->x, context->y, curve->x_count, &context->delay)
                   ? context->delay.contexts
                   : NAN;
    bj_step step;
    bj_stats_enforce_monotone(context->y, curve->x_count);
    return bj_stats_find_first_step(context->y, curve->x_count, &step) ? curve->x[step.before] : NAN;
}

static double find_in_all_rounds(curve_context *context, size_t *index) {
    for (size_t i = 0; i < context->curve->round_count; i++)
        index[i] = i;
    return find_contexts(context, index, context->curve->round_count);
}

bool bj_contexts_find_delay(const bj_curve *curve, bj_delay *delay, bj_error *error) {
    curve_context context;
    *delay = (bj_delay){0};
    size_t *index = malloc((curve->round_count + 1) * sizeof *index);
    if (index == NULL || open_context(curve, &context, error) != BJ_OK) {
        free(index);
        return false;
    }
    bool found = !isnan(find_in_all_rounds(&context, index));
    *delay = context.delay;
    free(context.y);
    free(index);
    return found;
}

/* What was taken during the rounds of a kind: sum, and mean of all rounds. */
static double sum_taken(const bj_curves *samples, const char *id, bj_work work) {
    const bj_curve *curve = bj_data_find_curve(samples, id);
    double sum = 0;
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++)
        for (size_t round = 0; curve->x[i] == work + 1.0 && round < curve->round_count; round++)
            sum += isnan(curve->rounds[round][i]) ? 0 : curve->rounds[round][i];
    return sum;
}

typedef struct {
    double throttled; /* times */
    double stolen;    /* mean share */
    bool from_table;
} circumstances;

static void say_why_not(const curve_context *context, bj_answer *answer) {
    const bj_curve *curve = context->curve;
    answer->status = BJ_ANSWER_UNDETERMINED;
    if (curve->x_count < 2)
        snprintf(answer->reason, sizeof answer->reason, "no two numbers of threads were measured");
    else if (context->delay.after > 0)
        snprintf(answer->reason, sizeof answer->reason,
                 "threads wait for each other at the least number that was measured, %g", curve->x[0]);
    else
        snprintf(answer->reason, sizeof answer->reason, "up to %g threads none stands out as delayed",
                 curve->x[curve->x_count - 1]);
}

static double share_that_agrees(const bj_bootstrap *bootstrap, double value) {
    size_t agree = 0;
    for (size_t i = 0; i < bootstrap->replicate_count; i++)
        agree += fabs(bootstrap->replicates[i] - value) <= AGREE * value;
    return bootstrap->replicate_count > 0
               ? (1 - bootstrap->nan_share) * (double)agree / (double)bootstrap->replicate_count
               : 0;
}

/* Of what was not measured between two numbers of threads, of a table, or of what was taken in every round alike. */
static bj_confidence most_confidence(const circumstances *around, const bj_answer *answer) {
    double open = answer->interval[1] - answer->value;
    if (open > WIDE * answer->value)
        return BJ_CONFIDENCE_LOW;
    bool closed = open <= fmax(AGREE * answer->value, 0.5);
    return closed && !around->from_table && around->stolen <= STOLEN_MUCH ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
}

static void judge(const circumstances *around, size_t rounds, double agreement, bj_answer *answer) {
    answer->confidence = rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED || agreement < SHARE_MEDIUM ? BJ_CONFIDENCE_LOW
                         : agreement < SHARE_HIGH                                        ? BJ_CONFIDENCE_MEDIUM
                                                                                         : BJ_CONFIDENCE_HIGH;
    bj_confidence most = most_confidence(around, answer);
    answer->confidence = answer->confidence < most ? answer->confidence : most;
    if (around->throttled > 0) {
        answer->status = BJ_ANSWER_UNSTABLE;
        answer->confidence = BJ_CONFIDENCE_LOW;
        snprintf(answer->reason, sizeof answer->reason,
                 "throttled: a cpu quota stopped the threads %g times; this is what is left on average",
                 around->throttled);
    } else if (around->stolen > STOLEN_MUCH && agreement < SHARE_MEDIUM) {
        answer->status = BJ_ANSWER_UNSTABLE;
        snprintf(answer->reason, sizeof answer->reason, "the hypervisor gave %.0f%% of the cpus' time to others",
                 100 * around->stolen);
    } else if (rounds > 1 && agreement < SHARE_STABLE) {
        answer->status = BJ_ANSWER_UNSTABLE;
        snprintf(answer->reason, sizeof answer->reason, "rounds differ: other ones would answer from %g to %g",
                 answer->interval[0], answer->interval[1]);
    }
}

/* How far the answer may be off for the points that were not measured, and for noise in shared waiting. */
static void widen_interval(const curve_context *context, bj_answer *answer) {
    const bj_curve *curve = context->curve;
    const bj_delay *delay = &context->delay;
    if (context->paper || isnan(answer->value))
        return;
    if (delay->steep || answer->value <= curve->x[delay->before])
        answer->interval[1] = fmax(answer->interval[1], fmax(curve->x[delay->after] - 1, answer->value));
    else if (answer->value * AGREE >= 0.5) {
        answer->interval[0] = fmin(answer->interval[0], floor(answer->value * (1 - AGREE)));
        answer->interval[1] = fmax(answer->interval[1], ceil(answer->value * (1 + AGREE)));
    }
}

/* The interval of throttled rounds reaches to what the rounds say that were not stopped. */
static double answer_unthrottled(curve_context *context, size_t *index) {
    context->throttled = false;
    double value = find_in_all_rounds(context, index);
    context->throttled = true;
    return value;
}

static bj_status fill_answer(curve_context *context, const circumstances *around, uint64_t seed, bj_answer *answer,
                             bj_error *error) {
    const bj_curve *curve = context->curve;
    size_t cells = curve->x_count * curve->round_count + 1;
    size_t resamples = (size_t)fmax(RESAMPLES_LEAST, fmin(RESAMPLES, RESAMPLED_CELLS / (double)cells));
    bj_bootstrap bootstrap = {0};
    size_t *index = malloc((curve->round_count + 1) * sizeof *index);
    if (index == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    context->throttled = around->throttled > 0;
    bj_status status =
        bj_stats_bootstrap_rounds(curve->round_count, resamples, seed, find_contexts, context, &bootstrap, error);
    double unthrottled = context->throttled ? answer_unthrottled(context, index) : NAN;
    answer->value = find_in_all_rounds(context, index);
    if (status == BJ_OK && isnan(answer->value)) {
        say_why_not(context, answer);
        answer->value = 0;
    } else if (status == BJ_OK) {
        answer->has_interval = true;
        answer->interval[0] = fmin(answer->value, fmin(bootstrap.low, unthrottled));
        answer->interval[1] = fmax(answer->value, fmax(bootstrap.high, unthrottled));
        widen_interval(context, answer);
        judge(around, curve->round_count, share_that_agrees(&bootstrap, answer->value), answer);
    }
    bj_stats_free_bootstrap(&bootstrap);
    free(index);
    return status;
}

static bj_status analyse_kind(const bj_curves *samples, const bj_analyse_request *request, bj_work work,
                              bj_answers *answers, bj_error *error) {
    const char *id = request->from_table ? BJ_CONTEXTS_TABLE : bj_contexts_curves[work];
    const char *method = request->method != NULL ? request->method : BJ_CONTEXTS_FIRST_DELAY;
    const bj_curve *curve = bj_data_find_curve(samples, id);
    bj_answer *answer = NULL;
    bj_status status = bj_data_put_answer(answers, bj_contexts_keys[work], "count", &answer, error);
    if (status != BJ_OK)
        return status;
    snprintf(answer->method, sizeof answer->method, "%s/%u", method, BJ_CONTEXTS_REVISION);
    bj_data_cite_curve(answer, id);
    if (curve == NULL || curve->x_count == 0) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason, "the time budget ended before this was measured");
        return BJ_OK;
    }
    curve_context context;
    status = open_context(curve, &context, error);
    if (status != BJ_OK)
        return status;
    context.paper = strcmp(method, BJ_CONTEXTS_FIRST_STEP) == 0;
    circumstances around = {
        .throttled = sum_taken(samples, BJ_CONTEXTS_THROTTLED, work),
        .stolen = sum_taken(samples, BJ_CONTEXTS_STOLEN, work) / fmax(1, (double)curve->round_count),
        .from_table = request->from_table,
    };
    status = fill_answer(&context, &around, request->seed, answer, error);
    if (around.throttled > 0)
        bj_data_cite_curve(answer, BJ_CONTEXTS_THROTTLED);
    free(context.y);
    return status;
}

bj_status bj_contexts_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) {
    bj_status status = BJ_OK;
    for (bj_work work = 0; status == BJ_OK && work < BJ_WORK_COUNT; work++)
        status = analyse_kind(samples, request, work, answers, error);
    return status;
}
