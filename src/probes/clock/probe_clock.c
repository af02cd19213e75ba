/* How long does a dependent 32-bit addition take, and what clock is that?
 *
 * A chain of additions with register operands, each waiting for the last. It is the yardstick of the suite: latencies
 * in cycles and the operations of other types are relative to it. The clock assumes that an addition takes one cycle,
 * which holds for every core we know of but some in-order ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/probe.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"

#define CURVE "clock.add"
#define REPETITIONS 7u
/* Rounds that differ by more than this have run at different clocks (turbo, a busy sibling, a throttled cpu). */
#define STABLE_SPREAD 1.05
#define RESAMPLES 400u
#define LOW_OF_ROUND 0.25
/* What is left of disturbance in the quietest samples: they are never faster than the truth, and may be slower by this.
 */
#define SYSTEMATIC 0.01

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {8, 16, 40};

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_curve *curve;
    bj_status status = bj_data_add_curve(samples, CURVE, "clock", &curve, error);
    if (status != BJ_OK)
        return status;
    bj_data_name_axes(curve, "repetition", "count", "latency", "ns");
    bj_chain chain = {.cpu = request->cpu, .type = "int32", .operation = "add", .streams = 1};
    bj_machine *machine = request->machine;
    unsigned rounds = rounds_of_effort[request->effort];
    for (unsigned round = 0; round < rounds; round++) {
        double ns[REPETITIONS];
        status = machine->verbs->run_chains(machine, &chain, 1, REPETITIONS, ns, error);
        for (unsigned i = 0; i < REPETITIONS && status == BJ_OK; i++)
            status = bj_data_record_sample(curve, i + 1, round, ns[i], error);
        if (status != BJ_OK)
            return status;
        status = bj_probe_report(request, (round + 1.0) / rounds, error);
        if (status != BJ_OK || bj_probe_is_late(request))
            return status;
    }
    return BJ_OK;
}

/* One value a round: low, since disturbance adds time, but not the lowest: a repetition is a difference of two times,
 * and a disturbance of the first makes it too small. */
static size_t sum_up_rounds(const bj_curve *curve, double *of_round) {
    size_t kept = 0;
    for (size_t r = 0; r < curve->round_count; r++) {
        double values[REPETITIONS];
        size_t count = curve->x_count < REPETITIONS ? curve->x_count : REPETITIONS;
        for (size_t i = 0; i < count; i++)
            values[i] = curve->rounds[r][i];
        double low = bj_stats_quantile(values, count, LOW_OF_ROUND);
        if (!isnan(low) && low > 0)
            of_round[kept++] = low;
    }
    return kept;
}

typedef struct {
    const double *of_round;
    double *scratch;
} low_context;

static double low_of_rounds(void *context, const size_t *index, size_t count) {
    low_context *c = context;
    for (size_t i = 0; i < count; i++)
        c->scratch[i] = c->of_round[index[i]];
    return bj_stats_low_quantile(c->scratch, count);
}

static void fill_answer(bj_answer *answer, double value, double low, double high, double spread, size_t rounds) {
    answer->value = value;
    answer->has_interval = true;
    answer->interval[0] = fmin(value, low);
    answer->interval[1] = fmax(value, high);
    answer->status = spread > STABLE_SPREAD ? BJ_ANSWER_UNSTABLE : BJ_ANSWER_OK;
    answer->confidence = rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED ? BJ_CONFIDENCE_LOW
                         : spread > STABLE_SPREAD            ? BJ_CONFIDENCE_MEDIUM
                                                             : BJ_CONFIDENCE_HIGH;
    if (answer->status == BJ_ANSWER_UNSTABLE)
        snprintf(answer->reason, sizeof answer->reason, "rounds differ by %.0f%%: the clock changed during the run",
                 100 * (spread - 1));
    snprintf(answer->method, sizeof answer->method, "dependent_chain/1");
    bj_data_cite_curve(answer, CURVE);
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, CURVE);
    if (curve == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve %s", CURVE);
    size_t room = curve->round_count > 0 ? curve->round_count : 1;
    double *of_round = malloc(2 * room * sizeof *of_round);
    if (of_round == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", room);
    bj_bootstrap bootstrap = {0};
    bj_answer *latency = NULL, *clock = NULL;
    size_t rounds = sum_up_rounds(curve, of_round);
    low_context context = {of_round, of_round + room};
    bj_status status = BJ_OK;
    if (rounds == 0)
        status = bj_base_set_error(error, BJ_ERR_FAILED, "no usable sample of the add chain");
    if (status == BJ_OK)
        status =
            bj_stats_bootstrap_rounds(rounds, RESAMPLES, request->seed, low_of_rounds, &context, &bootstrap, error);
    if (status == BJ_OK)
        status = bj_data_put_answer(answers, "op.int32.add.latency_ns", "ns", &latency, error);
    if (status == BJ_OK) {
        bj_stats_sort_samples(of_round, rounds);
        double value = bj_stats_quantile_sorted(of_round, rounds, BJ_LOW_QUANTILE);
        double spread = bj_stats_quantile_sorted(of_round, rounds, 0.9) / value;
        double low = isnan(bootstrap.low) ? value : bootstrap.low,
               high = isnan(bootstrap.high) ? value : bootstrap.high;
        low *= 1 - SYSTEMATIC;
        /* A clock that moved: the interval is what the rounds gave. */
        if (spread > STABLE_SPREAD)
            high = of_round[rounds - 1];
        fill_answer(latency, value, low, high, spread, rounds);
        status = bj_data_put_answer(answers, "cpu.clock_ghz", "GHz", &clock, error);
        if (status == BJ_OK)
            fill_answer(clock, 1 / value, 1 / high, 1 / low, spread, rounds);
    }
    bj_stats_free_bootstrap(&bootstrap);
    free(of_round);
    return status;
}

static const bj_probe_key provides[] = {
    {"op.int32.add.latency_ns", "ns", 0.02, 1000, "a dependent 32-bit addition with register operands"},
    {"cpu.clock_ghz", "GHz", 0.001, 50, "the clock, if that addition takes one cycle"},
};
static const char *const needs[] = {NULL};
static const char *const methods[] = {"dependent_chain", NULL};

const bj_probe bj_probe_clock = {
    .name = "clock",
    .question = "How long does a dependent 32-bit addition take, and what clock is that?",
    .revision = 1,
    .provides = provides,
    .provides_count = sizeof provides / sizeof provides[0],
    .needs = needs,
    .methods = methods,
    .requires_cpus = 1,
    .cost_s = {0.2, 0.2, 0.4},
    .memory_bytes = {1u << 20, 1u << 20, 1u << 20},
    .measure = measure,
    .analyse = analyse,
};
