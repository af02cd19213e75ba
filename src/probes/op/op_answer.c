#include "probes/op/op_answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/op/op_units.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"

#define RESAMPLES 400u
/* The loop around a chain costs a cycle or two beside six at the least. A compiler that leaves operations out makes
 * twice as many cost no more, and the difference next to nothing; half lies far from both. */
#define KEPT_LEAST 0.5
#define KEPT_MOST 1.5
/* A chain more beyond what fits adds a twentieth at the least; half of that is still no rise. */
#define STILL_FLAT 1.025
/* Chains of different length leave the loop at different moments; some hundredths of a cycle remain. */
#define SYSTEMATIC 0.01
/* Rounds that differ by more have met different machines (a neighbour on the sibling thread, say). */
#define STABLE_SPREAD 1.25
#define WIDTH_HIGH 0.05
#define WIDTH_MEDIUM 0.2

enum { STREAMS = BJ_CHAIN_STREAMS_MAX };

/* Costs of a step by round and streams, in additions of the same round or in ns; NaN: not measured. */
typedef struct {
    double (*cost)[STREAMS];
    double (*longer)[STREAMS]; /* the same with the loop's part: the time of the longer loop alone */
    size_t round_count;
    double kept[STREAMS]; /* cost by the time of the longer loop: the median of the rounds */
} costs;

typedef enum { LATENCY, THROUGHPUT, IN_FLIGHT, QUANTITIES } quantity;

static const char *const key_ends[QUANTITIES] = {"latency", "throughput", "in_flight"};
static const char *const units[QUANTITIES] = {"int32 adds", "per int32 add", "count"};

typedef struct {
    const costs *own, *companion;
    quantity quantity;
    bool second_lowest;
    double *yardstick; /* ns by round, for second_lowest */
    double *scratch;
} statistic_context;

static double sample_of(const bj_curve *curve, double x, size_t round) {
    if (curve == NULL || round >= curve->round_count)
        return NAN;
    for (size_t i = 0; i < curve->x_count; i++)
        if (curve->x[i] == x)
            return curve->rounds[round][i];
    return NAN;
}

/* The addition of each round in ns: the median over its calls. */
static void find_yardstick(const bj_curve *twice, const bj_curve *once, double *scratch, double *yardstick,
                           size_t rounds) {
    for (size_t r = 0; r < rounds; r++) {
        size_t calls = 0;
        for (size_t i = 0; twice != NULL && r < twice->round_count && i < twice->x_count; i++)
            scratch[calls++] = 2 * twice->rounds[r][i] - sample_of(once, twice->x[i], r);
        double value = bj_stats_median(scratch, calls);
        yardstick[r] = value > 0 ? value : NAN;
    }
}

/* relative: divided by the addition of the round. */
static void find_costs(const bj_curves *samples, const bj_op_unit *unit, const double *yardstick, bool relative,
                       double *scratch, costs *costs) {
    char id[48];
    bj_op_name_curve(unit, BJ_UNROLL_TWICE, id, sizeof id);
    const bj_curve *twice = bj_data_find_curve(samples, id);
    bj_op_name_curve(unit, BJ_UNROLL_ONCE, id, sizeof id);
    const bj_curve *once = bj_data_find_curve(samples, id);
    for (size_t s = 0; s < STREAMS; s++) {
        for (size_t r = 0; r < costs->round_count; r++) {
            double longer = sample_of(twice, (double)(s + 1), r), shorter = sample_of(once, (double)(s + 1), r);
            double cost = 2 * longer - shorter;
            costs->cost[r][s] = cost / (relative ? yardstick[r] : 1);
            costs->longer[r][s] = longer / (relative ? yardstick[r] : 1);
            scratch[r] = cost / longer;
        }
        costs->kept[s] = bj_stats_median(scratch, costs->round_count);
    }
}

static bool is_kept(const costs *costs, size_t s) {
    return costs->kept[s] >= KEPT_LEAST && costs->kept[s] <= KEPT_MOST;
}

static double sum_up(const statistic_context *c, const double *values_by_round, size_t stride, const size_t *index,
                     size_t count) {
    for (size_t i = 0; i < count; i++)
        c->scratch[i] = values_by_round[index[i] * stride];
    if (!c->second_lowest)
        return bj_stats_median(c->scratch, count);
    size_t usable = bj_stats_sort_samples(c->scratch, count);
    return usable == 0 ? NAN : c->scratch[usable > 1 ? 1 : 0];
}

static double step_cost(const statistic_context *c, const costs *costs, size_t s, const size_t *index, size_t count) {
    return sum_up(c, &costs->cost[0][s], STREAMS, index, count);
}

/* The last number of streams up to which a step costs what it costs alone: within half of what one stream too many
 * adds. */
static double find_inflection(const statistic_context *c, const size_t *index, size_t count) {
    double alone = step_cost(c, c->own, 0, index, count);
    size_t last = 1;
    while (last < STREAMS && step_cost(c, c->own, last, index, count) <= alone * (1 + 0.5 / (double)(last + 1)))
        last++;
    return (double)last;
}

/* The number of streams is chosen by the time of the longer loop, which disturbance can only raise. The least of twenty
 * differences would be the one whose shorter loop was disturbed. */
static double find_least_cost(const statistic_context *c, const size_t *index, size_t count) {
    double fastest = INFINITY, least = NAN;
    for (size_t s = 0; s < STREAMS; s++) {
        double time = sum_up(c, &c->own->longer[0][s], STREAMS, index, count) / (double)(s + 1);
        if (!is_kept(c->own, s) || !(time < fastest))
            continue;
        fastest = time;
        least = step_cost(c, c->own, s, index, count) / (double)(s + 1);
    }
    return least > 0 ? least : NAN;
}

static double compute_quantity(void *context, const size_t *index, size_t count) {
    const statistic_context *c = context;
    double unit = c->second_lowest ? sum_up(c, c->yardstick, 1, index, count) : 1;
    double latency = step_cost(c, c->own, 0, index, count);
    if (c->companion != NULL)
        latency -= step_cost(c, c->companion, 0, index, count);
    if (c->quantity == LATENCY)
        return latency / unit;
    if (c->quantity == IN_FLIGHT && c->second_lowest)
        return find_inflection(c, index, count);
    double least = find_least_cost(c, index, count);
    return c->quantity == THROUGHPUT ? unit / least : fmax(1, latency / least);
}

static void give_reason(bj_answer *answer, bj_answer_status status, const char *format, ...) BJ_PRINTF(3, 4);

static void give_reason(bj_answer *answer, bj_answer_status status, const char *format, ...) {
    va_list list;
    answer->status = status;
    va_start(list, format);
    vsnprintf(answer->reason, sizeof answer->reason, format, list);
    va_end(list);
}

/* True: there is nothing to be computed, and the answer says why. */
static bool is_hopeless(const statistic_context *c, const bj_op_unit *unit, const bj_curve *curve, bj_answer *answer) {
    if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED))
        give_reason(answer, BJ_ANSWER_UNSUPPORTED, "this machine has no instruction for %s", unit->operation);
    else if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_WRONG))
        give_reason(answer, BJ_ANSWER_FAILED, "the compiled chain of %s returns a wrong result", unit->operation);
    else if (isnan(c->own->kept[0]))
        give_reason(answer, BJ_ANSWER_UNDETERMINED, "no samples of %s", unit->operation);
    else if (!is_kept(c->own, 0))
        give_reason(answer, BJ_ANSWER_FAILED,
                    "twice the operations (%s) took %.2f times as long: the compiler did not keep them",
                    unit->operation, 2 / (2 - c->own->kept[0]));
    else if (c->companion != NULL && isnan(c->companion->kept[0]))
        give_reason(answer, BJ_ANSWER_UNDETERMINED, "no samples of %s alone, which is part of the chain", unit->then);
    else
        return false;
    return true;
}

/* Throughput may be larger than what so few streams can show. */
static bool is_open_ended(const statistic_context *c, const size_t *all, size_t rounds, quantity quantity) {
    if (quantity == LATENCY)
        return false;
    double alone = step_cost(c, c->own, 0, all, rounds), most = step_cost(c, c->own, STREAMS - 1, all, rounds);
    return most <= alone * STILL_FLAT;
}

static void judge(const statistic_context *c, size_t rounds, bj_answer *answer) {
    double low = answer->interval[0], high = answer->interval[1], width = (high - low) / answer->value;
    double round_low = INFINITY, round_high = 0;
    size_t kept = 0;
    for (size_t r = 0; r < rounds; r++)
        c->scratch[kept++] = c->own->cost[r][0];
    kept = bj_stats_sort_samples(c->scratch, kept);
    round_low = bj_stats_quantile_sorted(c->scratch, kept, 0.1);
    round_high = bj_stats_quantile_sorted(c->scratch, kept, 0.9);
    bool whole = c->quantity == IN_FLIGHT;
    answer->confidence = kept < BJ_BOOTSTRAP_ROUNDS_NEEDED ? BJ_CONFIDENCE_LOW
                         : whole                           ? (low == high ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM)
                         : width <= WIDTH_HIGH + 2 * SYSTEMATIC ? BJ_CONFIDENCE_HIGH
                         : width <= WIDTH_MEDIUM                ? BJ_CONFIDENCE_MEDIUM
                                                                : BJ_CONFIDENCE_LOW;
    if (round_high > round_low * STABLE_SPREAD) {
        answer->status = BJ_ANSWER_UNSTABLE;
        answer->confidence = answer->confidence == BJ_CONFIDENCE_HIGH ? BJ_CONFIDENCE_MEDIUM : answer->confidence;
        snprintf(answer->reason, sizeof answer->reason, "single rounds differ by %.0f%%",
                 100 * (round_high / round_low - 1));
    }
}

static bj_status fill_answer(statistic_context *c, size_t rounds, const size_t *all, uint64_t seed, bj_answer *answer,
                             bj_error *error) {
    bj_bootstrap bootstrap = {0};
    double value = compute_quantity(c, all, rounds);
    if (!(value > 0)) {
        give_reason(answer, BJ_ANSWER_UNDETERMINED, "the samples are too noisy");
        return BJ_OK;
    }
    bj_status status = bj_stats_bootstrap_rounds(rounds, RESAMPLES, seed, compute_quantity, c, &bootstrap, error);
    if (status != BJ_OK)
        return status;
    double low = isnan(bootstrap.low) ? value : fmin(value, bootstrap.low * (1 - SYSTEMATIC));
    double high = isnan(bootstrap.high) ? value : fmax(value, bootstrap.high * (1 + SYSTEMATIC));
    /* Operations are whole. */
    bool whole = c->quantity == IN_FLIGHT;
    answer->value = whole ? round(value) : value;
    answer->interval[0] = whole ? round(low) : low;
    answer->interval[1] = whole ? round(high) : high;
    answer->has_interval = true;
    judge(c, rounds, answer);
    bj_stats_free_bootstrap(&bootstrap);
    return BJ_OK;
}

static bj_status answer_unit(const bj_op_unit *unit, const bj_curve *curve, statistic_context *c, size_t rounds,
                             const size_t *all, const bj_analyse_request *request, bj_answers *answers,
                             bj_error *error) {
    bj_status status = BJ_OK;
    for (int q = 0; q < QUANTITIES && status == BJ_OK; q++) {
        char key[64], id[48];
        bj_answer *answer;
        snprintf(key, sizeof key, "op.%s.%s.%s", unit->type, unit->operation, key_ends[q]);
        status = bj_data_put_answer(answers, key, units[q], &answer, error);
        if (status != BJ_OK)
            return status;
        c->quantity = (quantity)q;
        bj_op_name_curve(unit, BJ_UNROLL_TWICE, id, sizeof id);
        bj_data_cite_curve(answer, id);
        bj_op_name_curve(unit, BJ_UNROLL_ONCE, id, sizeof id);
        bj_data_cite_curve(answer, id);
        bj_data_cite_curve(answer, BJ_OP_YARDSTICK);
        bj_data_cite_curve(answer, BJ_OP_YARDSTICK_ONCE);
        if (is_hopeless(c, unit, curve, answer))
            continue;
        if (is_open_ended(c, all, rounds, c->quantity))
            give_reason(answer, BJ_ANSWER_UNDETERMINED, "%d streams take no longer than one", STREAMS);
        else
            status = fill_answer(c, rounds, all, request->seed, answer, error);
    }
    return status;
}

static const bj_op_unit *find_companion(const bj_op_unit *unit) {
    for (size_t i = 0; unit->then != NULL && i < bj_op_answered_count; i++)
        if (strcmp(bj_op_units[i].type, unit->type) == 0 && strcmp(bj_op_units[i].operation, unit->then) == 0)
            return &bj_op_units[i];
    return NULL;
}

static size_t count_rounds(const bj_curve *yardstick) {
    return yardstick != NULL ? yardstick->round_count : 0;
}

bj_status bj_op_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                       bj_error *error) {
    const bj_curve *twice = bj_data_find_curve(samples, BJ_OP_YARDSTICK);
    size_t rounds = count_rounds(twice);
    if (rounds == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no samples of the addition that all is relative to");
    size_t scratch_room = rounds > twice->x_count ? rounds : twice->x_count;
    double *yardstick = calloc(rounds + scratch_room, sizeof *yardstick);
    size_t *all = calloc(rounds, sizeof *all);
    costs own = {calloc(rounds, sizeof *own.cost), calloc(rounds, sizeof *own.longer), rounds, {0}};
    costs companion = {calloc(rounds, sizeof *companion.cost), calloc(rounds, sizeof *companion.longer), rounds, {0}};
    bj_status status = BJ_OK;
    if (yardstick == NULL || all == NULL || own.cost == NULL || companion.cost == NULL || own.longer == NULL ||
        companion.longer == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", rounds);
        goto done;
    }
    bool second_lowest = request->method != NULL && strcmp(request->method, "second_lowest") == 0;
    double *scratch = yardstick + rounds;
    for (size_t r = 0; r < rounds; r++)
        all[r] = r;
    find_yardstick(twice, bj_data_find_curve(samples, BJ_OP_YARDSTICK_ONCE), scratch, yardstick, rounds);
    for (size_t i = 0; i < bj_op_answered_count && status == BJ_OK; i++) {
        const bj_op_unit *unit = &bj_op_units[i], *other = find_companion(unit);
        char id[48];
        bj_op_name_curve(unit, BJ_UNROLL_TWICE, id, sizeof id);
        find_costs(samples, unit, yardstick, !second_lowest, scratch, &own);
        if (other != NULL)
            find_costs(samples, other, yardstick, !second_lowest, scratch, &companion);
        statistic_context context = {.own = &own,
                                     .companion = other != NULL ? &companion : NULL,
                                     .second_lowest = second_lowest,
                                     .yardstick = yardstick,
                                     .scratch = scratch};
        status = answer_unit(unit, bj_data_find_curve(samples, id), &context, rounds, all, request, answers, error);
    }
done:
    free(yardstick);
    free(all);
    free(own.cost);
    free(companion.cost);
    free(own.longer);
    free(companion.longer);
    return status;
}
