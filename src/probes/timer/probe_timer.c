/* What does reading a clock cost, and what is the least difference that it shows?
 *
 * Whoever times a short piece of code needs both: the cost is part of what is timed, and a batch must last many times
 * the resolution. Asked of the monotonic clock, the thread's cpu time and the processor's counter. Reads follow each
 * other in batches that the wall clock can time; the resolution is the least difference above zero between two reads
 * in a row. Disturbance only adds to either, so the least of a round counts, and the low quantile of rounds. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/rounds.h"
#include "probes/timer/timer_constants.h"
#include "stats/quantile.h"

#define RANDOM_PURPOSE 0x74696d65u
#define REPETITIONS 5u

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {6, 12, 30};

typedef enum { READ, RESOLUTION, QUANTITIES } quantity;

static const char *const timers[BJ_TIMER_COUNT] = {"wall", "cpu", "cycles"};
static const bj_curve_axes axes[BJ_TIMER_COUNT][QUANTITIES] = {
    {{"timer.wall.read", "repetition", "count", "time", "ns"},
     {"timer.wall.resolution", "repetition", "count", "difference", "ns"}},
    {{"timer.cpu.read", "repetition", "count", "time", "ns"},
     {"timer.cpu.resolution", "repetition", "count", "difference", "ns"}},
    {{"timer.cycles.read", "repetition", "count", "time", "ns"},
     {"timer.cycles.resolution", "repetition", "count", "difference", "ns"}},
};

static bj_status record_timer(bj_rounds *rounds, size_t timer, double *const *ns, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t q = 0; q < QUANTITIES; q++)
        for (unsigned i = 0; i < REPETITIONS && status == BJ_OK; i++)
            status = bj_kit_record(rounds, &axes[timer][q], i + 1, ns[q][i], error);
    return status;
}

/* A point is a timer. One that the machine lacks is told by its curve. */
static bj_status measure_timer(void *context, const uint32_t *points, size_t count, bj_error *error) {
    bj_rounds *rounds = context;
    bj_machine *machine = rounds->request->machine;
    bj_curve *curve;
    double read_ns[REPETITIONS], resolution_ns[REPETITIONS];
    (void)count;
    bj_status status = bj_kit_open_curve(rounds, &axes[*points][READ], &curve, error);
    if (status != BJ_OK || bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED))
        return status;
    status = machine->verbs->run_timer(machine, (bj_timer)*points, rounds->request->cpu, REPETITIONS, read_ns,
                                       resolution_ns, error);
    if (status == BJ_ERR_UNSUPPORTED)
        return bj_data_set_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED, error);
    return status == BJ_OK ? record_timer(rounds, *points, (double *const[]){read_ns, resolution_ns}, error) : status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_rounds rounds;
    bj_kit_open_rounds(&rounds, request, "timer", samples, RANDOM_PURPOSE);
    bj_round_plan plan = {.count = rounds_of_effort[request->effort],
                          .first_round = bj_kit_count_rounds(samples, axes[BJ_TIMER_WALL][READ].id),
                          .point_count = BJ_TIMER_COUNT,
                          .context = &rounds,
                          .measure = measure_timer};
    return bj_kit_run_rounds(&rounds, &plan, error);
}

/* The least repetition of each round; rounds without one are left out. */
static size_t list_least(const bj_curve *curve, double *of_round) {
    size_t count = 0;
    for (size_t r = 0; r < curve->round_count; r++) {
        double least = NAN;
        for (size_t i = 0; i < curve->x_count; i++)
            least = fmin(least, curve->rounds[r][i]);
        if (!isnan(least))
            of_round[count++] = least;
    }
    return count;
}

static bj_status fill_answer(bj_answer *answer, const bj_curve *curve, uint64_t seed, bj_error *error) {
    double *of_round = malloc((curve->round_count + 1) * sizeof *of_round);
    if (of_round == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    bj_estimate ns;
    bj_status status =
        bj_kit_estimate_values(of_round, list_least(curve, of_round), BJ_LOW_QUANTILE, TOLERANCE, seed, &ns, error);
    free(of_round);
    if (status != BJ_OK)
        return status;
    if (isnan(ns.value)) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no samples");
        return BJ_OK;
    }
    bool stable = ns.single[BJ_SINGLE_HIGH] <= STABLE_SCATTER * ns.value;
    if (!stable)
        ns.interval[1] = ns.single[BJ_SINGLE_GREATEST];
    bj_kit_widen(&ns, SYSTEMATIC, 0);
    bj_kit_fill_answer(answer, &ns, BJ_CONFIDENCE_HIGH);
    if (!stable)
        bj_kit_call_unstable(answer, "rounds gave %.3g to %.3g ns", ns.single[BJ_SINGLE_LEAST],
                             ns.single[BJ_SINGLE_GREATEST]);
    return BJ_OK;
}

static bj_status answer_timer(const bj_curves *samples, size_t timer, quantity quantity, uint64_t seed,
                              bj_answers *answers, bj_error *error) {
    static const char *const ends[QUANTITIES] = {"read_ns", "resolution_ns"};
    const bj_curve *read = bj_data_find_curve(samples, axes[timer][READ].id);
    const bj_curve *curve = bj_data_find_curve(samples, axes[timer][quantity].id);
    bj_answer *answer;
    BJ_TRY(bj_kit_put_answer(answers, "ns", &answer, error, "timer.%s.%s", timers[timer], ends[quantity]));
    bj_data_cite_curve(answer, axes[timer][quantity].id);
    if (read != NULL && bj_data_has_attribute_text(read, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED)) {
        bj_kit_refuse(answer, BJ_ANSWER_UNSUPPORTED, "this machine has no such clock that C can read");
        return BJ_OK;
    }
    if (curve == NULL) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no samples");
        return BJ_OK;
    }
    return fill_answer(answer, curve, seed, error);
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t timer = 0; timer < BJ_TIMER_COUNT; timer++)
        for (int q = 0; q < QUANTITIES && status == BJ_OK; q++)
            status = answer_timer(samples, timer, (quantity)q, request->seed, answers, error);
    return status;
}

const bj_probe bj_probe_timer = {
    .name = "timer",
    .question = "What does reading a clock cost, and what is the least difference that it shows?",
    .revision = 1,
    .provides =
        (const bj_probe_key[]){
            {"timer.wall.read_ns", "ns", 0.1, 1e6, "reading the monotonic clock", .tolerance = TOLERANCE},
            {"timer.wall.resolution_ns", "ns", 0.01, 1e8, "the least difference that it shows", .tolerance = TOLERANCE},
            {"timer.cpu.read_ns", "ns", 0.1, 1e6, "reading the thread's cpu time", .tolerance = TOLERANCE},
            {"timer.cpu.resolution_ns", "ns", 0.01, 1e8, "the least difference that it shows", .tolerance = TOLERANCE},
            {"timer.cycles.read_ns", "ns", 0.1, 1e6, "reading the processor's counter", .tolerance = TOLERANCE},
            {"timer.cycles.resolution_ns", "ns", 0.01, 1e8, "the least difference that it shows",
             .tolerance = TOLERANCE},
            {0},
        },
    .methods = (const char *const[]){"back_to_back", NULL},
    .cost_s = {0.1, 0.2, 0.5},
    .memory_bytes = {1u << 20, 1u << 20, 1u << 20},
    .measure = measure,
    .analyse = analyse,
};
