/* How long does a dependent 32-bit addition take, and what clock is that?
 *
 * A chain of additions with register operands, each waiting for the last. It is the yardstick of the suite: latencies
 * in cycles and the operations of other types are relative to it. The clock assumes that an addition takes one cycle,
 * which holds for every core we know of but some in-order ones. */
#include <math.h>
#include <stdlib.h>

#include "probes/clock/clock_constants.h"
#include "probes/kit/estimate.h"
#include "probes/kit/rounds.h"
#include "stats/quantile.h"

#define CURVE "clock.add"
#define RANDOM_PURPOSE 0x636c6b21u
#define REPETITIONS 7u

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {8, 16, 40};

static bj_status measure_chain(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {CURVE, "repetition", "count", "latency", "ns"};
    bj_rounds *rounds = context;
    bj_machine *machine = rounds->request->machine;
    bj_chain chain = {.cpu = rounds->request->cpu, .type = "int32", .operation = "add", .abreast = 1};
    double ns[REPETITIONS];
    (void)points;
    (void)count;
    bj_status status = machine->verbs->run_chains(machine, &chain, 1, REPETITIONS, ns, error);
    for (unsigned i = 0; i < REPETITIONS && status == BJ_OK; i++)
        status = bj_kit_record(rounds, &axes, i + 1, ns[i], error);
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_rounds rounds;
    bj_kit_open_rounds(&rounds, request, "clock", samples, RANDOM_PURPOSE);
    bj_round_plan plan = {.count = rounds_of_effort[request->effort],
                          .first_round = bj_kit_count_rounds(samples, CURVE),
                          .point_count = 1,
                          .context = &rounds,
                          .measure = measure_chain};
    return bj_kit_run_rounds(&rounds, &plan, error);
}

/* One value a round. */
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

static bj_status put_answer(bj_answers *answers, const char *key, const char *unit, const bj_estimate *estimate,
                            double scatter, bj_error *error) {
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(answers, key, unit, &answer, error));
    bj_data_cite_curve(answer, CURVE);
    bj_kit_fill_answer(answer, estimate, BJ_CONFIDENCE_HIGH);
    if (scatter > STABLE_SCATTER)
        bj_kit_call_unstable(answer, "rounds differ by %.0f%%: the clock changed during the run", 100 * (scatter - 1));
    return BJ_OK;
}

static bj_status answer_rounds(const double *of_round, size_t rounds, uint64_t seed, bj_answers *answers,
                               bj_error *error) {
    bj_estimate latency;
    if (rounds == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no usable sample of the add chain");
    bj_status status = bj_kit_estimate_values(of_round, rounds, BJ_LOW_QUANTILE, TOLERANCE, seed, &latency, error);
    if (status != BJ_OK)
        return status;
    double scatter = latency.single[BJ_SINGLE_HIGH] / latency.value;
    bj_kit_widen(&latency, SYSTEMATIC, 0);
    /* A clock that moved: the interval is what the rounds gave. */
    if (scatter > STABLE_SCATTER)
        latency.interval[1] = latency.single[BJ_SINGLE_GREATEST];
    bj_estimate clock = latency;
    clock.value = 1 / latency.value;
    clock.interval[0] = 1 / latency.interval[1];
    clock.interval[1] = 1 / latency.interval[0];
    status = put_answer(answers, "op.int32.add.latency_ns", "ns", &latency, scatter, error);
    return status == BJ_OK ? put_answer(answers, "cpu.clock_ghz", "GHz", &clock, scatter, error) : status;
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, CURVE);
    if (curve == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve %s", CURVE);
    double *of_round = malloc((curve->round_count + 1) * sizeof *of_round);
    if (of_round == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    bj_status status = answer_rounds(of_round, sum_up_rounds(curve, of_round), request->seed, answers, error);
    free(of_round);
    return status;
}

const bj_probe bj_probe_clock = {
    .name = "clock",
    .question = "How long does a dependent 32-bit addition take, and what clock is that?",
    .revision = 2,
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
