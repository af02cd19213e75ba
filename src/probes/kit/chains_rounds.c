#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/chains.h"

/* Points of one call: some ten milliseconds, after which the addition is measured again and the deadline looked at. */
enum { POINTS_OF_CALL = 32, REPETITIONS_MOST = 6, ABREAST = BJ_CHAIN_ABREAST_MAX };

typedef struct {
    const bj_chain_set *set;
    bj_rounds rounds;
    bj_round_plan plan;
    unsigned repetitions;
    uint32_t *points; /* that this machine has, for the second round and later ones */
    bj_chain chains[2 * POINTS_OF_CALL];
    double ns[2 * POINTS_OF_CALL * REPETITIONS_MOST];
} chain_run;

void bj_kit_name_chain(const bj_chain_family *family, bj_unroll unroll, char *id) {
    /* A companion that only keeps the chain going is not part of the name. */
    int is_pair = family->then != NULL && family->abreast == 1;
    snprintf(id, BJ_CHAIN_NAME_ROOM, "op.%s.%s%s%s%s", family->type, family->operation, is_pair ? "_" : "",
             is_pair ? family->then : "", unroll == BJ_UNROLL_ONCE ? ".once" : "");
}

const bj_curve *bj_kit_find_chain(const bj_curves *samples, const bj_chain_family *family, bj_unroll unroll) {
    char id[BJ_CHAIN_NAME_ROOM];
    bj_kit_name_chain(family, unroll, id);
    return bj_data_find_curve(samples, id);
}

/* A point is a family and a number of chains side by side, in two loops. */
static uint32_t make_point(uint32_t family, uint32_t abreast) {
    return family * ABREAST + abreast - 1;
}

static const bj_unroll unrolls[2] = {BJ_UNROLL_TWICE, BJ_UNROLL_ONCE};

static bj_status open_curve(chain_run *run, uint32_t family, bj_unroll unroll, bj_curve **curve, bj_error *error) {
    char id[BJ_CHAIN_NAME_ROOM];
    bj_kit_name_chain(&run->set->families[family], unroll, id);
    bj_curve_axes axes = {id, "streams", "count", "time_of_step", "ns"};
    return bj_kit_open_curve(&run->rounds, &axes, curve, error);
}

static void put_chains(chain_run *run, size_t position, const bj_chain_family *family, unsigned abreast) {
    for (size_t i = 0; i < 2; i++)
        run->chains[2 * position + i] = (bj_chain){.cpu = run->rounds.request->cpu,
                                                   .type = family->type,
                                                   .operation = family->operation,
                                                   .then = family->then,
                                                   .abreast = abreast,
                                                   .unroll = unrolls[i]};
}

/* Low, since disturbance adds time. */
static double least_of(const chain_run *run, size_t chain) {
    double least = run->ns[chain * run->repetitions];
    for (unsigned i = 1; i < run->repetitions; i++)
        least = fmin(least, run->ns[chain * run->repetitions + i]);
    return least;
}

/* The addition, then the points. */
static bj_status run_points(chain_run *run, const uint32_t *points, size_t count, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    BJ_TRY(bj_kit_time_yardstick(&run->rounds, error));
    for (size_t i = 0; i < count; i++)
        put_chains(run, i, &run->set->families[points[i] / ABREAST], points[i] % ABREAST + 1);
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
    chain_run *run = context;
    uint32_t points[POINTS_OF_CALL];
    for (size_t i = 0; i < count; i++)
        points[i] = run->points[numbers[i]];
    return run_points(run, points, count, error);
}

/* The points of a family, appended; how many there are then. */
static size_t list_points(const bj_chain_family *family, uint32_t number, uint32_t *points, size_t count) {
    for (uint32_t i = 1; i <= family->abreast; i++)
        if (!family->is_sparse || (BJ_CHAIN_SPARSE >> (i - 1) & 1) != 0)
            points[count++] = make_point(number, i);
    return count;
}

/* All of a family at once; one that the machine does not have gets an outcome instead of samples. */
static bj_status measure_family(void *context, const uint32_t *families, size_t count, bj_error *error) {
    chain_run *run = context;
    uint32_t family = *families, points[ABREAST];
    bj_curve *curve;
    bj_error trouble = {""};
    (void)count;
    size_t point_count = list_points(&run->set->families[family], family, points, 0);
    bj_status tried = run_points(run, points, point_count, &trouble);
    BJ_TRY(open_curve(run, family, BJ_UNROLL_TWICE, &curve, error));
    BJ_TRY(bj_kit_keep_outcome(curve, tried, &trouble, error));
    return open_curve(run, family, BJ_UNROLL_ONCE, &curve, error);
}

/* After the first round: all points of the families that it has samples of, in random order. */
static bj_status plan_points(void *context, bj_error *error) {
    chain_run *run = context;
    size_t count = 0;
    bj_curve *curve;
    bj_status status = BJ_OK;
    for (uint32_t f = 0; f < run->set->count && status == BJ_OK; f++) {
        status = open_curve(run, f, BJ_UNROLL_TWICE, &curve, error);
        if (status == BJ_OK && curve->round_count > 0)
            count = list_points(&run->set->families[f], f, run->points, count);
    }
    run->plan.in_order = false;
    run->plan.batch = POINTS_OF_CALL;
    run->plan.point_count = count;
    run->plan.measure = measure_points;
    return status;
}

bj_status bj_kit_measure_chains(const bj_chain_set *set, const bj_measure_request *request, bj_curves *samples,
                                uint64_t purpose, bj_error *error) {
    char yardstick[BJ_CHAIN_NAME_ROOM];
    chain_run *run = calloc(1, sizeof *run + set->count * ABREAST * sizeof *run->points);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the chains");
    run->set = set;
    run->points = (uint32_t *)(run + 1);
    bj_kit_open_rounds(&run->rounds, request, set->probe, samples, purpose);
    run->repetitions = set->repetitions[request->effort];
    snprintf(yardstick, sizeof yardstick, "%s.yardstick", set->probe);
    run->plan = (bj_round_plan){.count = set->rounds[request->effort],
                                .first_round = bj_kit_count_rounds(samples, yardstick),
                                .progress_from = set->progress_from,
                                .progress_to = set->progress_to,
                                .in_order = true,
                                .point_count = set->count,
                                .context = run,
                                .measure = measure_family,
                                .after_round = plan_points};
    bj_status status = run->plan.first_round > 0 ? plan_points(run, error) : BJ_OK;
    if (status == BJ_OK)
        status = bj_kit_run_rounds(&run->rounds, &run->plan, error);
    free(run);
    return status;
}
