#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/live.h"
#include "stats/quantile.h"

/* Points of one call: a millisecond or two, before and after which the clock is measured. */
enum { POINTS_OF_CALL = 13 };
_Static_assert((BJ_LIVE_MOST - BJ_LIVE_LEAST + 1) % POINTS_OF_CALL == 0, "a type is measured in whole calls");
_Static_assert((BJ_LIVE_VECTORS_MOST - BJ_LIVE_LEAST + 1) % POINTS_OF_CALL == 0, "a type is measured in whole calls");
/* Samples of the yardstick, of which the least counts. */
enum { YARDSTICKS = 3 };
/* A clock that moved by more during a call spoils it; it is tried again so often, and taken as it is then: some
 * machines never stand still. */
#define STEADY 1.005
enum { TRIES = 2 };

typedef struct {
    const bj_live_set *set;
    size_t of_type; /* points of one type */
    bj_rounds rounds;
    double yardstick_ns; /* as it was last */
    double ns[POINTS_OF_CALL];
    uint32_t *points; /* of the types that this machine has; shuffled for each visit */
    size_t point_count;
    double *visits; /* of this round, set->visits a point */
} live_run;

static bj_status open_curve(live_run *run, size_t type, bj_curve **curve, bj_error *error) {
    char key[BJ_LIVE_KEY_ROOM];
    bj_kit_name_live(run->set, type, key);
    bj_curve_axes axes = {key, "variables", "count", "time_of_addition", "int32 adds"};
    return bj_kit_open_curve(&run->rounds, &axes, curve, error);
}

static void list_points(live_run *run, size_t type) {
    for (size_t i = 0; i < run->of_type; i++)
        run->points[run->point_count++] = (uint32_t)(type * run->of_type + i);
}

/* A clock that goes back and forth by a few hundredths would bury the first spills, so times are told in additions as
 * they are just then. The loop of the additions is part of it, always the same. */
static bj_status measure_yardstick(live_run *run, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    const bj_chain chain = {
        .cpu = run->rounds.request->cpu, .type = "int32", .operation = "add", .abreast = 1, .unroll = BJ_UNROLL_TWICE};
    double ns[YARDSTICKS];
    BJ_TRY(machine->verbs->run_chains(machine, &chain, 1, YARDSTICKS, ns, error));
    run->yardstick_ns = ns[0];
    for (size_t i = 1; i < YARDSTICKS; i++)
        run->yardstick_ns = fmin(run->yardstick_ns, ns[i]);
    return BJ_OK;
}

static bj_status measure_call(live_run *run, const uint32_t *points, size_t visit, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    bj_live lives[POINTS_OF_CALL];
    double before = 0, after = INFINITY;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < POINTS_OF_CALL; i++)
        lives[i] = (bj_live){.cpu = run->rounds.request->cpu,
                             .type = run->set->types[points[i] / run->of_type],
                             .variables = BJ_LIVE_LEAST + points[i] % (unsigned)run->of_type};
    for (int t = 0; t < TRIES && status == BJ_OK && fmax(before, after) > STEADY * fmin(before, after); t++) {
        before = run->yardstick_ns;
        status = machine->verbs->run_live(machine, lives, POINTS_OF_CALL, 1, run->ns, error);
        if (status == BJ_OK)
            status = measure_yardstick(run, error);
        after = run->yardstick_ns;
    }
    for (size_t i = 0; i < POINTS_OF_CALL && status == BJ_OK; i++)
        run->visits[points[i] * run->set->visits + visit] = run->ns[i] / ((before + after) / 2);
    return status;
}

static bj_status measure_calls(live_run *run, size_t first, size_t visit, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t i = first; i < run->point_count && status == BJ_OK; i += POINTS_OF_CALL)
        status = measure_call(run, run->points + i, visit, error);
    return status;
}

/* The very first visit; a type that the machine does not have gets an outcome instead of points. */
static bj_status explore_types(live_run *run, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t t = 0; t < run->set->count && status == BJ_OK; t++) {
        size_t first = run->point_count;
        bj_curve *curve;
        bj_error trouble = {""};
        list_points(run, t);
        bj_status tried = measure_calls(run, first, 0, &trouble);
        if (tried != BJ_OK)
            run->point_count = first;
        status = open_curve(run, t, &curve, error);
        if (status == BJ_OK)
            status = bj_kit_keep_outcome(curve, tried, &trouble, error);
    }
    return status;
}

static bj_status record_round(live_run *run, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t i = 0; i < run->point_count && status == BJ_OK; i++) {
        uint32_t point = run->points[i];
        double low =
            bj_stats_quantile(run->visits + point * run->set->visits, run->set->visits, run->set->low_of_visits);
        bj_curve *curve;
        status = open_curve(run, point / run->of_type, &curve, error);
        if (status == BJ_OK && low > 0)
            status = bj_data_record_sample(curve, (double)(BJ_LIVE_LEAST + point % run->of_type), run->rounds.round,
                                           low, error);
    }
    return status;
}

/* A point of the kit's round is a visit of all points. */
static bj_status measure_visit(void *context, const uint32_t *visits, size_t count, bj_error *error) {
    live_run *run = context;
    bj_status status;
    (void)count;
    if (run->rounds.round == 0 && *visits == 0) {
        status = explore_types(run, error);
    } else {
        bj_random_shuffle_u32(&run->rounds.random, run->points, run->point_count);
        status = measure_calls(run, 0, *visits, error);
    }
    return status == BJ_OK && *visits + 1 == run->set->visits ? record_round(run, error) : status;
}

/* All curves, with samples or not, and the points of those that have some. */
static bj_status open_curves(live_run *run, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t t = 0; t < run->set->count && status == BJ_OK; t++) {
        bj_curve *curve;
        status = open_curve(run, t, &curve, error);
        if (status == BJ_OK && curve->round_count > 0)
            list_points(run, t);
    }
    return status;
}

static size_t count_rounds(const bj_live_set *set, const bj_curves *samples) {
    size_t most = 0;
    for (size_t t = 0; t < set->count; t++) {
        char key[BJ_LIVE_KEY_ROOM];
        bj_kit_name_live(set, t, key);
        size_t rounds = bj_kit_count_rounds(samples, key);
        most = rounds > most ? rounds : most;
    }
    return most;
}

bj_status bj_kit_measure_live(const bj_live_set *set, const bj_measure_request *request, bj_curves *samples,
                              uint64_t purpose, bj_error *error) {
    live_run run = {.set = set, .of_type = set->most - BJ_LIVE_LEAST + 1};
    size_t points = set->count * run.of_type;
    run.points = calloc(points, sizeof *run.points);
    run.visits = calloc(points * set->visits, sizeof *run.visits);
    bj_kit_open_rounds(&run.rounds, request, set->probe, samples, purpose);
    bj_round_plan plan = {.count = set->rounds[request->effort],
                          .first_round = count_rounds(set, samples),
                          .progress_from = set->progress_from,
                          .progress_to = set->progress_to,
                          .in_order = true,
                          .point_count = set->visits,
                          .context = &run,
                          .measure = measure_visit};
    bj_status status = run.points != NULL && run.visits != NULL
                           ? open_curves(&run, error)
                           : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the points");
    if (status == BJ_OK)
        status = measure_yardstick(&run, error);
    if (status == BJ_OK)
        status = bj_kit_run_rounds(&run.rounds, &plan, error);
    free(run.points);
    free(run.visits);
    return status;
}
