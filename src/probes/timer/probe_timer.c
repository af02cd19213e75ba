/* What does reading a clock cost, and what is the least difference that it shows?
 *
 * Whoever times a short piece of code needs both: the cost is part of what is timed, and a batch must last many times
 * the resolution. Asked of the monotonic clock, the thread's cpu time and the processor's counter. Reads follow each
 * other in batches that the wall clock can time; the resolution is the least difference above zero between two reads
 * in a row. Disturbance only adds to either, so the least of a round counts, and the low quantile of rounds. */
#include <math.h>

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

static bool has_outcome(const bj_curve *curve, const char *outcome) {
    return curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, outcome);
}

/* A point is a timer. One that the machine lacks is told by its curve. */
static bj_status measure_timer(void *context, const uint32_t *points, size_t count, bj_error *error) {
    bj_rounds *rounds = context;
    bj_machine *machine = rounds->request->machine;
    bj_curve *curve;
    double read_ns[REPETITIONS], resolution_ns[REPETITIONS];
    bj_error trouble = {""};
    (void)count;
    BJ_TRY(bj_kit_open_curve(rounds, &axes[*points][READ], &curve, error));
    if (has_outcome(curve, BJ_OUTCOME_UNSUPPORTED) || has_outcome(curve, BJ_OUTCOME_WRONG))
        return BJ_OK;
    bj_status tried = machine->verbs->run_timer(machine, (bj_timer)*points, rounds->request->cpu, REPETITIONS, read_ns,
                                                resolution_ns, &trouble);
    BJ_TRY(bj_kit_keep_outcome(curve, tried, &trouble, error));
    return tried == BJ_OK ? record_timer(rounds, *points, (double *const[]){read_ns, resolution_ns}, error) : BJ_OK;
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

static bj_status fill_answer(bj_answer *answer, const bj_curve *curve, uint64_t seed, bj_error *error) {
    bj_estimate ns;
    BJ_TRY(bj_kit_estimate_rounds(curve, 0, BJ_LOW_QUANTILE, TOLERANCE, seed, &ns, error));
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
    if (has_outcome(read, BJ_OUTCOME_UNSUPPORTED))
        bj_kit_refuse(answer, BJ_ANSWER_UNSUPPORTED, "this machine has no such clock that C can read");
    else if (has_outcome(read, BJ_OUTCOME_WRONG))
        bj_kit_refuse(answer, BJ_ANSWER_FAILED, "this clock did not move while it was read again and again");
    else if (curve == NULL)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no samples");
    else
        return fill_answer(answer, curve, seed, error);
    return BJ_OK;
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
