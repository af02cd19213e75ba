/* How long does a dependent 32-bit addition take, and what clock is that?
 *
 * A chain of additions with register operands, each waiting for the last: the yardstick of the suite (kit/yardstick.h).
 * The answer is the least time of twice the work less the least of once, over all rounds. The clock assumes that an
 * addition takes one cycle, which holds for every core we know of but some in-order ones. */
#include <math.h>

#include "probes/clock/clock_constants.h"
#include "probes/kit/estimate.h"
#include "probes/kit/yardstick.h"
#include "stats/quantile.h"

#define CURVE "clock.yardstick"
#define CURVE_OF_DIFFERENCES "clock.add"
#define RANDOM_PURPOSE 0x636c6b21u
/* Calls of the yardstick in a round: some forty batches. */
#define CALLS 5u

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {10, 20, 50};

static bj_status measure_call(void *context, const uint32_t *points, size_t count, bj_error *error) {
    (void)points;
    (void)count;
    return bj_kit_time_yardstick(context, error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_rounds rounds;
    bj_kit_open_rounds(&rounds, request, "clock", samples, RANDOM_PURPOSE);
    bj_round_plan plan = {.count = rounds_of_effort[request->effort],
                          .first_round = bj_kit_count_rounds(samples, CURVE),
                          .point_count = CALLS,
                          .context = &rounds,
                          .measure = measure_call};
    return bj_kit_run_rounds(&rounds, &plan, error);
}

/* An addition in ns, and what is known besides. */
typedef struct {
    bj_estimate latency;
    double slowest_round; /* ns */
    double scatter;       /* of the rounds */
    bj_confidence most;
} addition;

static double read_yardstick(void *context, const size_t *index, size_t count) {
    return bj_kit_read_yardstick(context, index, count);
}

static bj_status estimate_addition(bj_yardstick *yardstick, uint64_t seed, addition *found, bj_error *error) {
    bj_estimate_request request = {.rounds = yardstick->twice->round_count,
                                   .seed = seed,
                                   .tolerance = TOLERANCE,
                                   .statistic = read_yardstick,
                                   .context = yardstick,
                                   .curve = yardstick->twice};
    bj_estimate quietest;
    BJ_TRY(bj_kit_estimate(&request, &found->latency, error));
    /* How far rounds differ is told by their quietest batches: a difference of two times would exaggerate it. */
    BJ_TRY(bj_kit_estimate_rounds(yardstick->twice, 0, BJ_LOW_QUANTILE, TOLERANCE, seed, &quietest, error));
    found->slowest_round = quietest.single[BJ_SINGLE_GREATEST];
    found->scatter = quietest.single[BJ_SINGLE_HIGH] / quietest.single[BJ_SINGLE_LEAST];
    found->most = BJ_CONFIDENCE_HIGH;
    return BJ_OK;
}

/* Up to revision 2 a sample was T(2w) - T(w) over w. Which of the two was disturbed cannot be told any more: what a
 * disturbance adds or takes away leaves the median alone, and no more than `medium` is earned. */
static bj_status estimate_differences(const bj_curve *curve, uint64_t seed, addition *found, bj_error *error) {
    BJ_TRY(bj_kit_estimate_rounds(curve, 0.5, 0.5, TOLERANCE, seed, &found->latency, error));
    found->slowest_round = found->latency.single[BJ_SINGLE_GREATEST];
    found->scatter = found->latency.single[BJ_SINGLE_HIGH] / found->latency.single[BJ_SINGLE_LOW];
    found->most = BJ_CONFIDENCE_MEDIUM;
    return BJ_OK;
}

static bj_status put_answer(bj_answers *answers, const char *key, const char *unit, const bj_estimate *estimate,
                            const addition *found, const bj_yardstick *yardstick, bj_error *error) {
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(answers, key, unit, &answer, error));
    if (yardstick != NULL)
        bj_kit_cite_yardstick(answer, yardstick);
    else
        bj_data_cite_curve(answer, CURVE_OF_DIFFERENCES);
    bj_kit_fill_answer(answer, estimate, found->most);
    if (found->scatter > STABLE_SCATTER)
        bj_kit_call_unstable(answer, "rounds differ by %.0f%%: the clock changed during the run",
                             100 * (found->scatter - 1));
    return BJ_OK;
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    bj_yardstick yardstick;
    addition found;
    bool is_timed = bj_kit_find_yardstick(samples, "clock", &yardstick);
    const bj_curve *differences = bj_data_find_curve(samples, CURVE_OF_DIFFERENCES);
    if (!is_timed && differences == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve %s", CURVE);
    BJ_TRY(is_timed ? estimate_addition(&yardstick, request->seed, &found, error)
                    : estimate_differences(differences, request->seed, &found, error));
    bj_estimate *latency = &found.latency;
    if (!(latency->value > 0))
        return bj_base_set_error(error, BJ_ERR_FAILED, "no usable sample of the add chain");
    bj_kit_widen(latency, SYSTEMATIC, 0);
    /* A clock that moved: the interval is what the rounds gave. */
    if (found.scatter > STABLE_SCATTER)
        latency->interval[1] = fmax(latency->interval[1], found.slowest_round);
    bj_estimate clock = *latency;
    clock.value = 1 / latency->value;
    clock.interval[0] = 1 / latency->interval[1];
    clock.interval[1] = 1 / latency->interval[0];
    const bj_yardstick *cited = is_timed ? &yardstick : NULL;
    BJ_TRY(put_answer(answers, "op.int32.add.latency_ns", "ns", latency, &found, cited, error));
    return put_answer(answers, "cpu.clock_ghz", "GHz", &clock, &found, cited, error);
}

const bj_probe bj_probe_clock = {
    .name = "clock",
    .question = "How long does a dependent 32-bit addition take, and what clock is that?",
    .revision = 3,
    .provides = (const bj_probe_key[]){{"op.int32.add.latency_ns", "ns", 0.02, 1000,
                                        "a dependent 32-bit addition with register operands", .tolerance = TOLERANCE},
                                       {"cpu.clock_ghz", "GHz", 0.001, 50,
                                        "the clock, if that addition takes one cycle", .tolerance = TOLERANCE},
                                       {0}},
    .methods = (const char *const[]){"dependent_chain", NULL},
    .cost_s = {0.2, 0.2, 0.4},
    .memory_bytes = {1u << 20, 1u << 20, 1u << 20},
    .measure = measure,
    .analyse = analyse,
};
