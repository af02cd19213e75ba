/* From the samples of chains to latency, throughput and operations in flight; pure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/chains.h"
#include "probes/kit/chains_constants.h"
#include "probes/kit/estimate.h"
#include "stats/quantile.h"

enum { ABREAST = BJ_CHAIN_ABREAST_MAX };

typedef enum { LATENCY, THROUGHPUT, IN_FLIGHT, QUANTITIES } quantity;
typedef enum { LEAST_RATIO, MEDIAN_RATIO, SECOND_LOWEST } method;

static const char *const key_ends[QUANTITIES] = {"latency", "throughput", "in_flight"};
static const char *const units[QUANTITIES] = {"int32 adds", "per int32 add", "count"};

/* The two loops of one number of chains, `row_length` apart from round to round. */
typedef struct {
    const double *longer, *shorter;
    size_t row_length;
} loops;

/* Times are in additions of the same round, or in ns; NaN: not measured. */
struct bj_chain_analysis {
    const bj_chain_set *set;
    const bj_curves *samples;
    bj_yardstick yardstick;
    uint64_t seed;
    size_t rounds;
    method method;
    double *unit; /* ns of an addition by round */
    /* Of a family, rows of ABREAST by round: a link in the longer loop and in the shorter. */
    double *longer, *shorter;
    double *then_longer, *then_shorter; /* by round: the second operation of a link alone; 0: there is none */
    double kept[ABREAST];               /* cost by the time of the longer loop, in all rounds */
    double *scratch;
    quantity quantity;
};

typedef bj_chain_analysis analysis;

/* One block: free(a->unit). */
static bj_status open_analysis(analysis *a, bj_error *error) {
    a->unit = calloc(a->rounds * (4 + 2 * ABREAST), sizeof *a->unit);
    if (a->unit == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", a->rounds);
    a->then_longer = a->unit + a->rounds;
    a->then_shorter = a->then_longer + a->rounds;
    a->scratch = a->then_shorter + a->rounds;
    a->longer = a->scratch + a->rounds;
    a->shorter = a->longer + a->rounds * ABREAST;
    for (size_t r = 0; r < a->rounds; r++)
        a->unit[r] = bj_kit_read_yardstick(&a->yardstick, &r, 1);
    return BJ_OK;
}

static double sample_of(const bj_curve *curve, double x, size_t round) {
    if (curve == NULL || round >= curve->round_count)
        return NAN;
    for (size_t i = 0; i < curve->x_count; i++)
        if (curve->x[i] == x)
            return curve->rounds[round][i];
    return NAN;
}

/* The family of the second operation alone; NULL: there is none. */
static const bj_chain_family *find_then(const analysis *a, const bj_chain_family *family) {
    for (size_t i = 0; family->then != NULL && i < a->set->count; i++) {
        const bj_chain_family *other = &a->set->families[i];
        if (strcmp(other->type, family->type) == 0 && strcmp(other->operation, family->then) == 0 &&
            (other->then == NULL || other->abreast > 1))
            return other;
    }
    return NULL;
}

static loops loops_of(const analysis *a, size_t s) {
    return (loops){a->longer + s, a->shorter + s, ABREAST};
}

/* Of values by round, `row_length` apart; index NULL: the first rounds. */
static double sum_up(const analysis *a, const double *values, size_t row_length, const size_t *index, size_t count) {
    for (size_t i = 0; i < count; i++)
        a->scratch[i] = values[(index != NULL ? index[i] : i) * row_length];
    if (a->method == MEDIAN_RATIO)
        return bj_stats_median(a->scratch, count);
    size_t usable = bj_stats_sort_samples(a->scratch, count);
    return usable == 0 ? NAN : a->scratch[a->method == SECOND_LOWEST && usable > 1 ? 1 : 0];
}

/* Without the loop. Each loop is summed up by itself: a difference within a round is too small where the shorter one
 * was disturbed. */
static double subtract_loop(const analysis *a, loops of, const size_t *index, size_t count) {
    return 2 * sum_up(a, of.longer, of.row_length, index, count) - sum_up(a, of.shorter, of.row_length, index, count);
}

static double link_cost(const analysis *a, size_t s, const size_t *index, size_t count) {
    return subtract_loop(a, loops_of(a, s), index, count);
}

static double then_cost(const analysis *a, const size_t *index, size_t count) {
    return subtract_loop(a, (loops){a->then_longer, a->then_shorter, 1}, index, count);
}

static void find_times(analysis *a, const bj_chain_family *family) {
    const bj_chain_family *then = find_then(a, family);
    const bj_curve *twice = bj_kit_find_chain(a->samples, family, BJ_UNROLL_TWICE);
    const bj_curve *once = bj_kit_find_chain(a->samples, family, BJ_UNROLL_ONCE);
    const bj_curve *then_twice = then != NULL ? bj_kit_find_chain(a->samples, then, BJ_UNROLL_TWICE) : NULL;
    const bj_curve *then_once = then != NULL ? bj_kit_find_chain(a->samples, then, BJ_UNROLL_ONCE) : NULL;
    for (size_t r = 0; r < a->rounds; r++) {
        double unit = a->method == SECOND_LOWEST ? 1 : a->unit[r];
        for (size_t s = 0; s < ABREAST; s++) {
            a->longer[r * ABREAST + s] = sample_of(twice, (double)(s + 1), r) / unit;
            a->shorter[r * ABREAST + s] = sample_of(once, (double)(s + 1), r) / unit;
        }
        a->then_longer[r] = then == NULL ? 0 : sample_of(then_twice, 1, r) / unit;
        a->then_shorter[r] = then == NULL ? 0 : sample_of(then_once, 1, r) / unit;
    }
    for (size_t s = 0; s < ABREAST; s++)
        a->kept[s] = link_cost(a, s, NULL, a->rounds) / sum_up(a, a->longer + s, ABREAST, NULL, a->rounds);
}

static bool is_kept(const analysis *a, size_t s) {
    return a->kept[s] >= KEPT_LEAST && a->kept[s] <= KEPT_MOST;
}

/* The last number of chains up to which a link costs what it costs alone. */
static double find_inflection(const analysis *a, const size_t *index, size_t count) {
    double alone = link_cost(a, 0, index, count);
    size_t last = 1;
    while (last < ABREAST && link_cost(a, last, index, count) <= alone * (1 + HALF_A_CHAIN / (double)(last + 1)))
        last++;
    return (double)last;
}

/* The number of chains is chosen by the time of the longer loop, which disturbance can only raise. The least of twenty
 * differences would be the one whose shorter loop was disturbed. */
static double find_least_cost(const analysis *a, const size_t *index, size_t count) {
    double fastest = INFINITY, least = NAN;
    for (size_t s = 0; s < ABREAST; s++) {
        double time = sum_up(a, a->longer + s, ABREAST, index, count) / (double)(s + 1);
        if (!is_kept(a, s) || !(time < fastest))
            continue;
        fastest = time;
        least = link_cost(a, s, index, count) / (double)(s + 1);
    }
    return least > 0 ? least : NAN;
}

static double compute_quantity(void *context, const size_t *index, size_t count) {
    const analysis *a = context;
    double unit = a->method == SECOND_LOWEST ? sum_up(a, a->unit, 1, index, count) : 1;
    double latency = link_cost(a, 0, index, count) - then_cost(a, index, count);
    if (a->quantity == LATENCY)
        return latency / unit;
    if (a->quantity == IN_FLIGHT && a->method == SECOND_LOWEST)
        return find_inflection(a, index, count);
    double least = find_least_cost(a, index, count);
    return a->quantity == THROUGHPUT ? unit / least : fmax(1, latency / least);
}

/* True: there is nothing to be computed, and the answer says why. */
static bool refuse_hopeless(const analysis *a, const bj_chain_family *family, bj_answer *answer) {
    const bj_curve *curve = bj_kit_find_chain(a->samples, family, BJ_UNROLL_TWICE);
    if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED))
        bj_kit_refuse(answer, BJ_ANSWER_UNSUPPORTED, "this machine has no instruction for %s", family->operation);
    else if (curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_WRONG))
        bj_kit_refuse(answer, BJ_ANSWER_FAILED, "the compiled chain of %s returns a wrong result", family->operation);
    else if (isnan(a->kept[0]))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no samples of %s", family->operation);
    else if (!is_kept(a, 0))
        bj_kit_refuse(answer, BJ_ANSWER_FAILED,
                      "twice the operations (%s) took %.2f times as long: the compiler did not keep them",
                      family->operation, 2 / (2 - a->kept[0]));
    else if (isnan(then_cost(a, NULL, a->rounds)))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no samples of %s alone, which is part of the chain",
                      family->then);
    /* Throughput may be larger than what so few chains can show. */
    else if (a->quantity != LATENCY &&
             link_cost(a, family->abreast - 1, NULL, a->rounds) <= STILL_FLAT * link_cost(a, 0, NULL, a->rounds))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%u streams take no longer than one", family->abreast);
    else
        return false;
    return true;
}

/* How far single rounds of one chain differ. */
static double find_scatter(const analysis *a) {
    for (size_t r = 0; r < a->rounds; r++)
        a->scratch[r] = a->longer[r * ABREAST];
    size_t count = bj_stats_sort_samples(a->scratch, a->rounds);
    return bj_stats_quantile_sorted(a->scratch, count, HIGH_OF_ROUNDS) /
           bj_stats_quantile_sorted(a->scratch, count, LOW_OF_ROUNDS);
}

static bj_status fill_answer(analysis *a, bj_answer *answer, bj_error *error) {
    /* The paper counts chains. */
    bool is_whole = a->quantity == IN_FLIGHT && a->method == SECOND_LOWEST;
    bj_estimate estimate;
    bj_estimate_request resampling = {.rounds = a->rounds,
                                      .curve = a->yardstick.twice,
                                      .seed = a->seed,
                                      .tolerance = is_whole ? 0 : BJ_CHAINS_TOLERANCE,
                                      .whole = is_whole,
                                      .statistic = compute_quantity,
                                      .context = a};
    BJ_TRY(bj_kit_estimate(&resampling, &estimate, error));
    if (!(estimate.value > 0)) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the samples are too noisy");
        return BJ_OK;
    }
    bj_kit_widen(&estimate, SYSTEMATIC, SYSTEMATIC);
    if (is_whole) {
        estimate.value = round(estimate.value);
        estimate.interval[0] = round(estimate.interval[0]);
        estimate.interval[1] = round(estimate.interval[1]);
    }
    bj_kit_fill_answer(answer, &estimate, BJ_CONFIDENCE_HIGH);
    double scatter = find_scatter(a);
    if (scatter > STABLE_SCATTER)
        bj_kit_call_unstable(answer, "single rounds differ by %.0f%%", 100 * (scatter - 1));
    return BJ_OK;
}

/* Of the family whose times were found last. */
static bj_status answer_quantity(analysis *a, const bj_chain_family *family, quantity quantity, bj_answer *answer,
                                 bj_error *error) {
    char id[BJ_CHAIN_NAME_ROOM];
    a->quantity = quantity;
    bj_kit_name_chain(family, BJ_UNROLL_TWICE, id);
    bj_data_cite_curve(answer, id);
    bj_kit_name_chain(family, BJ_UNROLL_ONCE, id);
    bj_data_cite_curve(answer, id);
    bj_kit_cite_yardstick(answer, &a->yardstick);
    return refuse_hopeless(a, family, answer) ? BJ_OK : fill_answer(a, answer, error);
}

bj_status bj_kit_answer_chain(bj_chain_analysis *a, const bj_chain_family *family, bj_answers *answers,
                              bj_error *error) {
    find_times(a, family);
    for (int q = 0; q < QUANTITIES; q++) {
        bj_answer *answer;
        BJ_TRY(bj_kit_put_answer(answers, units[q], &answer, error, "op.%s.%s.%s", family->type, family->operation,
                                 key_ends[q]));
        BJ_TRY(answer_quantity(a, family, (quantity)q, answer, error));
    }
    return BJ_OK;
}

bj_status bj_kit_answer_chain_rate(bj_chain_analysis *a, const bj_chain_family *family, const char *key,
                                   bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    find_times(a, family);
    BJ_TRY(bj_data_put_answer(answers, key, units[THROUGHPUT], &answer, error));
    return answer_quantity(a, family, THROUGHPUT, answer, error);
}

static method choose_method(const char *name) {
    return name == NULL                         ? LEAST_RATIO
           : strcmp(name, "median_ratio") == 0  ? MEDIAN_RATIO
           : strcmp(name, "second_lowest") == 0 ? SECOND_LOWEST
                                                : LEAST_RATIO;
}

bj_status bj_kit_open_chain_analysis(const bj_chain_set *set, const bj_curves *samples,
                                     const bj_analyse_request *request, bj_chain_analysis **opened, bj_error *error) {
    analysis a = {.set = set, .samples = samples, .seed = request->seed, .method = choose_method(request->method)};
    if (!bj_kit_find_yardstick(samples, set->probe, &a.yardstick) || a.yardstick.twice->round_count == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no samples of the addition that all is relative to");
    a.rounds = a.yardstick.twice->round_count;
    BJ_TRY(open_analysis(&a, error));
    *opened = malloc(sizeof **opened);
    if (*opened == NULL) {
        free(a.unit);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the analysis");
    }
    **opened = a;
    return BJ_OK;
}

void bj_kit_close_chain_analysis(bj_chain_analysis *a) {
    if (a != NULL)
        free(a->unit);
    free(a);
}
