/* What do arithmetic operations cost, relative to a 32-bit addition?
 *
 * Chains of dependent operations, 1 to 20 side by side, in loops that are written out once and twice: the difference is
 * without the loop (blackjackbench-2012, 3.3). One chain alone waits for each result (latency); many side by side show
 * how often an operation can start (throughput). Every round has all chains in random order and the addition that
 * everything is relative to between them, so that a clock that moves moves both. The first round goes family by family
 * and finds out which ones this machine has. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/yardstick.h"
#include "probes/op/op_answer.h"
#include "probes/op/op_constants.h"
#include "probes/op/op_families.h"

#define RANDOM_PURPOSE 1u
/* Points of one call: some ten milliseconds, after which the addition is measured again and the deadline looked at. */
enum { POINTS_OF_CALL = 32, REPETITIONS_MOST = 6, ABREAST = BJ_CHAIN_ABREAST_MAX };

static const struct { unsigned rounds, repetitions; } plans[BJ_EFFORT_COUNT] = {{6, 2}, {8, 6}, {20, 6}};

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    unsigned repetitions;
    uint32_t points[BJ_OP_FAMILIES * ABREAST]; /* that this machine has, for the second round and later ones */
    bj_chain chains[2 * POINTS_OF_CALL];
    double ns[2 * POINTS_OF_CALL * REPETITIONS_MOST];
} op_run;

/* A point is a family and a number of chains side by side, in two loops. */
static uint32_t make_point(uint32_t family, uint32_t abreast) {
    return family * ABREAST + abreast - 1;
}

static const bj_unroll unrolls[2] = {BJ_UNROLL_TWICE, BJ_UNROLL_ONCE};

static bj_status open_curve(op_run *run, uint32_t family, bj_unroll unroll, bj_curve **curve, bj_error *error) {
    char id[BJ_OP_NAME_ROOM];
    bj_op_name_curve(&bj_op_families[family], unroll, id);
    bj_curve_axes axes = {id, "streams", "count", "time_of_step", "ns"};
    return bj_kit_open_curve(&run->rounds, &axes, curve, error);
}

static void put_chains(op_run *run, size_t position, const bj_op_family *family, unsigned abreast) {
    for (size_t i = 0; i < 2; i++)
        run->chains[2 * position + i] = (bj_chain){.cpu = run->rounds.request->cpu,
                                                   .type = family->type,
                                                   .operation = family->operation,
                                                   .then = family->then,
                                                   .abreast = abreast,
                                                   .unroll = unrolls[i]};
}

/* Low, since disturbance adds time. */
static double least_of(const op_run *run, size_t chain) {
    double least = run->ns[chain * run->repetitions];
    for (unsigned i = 1; i < run->repetitions; i++)
        least = fmin(least, run->ns[chain * run->repetitions + i]);
    return least;
}

/* The addition, then the points. */
static bj_status run_points(op_run *run, const uint32_t *points, size_t count, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    BJ_TRY(bj_kit_time_yardstick(&run->rounds, error));
    for (size_t i = 0; i < count; i++)
        put_chains(run, i, &bj_op_families[points[i] / ABREAST], points[i] % ABREAST + 1);
    bj_status status = machine->verbs->run_chains(machine, run->chains, 2 * count, run->repetitions, run->ns, error);
    for (size_t i = 0; i < 2 * count && status == BJ_OK; i++) {
        bj_curve *curve;
        status = open_curve(run, points[i / 2] / ABREAST, unrolls[i % 2], &curve, error);
        if (status == BJ_OK)
            status =
                bj_data_record_sample(curve, points[i / 2] % ABREAST + 1, run->rounds.round, least_of(run, i), error);
    }
    return status;
}

static bj_status measure_points(void *context, const uint32_t *numbers, size_t count, bj_error *error) {
    op_run *run = context;
    uint32_t points[POINTS_OF_CALL];
    for (size_t i = 0; i < count; i++)
        points[i] = run->points[numbers[i]];
    return run_points(run, points, count, error);
}

/* All of a family at once; one that the machine does not have gets an outcome instead of samples. */
static bj_status measure_family(void *context, const uint32_t *families, size_t count, bj_error *error) {
    op_run *run = context;
    uint32_t family = *families, points[ABREAST];
    bj_curve *curve;
    bj_error trouble = {""};
    (void)count;
    for (uint32_t i = 0; i < bj_op_families[family].abreast; i++)
        points[i] = make_point(family, i + 1);
    bj_status tried = run_points(run, points, bj_op_families[family].abreast, &trouble);
    BJ_TRY(open_curve(run, family, BJ_UNROLL_TWICE, &curve, error));
    BJ_TRY(bj_kit_keep_outcome(curve, tried, &trouble, error));
    return open_curve(run, family, BJ_UNROLL_ONCE, &curve, error);
}

/* After the first round: all points of the families that it has samples of, in random order. */
static bj_status plan_points(void *context, bj_error *error) {
    op_run *run = context;
    size_t count = 0;
    bj_curve *curve;
    bj_status status = BJ_OK;
    for (uint32_t f = 0; f < BJ_OP_FAMILIES && status == BJ_OK; f++) {
        status = open_curve(run, f, BJ_UNROLL_TWICE, &curve, error);
        for (uint32_t i = 0; status == BJ_OK && curve->round_count > 0 && i < bj_op_families[f].abreast; i++)
            run->points[count++] = make_point(f, i + 1);
    }
    run->plan.in_order = false;
    run->plan.batch = POINTS_OF_CALL;
    run->plan.point_count = count;
    run->plan.measure = measure_points;
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    op_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the chains");
    bj_kit_open_rounds(&run->rounds, request, "op", samples, RANDOM_PURPOSE);
    run->repetitions = plans[request->effort].repetitions;
    run->plan = (bj_round_plan){.count = plans[request->effort].rounds,
                                .first_round = bj_kit_count_rounds(samples, "op.yardstick"),
                                .in_order = true,
                                .point_count = BJ_OP_FAMILIES,
                                .context = run,
                                .measure = measure_family,
                                .after_round = plan_points};
    bj_status status = run->plan.first_round > 0 ? plan_points(run, error) : BJ_OK;
    if (status == BJ_OK)
        status = bj_kit_run_rounds(&run->rounds, &run->plan, error);
    free(run);
    return status;
}

const bj_probe bj_probe_op = {
    .name = "op",
    .question = "What do arithmetic operations cost, relative to a 32-bit addition?",
    .revision = 3,
    .provides =
        (const bj_probe_key[]){{"op.<type>.<op>.latency", "int32 adds", 0.2, 1e5,
                                "until the result can be used, relative to a 32-bit addition", .tolerance = TOLERANCE},
                               {"op.<type>.<op>.throughput", "per int32 add", 1e-5, 64,
                                "independent ones in the time of a 32-bit addition", .tolerance = TOLERANCE},
                               {"op.<type>.<op>.in_flight", "count", 1, 1e4,
                                "independent ones that overlap: latency times throughput", .tolerance = TOLERANCE},
                               {0}},
    .methods = (const char *const[]){"least_ratio", "median_ratio", "second_lowest", NULL},
    .uses_compiler = true,
    .cost_s = {2, 6, 15},
    .memory_bytes = {8u << 20, 8u << 20, 8u << 20},
    .measure = measure,
    .analyse = bj_op_answer,
};
