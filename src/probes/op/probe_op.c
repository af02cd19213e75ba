/* What do arithmetic operations cost, relative to a 32-bit addition?
 *
 * Chains of dependent operations, 1 to 20 side by side, in loops that are written out once and twice: the difference is
 * without the loop (blackjackbench-2012, 3.3). One chain alone waits for each result (latency); many side by side show
 * how often an operation can start (throughput). Every round has all chains in random order and the addition that
 * everything is relative to between them, so that a clock that moves moves both. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "probes/op/op_answer.h"
#include "probes/op/op_units.h"
#include "probes/probe.h"

/* Points of one call: some ten milliseconds, after which the addition is measured again and the deadline looked at. */
enum { POINTS_OF_CALL = 32, REPETITIONS_MOST = 6, STREAM_ORDER = 1 };

static const struct { unsigned rounds, repetitions; } plans[BJ_EFFORT_COUNT] = {{6, 2}, {8, 6}, {20, 6}};

/* One unit with so many streams: two chains, one for each unroll. */
typedef struct {
    uint32_t unit, streams;
} point;

typedef struct {
    const bj_measure_request *request;
    bj_curves *samples;
    unsigned repetitions;
    size_t round, calls_of_round;
    bj_chain chains[2 * (POINTS_OF_CALL + 1)];
    double ns[2 * (POINTS_OF_CALL + 1) * REPETITIONS_MOST];
} op_run;

static bj_status add_curve(bj_curves *samples, const char *id, const char *x_name, const char *y_name,
                           const char *y_unit, bj_error *error) {
    bj_curve *curve;
    bj_status status = bj_data_add_curve(samples, id, "op", &curve, error);
    if (status == BJ_OK)
        bj_data_name_axes(curve, x_name, "count", y_name, y_unit);
    return status;
}

/* Fixed places: unit by unit the longer loop, then the shorter. */
enum { YARDSTICK, YARDSTICK_ONCE, FIRST_UNIT };

static bj_status add_curves(bj_curves *samples, bj_error *error) {
    bj_status status = add_curve(samples, BJ_OP_YARDSTICK, "call", "time", "ns", error);
    if (status == BJ_OK)
        status = add_curve(samples, BJ_OP_YARDSTICK_ONCE, "call", "time", "ns", error);
    for (size_t i = 0; i < bj_op_unit_count && status == BJ_OK; i++) {
        char id[48];
        bj_op_name_curve(&bj_op_units[i], BJ_UNROLL_TWICE, id, sizeof id);
        status = add_curve(samples, id, "streams", "time_of_step", "ns", error);
        bj_op_name_curve(&bj_op_units[i], BJ_UNROLL_ONCE, id, sizeof id);
        if (status == BJ_OK)
            status = add_curve(samples, id, "streams", "time_of_step", "ns", error);
    }
    return status;
}

static void put_chains(op_run *run, size_t place, const bj_op_unit *unit, unsigned streams) {
    for (size_t i = 0; i < 2; i++)
        run->chains[2 * place + i] = (bj_chain){.cpu = run->request->cpu,
                                                .type = unit->type,
                                                .operation = unit->operation,
                                                .then = unit->then,
                                                .streams = streams,
                                                .unroll = i == 0 ? BJ_UNROLL_TWICE : BJ_UNROLL_ONCE};
}

/* Low, since disturbance adds time. */
static double least_of(const op_run *run, size_t chain) {
    double least = run->ns[chain * run->repetitions];
    for (unsigned i = 1; i < run->repetitions; i++)
        least = fmin(least, run->ns[chain * run->repetitions + i]);
    return least;
}

static bj_status measure_points(op_run *run, const point *points, size_t count, bj_error *error) {
    static const bj_op_unit yardstick = {"int32", "add", NULL, 1};
    bj_machine *machine = run->request->machine;
    put_chains(run, 0, &yardstick, 1);
    for (size_t i = 0; i < count; i++)
        put_chains(run, i + 1, &bj_op_units[points[i].unit], points[i].streams);
    bj_status status =
        machine->verbs->run_chains(machine, run->chains, 2 * (count + 1), run->repetitions, run->ns, error);
    if (status != BJ_OK)
        return status;
    run->calls_of_round++;
    for (size_t i = 0; i < 2 * (count + 1) && status == BJ_OK; i++) {
        size_t curve = i < 2 ? YARDSTICK + i : FIRST_UNIT + 2 * points[i / 2 - 1].unit + i % 2;
        double x = i < 2 ? (double)run->calls_of_round : points[i / 2 - 1].streams;
        status = bj_data_record_sample(&run->samples->items[curve], x, run->round, least_of(run, i), error);
    }
    return status;
}

static bj_status pause_between(const op_run *run, double fraction, bool *is_over, bj_error *error) {
    *is_over = bj_probe_is_late(run->request);
    return bj_probe_report(run->request, fraction, error);
}

/* The first round goes unit by unit, and finds out which ones this machine has. */
static bj_status measure_first(op_run *run, point *points, size_t *count, double share, bool *is_over,
                               bj_error *error) {
    bj_status status = BJ_OK;
    for (uint32_t u = 0; u < bj_op_unit_count && status == BJ_OK && !*is_over; u++) {
        const bj_op_unit *unit = &bj_op_units[u];
        point *own = points + *count;
        for (uint32_t s = 0; s < unit->streams; s++)
            own[s] = (point){u, s + 1};
        bj_error trouble = {""};
        status = measure_points(run, own, unit->streams, &trouble);
        if (status == BJ_OK)
            *count += unit->streams;
        else if (status == BJ_ERR_UNSUPPORTED || status == BJ_ERR_FAILED)
            status = bj_data_set_attribute_text(
                &run->samples->items[FIRST_UNIT + 2 * u], BJ_OUTCOME,
                status == BJ_ERR_UNSUPPORTED ? BJ_OUTCOME_UNSUPPORTED : BJ_OUTCOME_WRONG, error);
        else
            return bj_base_set_error(error, status, "%s", trouble.text);
        if (status == BJ_OK)
            status = pause_between(run, share * (u + 1.0) / (double)bj_op_unit_count, is_over, error);
    }
    return status;
}

static bj_status measure_rounds(op_run *run, point *points, uint32_t *order, point *shuffled, bj_error *error) {
    unsigned rounds = plans[run->request->effort].rounds;
    bj_random random;
    bj_random_seed(&random, bj_random_mix(run->request->seed, STREAM_ORDER));
    size_t count = 0;
    bool is_over = false;
    bj_status status = measure_first(run, points, &count, 1.0 / rounds, &is_over, error);
    for (run->round = 1; run->round < rounds && status == BJ_OK && !is_over; run->round++) {
        run->calls_of_round = 0;
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        bj_random_shuffle_u32(&random, order, count);
        for (size_t i = 0; i < count; i++)
            shuffled[i] = points[order[i]];
        for (size_t i = 0; i < count && status == BJ_OK && !is_over; i += POINTS_OF_CALL) {
            size_t part = count - i < POINTS_OF_CALL ? count - i : POINTS_OF_CALL;
            status = measure_points(run, shuffled + i, part, error);
            double fraction = ((double)run->round + (double)(i + part) / (double)count) / rounds;
            if (status == BJ_OK)
                status = pause_between(run, fraction, &is_over, error);
        }
    }
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    size_t room = bj_op_unit_count * BJ_CHAIN_STREAMS_MAX;
    op_run *run = calloc(1, sizeof *run);
    point *points = calloc(2 * room, sizeof *points);
    uint32_t *order = calloc(room, sizeof *order);
    bj_status status = add_curves(samples, error);
    if (status == BJ_OK && (run == NULL || points == NULL || order == NULL))
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the chains");
    if (status == BJ_OK) {
        run->request = request;
        run->samples = samples;
        run->repetitions = plans[request->effort].repetitions;
        status = measure_rounds(run, points, order, points + room, error);
    }
    free(run);
    free(points);
    free(order);
    return status;
}

const bj_probe bj_probe_op = {
    .name = "op",
    .question = "What do arithmetic operations cost, relative to a 32-bit addition?",
    .revision = 1,
    .provides =
        (const bj_probe_key[]){{"op.<type>.<op>.latency", "int32 adds", 0.2, 1e5,
                                "until the result can be used, relative to a 32-bit addition"},
                               {"op.<type>.<op>.throughput", "per int32 add", 1e-5, 64,
                                "independent ones in the time of a 32-bit addition"},
                               {"op.<type>.<op>.in_flight", "count", 1, 1e4, "independent ones that overlap fully"},
                               {0}},
    .methods = (const char *const[]){"median_ratio", "second_lowest", NULL},
    .uses_compiler = true,
    .cost_s = {2, 6, 15},
    .memory_bytes = {8u << 20, 8u << 20, 8u << 20},
    .measure = measure,
    .analyse = bj_op_answer,
};
