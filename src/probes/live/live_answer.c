#include "probes/live/live_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/steps.h"

#define RESAMPLES 400u
/* Of what one spilled variable costs if all cost alike. The first ones are often cheaper, since a memory operand hides
 * in an addition; ripples of a core that packs some numbers of additions better than others stay below. As seen with
 * gcc and clang on two cores: first spills 0.47 to 6 times that cost, ripples at most 0.27. */
#define PART 0.35
/* The answer that these give as well is sure. */
#define PART_LOW 0.3
#define PART_HIGH 0.42
/* A curve that rises less in all has no spills that could be told from ripples. */
#define LEAST_RISE 1.1
#define NEARLY_ALL 0.9
/* Where the time stands still to this before it rises, something else than registers sets the pace (the adders, say),
 * and the first spills may hide behind it: as seen with AVX-512, 33 to 37 variables in 32 registers took the same time.
 */
#define STANDSTILL 1.01
#define STANDSTILL_FROM 0.6
/* And with noise. */
#define STANDSTILL_SPREAD 1.02
/* Rounds are low by themselves. */
#define LOW_OF_ROUNDS 0.4

const char *const bj_live_types[BJ_LIVE_TYPES] = {"int32", "int64", "float", "double"};

void bj_live_name(size_t type, char *name) {
    snprintf(name, BJ_LIVE_NAME_ROOM, "live.%s", bj_live_types[type]);
}

size_t bj_live_find_onset(const double *x, const double *y, size_t count, double base, double part) {
    double rise = y[count - 1] - base;
    if (!(rise > 0))
        return count;
    for (size_t i = 1; i < count; i++) {
        /* If everything up to x[i - 1] fits, these shares of the variables are in memory here and at the end. */
        double here = (x[i] - x[i - 1]) / x[i], at_end = (x[count - 1] - x[i - 1]) / x[count - 1];
        if (y[i] - base >= part * rise * here / at_end)
            return i - 1;
    }
    return count;
}

typedef struct {
    const bj_curve *curve;
    bool biggest_step;
    double part;
    double *x, *y, *raw, *sorted;  /* raw: before it is made monotone */
    uint32_t *order, *order_count; /* of each point: its rounds from low to high, and how many have it */
    uint32_t *drawn;               /* how often each round is in the resample */
} onset_context;

/* The rounds of each point in the order of their samples, so that resampling need not sort again. */
static void sort_rounds(onset_context *c, size_t rounds) {
    for (size_t i = 0; i < c->curve->x_count; i++) {
        uint32_t *order = c->order + i * rounds;
        size_t count = 0;
        for (size_t r = 0; r < rounds; r++) {
            double value = c->curve->rounds[r][i];
            if (!(value > 0))
                continue;
            size_t place = count++;
            for (; place > 0 && c->curve->rounds[order[place - 1]][i] > value; place--)
                order[place] = order[place - 1];
            order[place] = (uint32_t)r;
        }
        c->order_count[i] = (uint32_t)count;
    }
}

/* The low quantile of a point, of rounds that were drawn so often each; NaN: none of them has it. */
static double find_low(const onset_context *c, size_t point, size_t rounds) {
    const uint32_t *order = c->order + point * rounds;
    size_t total = 0, seen = 0;
    for (size_t i = 0; i < c->order_count[point]; i++)
        total += c->drawn[order[i]];
    for (size_t i = 0; i < c->order_count[point]; i++) {
        seen += c->drawn[order[i]];
        if (seen > 0 && (double)seen >= LOW_OF_ROUNDS * (double)total)
            return c->curve->rounds[order[i]][point];
    }
    return NAN;
}

/* The points that have samples, low, made monotone; how many. */
static size_t sum_up_rounds(onset_context *c, const size_t *index, size_t rounds) {
    size_t count = 0, all = c->curve->round_count;
    memset(c->drawn, 0, all * sizeof *c->drawn);
    for (size_t r = 0; r < rounds; r++)
        c->drawn[index[r]]++;
    for (size_t i = 0; i < c->curve->x_count; i++) {
        double low = find_low(c, i, all);
        if (isnan(low))
            continue;
        c->x[count] = c->curve->x[i];
        c->raw[count] = low;
        c->y[count++] = low;
    }
    bj_stats_enforce_monotone(c->y, count);
    return count;
}

/* The least of many noisy points lies below the truth, by more than a cheap spill adds. Where the time had come to a
 * standstill, the median of what lies before the onset does not; NaN where it had not. */
static double find_base(onset_context *c, size_t onset) {
    size_t first = onset, count;
    while (first > 0 && c->x[first - 1] >= STANDSTILL_FROM * c->x[onset])
        first--;
    count = onset - first + 1;
    memcpy(c->sorted, c->raw + first, count * sizeof *c->sorted);
    bj_stats_sort_samples(c->sorted, count);
    bool stands = count >= 4 && bj_stats_quantile_sorted(c->sorted, count, 0.9) <=
                                    STANDSTILL_SPREAD * bj_stats_quantile_sorted(c->sorted, count, 0.1);
    return stands ? bj_stats_quantile_sorted(c->sorted, count, 0.5) : NAN;
}

static double find_answer(void *context, const size_t *index, size_t rounds) {
    onset_context *c = context;
    size_t count = sum_up_rounds(c, index, rounds);
    bj_step step;
    if (count < 3 || c->y[count - 1] < c->y[0] * LEAST_RISE)
        return NAN;
    if (c->biggest_step)
        return bj_stats_find_biggest_step(c->y, count, &step) ? c->x[step.before] : NAN;
    size_t onset = bj_live_find_onset(c->x, c->y, count, c->y[0], c->part);
    double base = onset < count ? find_base(c, onset) : NAN;
    if (!isnan(base))
        onset = bj_live_find_onset(c->x, c->y, count, base, c->part);
    return onset < count ? c->x[onset] : NAN;
}

/* Whether the time had stood still before the answer. */
static bool stands_still(onset_context *c, const size_t *all, size_t rounds, double value) {
    size_t count = sum_up_rounds(c, all, rounds);
    double first = NAN, last = NAN;
    for (size_t i = 0; i < count && c->x[i] <= value; i++) {
        if (isnan(first) && c->x[i] >= STANDSTILL_FROM * value)
            first = c->raw[i];
        last = c->raw[i];
    }
    return first <= last * STANDSTILL;
}

static bool is_sure(onset_context *c, const size_t *all, size_t rounds, double value) {
    if (c->biggest_step)
        return true;
    c->part = PART_LOW;
    double low = find_answer(c, all, rounds);
    c->part = PART_HIGH;
    double high = find_answer(c, all, rounds);
    c->part = PART;
    return low == value && high == value && !stands_still(c, all, rounds, value);
}

static void judge(const bj_bootstrap *bootstrap, size_t rounds, bool sure, bj_answer *answer) {
    size_t same = 0;
    for (size_t i = 0; i < bootstrap->replicate_count; i++)
        same += bootstrap->replicates[i] == answer->value;
    double share = bootstrap->replicate_count > 0 ? (double)same / RESAMPLES : 0;
    answer->confidence = rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED || share < NEARLY_ALL ? BJ_CONFIDENCE_LOW
                         : sure && share > 0.99                                    ? BJ_CONFIDENCE_HIGH
                                                                                   : BJ_CONFIDENCE_MEDIUM;
}

static bj_status answer_curve(const bj_curve *curve, const bj_analyse_request *request, bj_answer *answer,
                              bj_error *error) {
    size_t rounds = curve->round_count, room = curve->x_count + 1;
    size_t *all = calloc(rounds + 1, sizeof *all);
    double *numbers = calloc(4 * room, sizeof *numbers);
    uint32_t *orders = calloc(room * rounds + room + rounds + 1, sizeof *orders);
    bj_bootstrap bootstrap = {0};
    bj_status status = BJ_OK;
    if (all == NULL || numbers == NULL || orders == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", room);
        goto done;
    }
    for (size_t r = 0; r < rounds; r++)
        all[r] = r;
    onset_context context = {.curve = curve,
                             .biggest_step = request->method != NULL && strcmp(request->method, "biggest_step") == 0,
                             .part = PART,
                             .x = numbers,
                             .y = numbers + room,
                             .raw = numbers + 2 * room,
                             .sorted = numbers + 3 * room,
                             .order = orders,
                             .order_count = orders + room * rounds,
                             .drawn = orders + room * rounds + room};
    sort_rounds(&context, rounds);
    answer->value = find_answer(&context, all, rounds);
    if (isnan(answer->value)) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason,
                 curve->x_count < 3 ? "too few points" : "the time does not rise with the number of variables");
        goto done;
    }
    status = bj_stats_bootstrap_rounds(rounds, RESAMPLES, request->seed, find_answer, &context, &bootstrap, error);
    if (status != BJ_OK)
        goto done;
    answer->has_interval = true;
    answer->interval[0] = isnan(bootstrap.low) ? answer->value : fmin(answer->value, bootstrap.low);
    answer->interval[1] = isnan(bootstrap.high) ? answer->value : fmax(answer->value, bootstrap.high);
    judge(&bootstrap, rounds, is_sure(&context, all, rounds, answer->value), answer);
done:
    bj_stats_free_bootstrap(&bootstrap);
    free(all);
    free(numbers);
    free(orders);
    return status;
}

static bj_status answer_type(const bj_curves *samples, const char *name, const bj_analyse_request *request,
                             bj_answers *answers, bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, name);
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, name, "count", &answer, error);
    if (status != BJ_OK)
        return status;
    bj_data_cite_curve(answer, name);
    if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED)) {
        answer->status = BJ_ANSWER_UNSUPPORTED;
        snprintf(answer->reason, sizeof answer->reason, "this machine has no registers for that type");
    } else if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_WRONG)) {
        answer->status = BJ_ANSWER_FAILED;
        snprintf(answer->reason, sizeof answer->reason, "the compiled additions return a wrong result");
    } else if (curve == NULL || curve->x_count == 0) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason, "no samples");
    } else {
        status = answer_curve(curve, request, answer, error);
    }
    return status;
}

bj_status bj_live_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    if (request->from_table)
        return answer_type(samples, BJ_LIVE_TABLE, request, answers, error);
    bj_status status = BJ_OK;
    for (size_t t = 0; t < BJ_LIVE_TYPES && status == BJ_OK; t++) {
        char name[BJ_LIVE_NAME_ROOM];
        bj_live_name(t, name);
        status = answer_type(samples, name, request, answers, error);
    }
    return status;
}
