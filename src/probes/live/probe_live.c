/* How many variables can live in registers at once?
 *
 * Loops over 3 to 132 variables, each added to another one half of them away and all needed in the next turn
 * (blackjackbench-2012, 3.5). Variables that find no register are kept in memory, and the time per addition rises. What
 * is measured is the compiler with the machine: it may keep a register for itself. Times are relative to an addition.
 * The first visit goes type by type and finds out which ones this machine has. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/rounds.h"
#include "probes/live/live_answer.h"
#include "stats/quantile.h"

#define RANDOM_PURPOSE 1u
/* Points of one call: a millisecond or two, before and after which the clock is measured. */
enum { POINTS_OF_CALL = 13, POINTS = BJ_LIVE_MOST - BJ_LIVE_LEAST + 1 };
_Static_assert(POINTS % POINTS_OF_CALL == 0, "a type is measured in whole calls");
/* Samples of the yardstick, of which the least counts. */
enum { YARDSTICKS = 3 };
/* A clock that moved by more during a call spoils it; it is tried again so often, and taken as it is then: some
 * machines never stand still. */
#define STEADY 1.005
enum { TRIES = 2 };

/* Visits of every point in one round. Disturbance adds time, so a low one is kept; not the least, which is often one
 * whose yardstick met a slower clock. */
enum { VISITS = 5 };
#define LOW_OF_VISITS 0.25

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {6, 10, 30};
static const char *const types[BJ_LIVE_TYPES] = {"int32", "int64", "float", "double"};

typedef struct {
    bj_rounds rounds;
    double yardstick_ns; /* as it was last */
    double ns[POINTS_OF_CALL];
    uint32_t points[BJ_LIVE_TYPES * POINTS]; /* of the types that this machine has; shuffled for each visit */
    size_t point_count;
    double visits[BJ_LIVE_TYPES * POINTS][VISITS]; /* of this round */
} live_run;

static bj_status open_curve(live_run *run, size_t type, bj_curve **curve, bj_error *error) {
    bj_curve_axes axes = {bj_live_keys[type], "variables", "count", "time_of_addition", "int32 adds"};
    return bj_kit_open_curve(&run->rounds, &axes, curve, error);
}

static void list_points(live_run *run, size_t type) {
    for (size_t i = 0; i < POINTS; i++)
        run->points[run->point_count++] = (uint32_t)(type * POINTS + i);
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
                             .type = types[points[i] / POINTS],
                             .variables = BJ_LIVE_LEAST + points[i] % POINTS};
    for (int t = 0; t < TRIES && status == BJ_OK && fmax(before, after) > STEADY * fmin(before, after); t++) {
        before = run->yardstick_ns;
        status = machine->verbs->run_live(machine, lives, POINTS_OF_CALL, 1, run->ns, error);
        if (status == BJ_OK)
            status = measure_yardstick(run, error);
        after = run->yardstick_ns;
    }
    for (size_t i = 0; i < POINTS_OF_CALL && status == BJ_OK; i++)
        run->visits[points[i]][visit] = run->ns[i] / ((before + after) / 2);
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
    for (size_t t = 0; t < BJ_LIVE_TYPES && status == BJ_OK; t++) {
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
        double low = bj_stats_quantile(run->visits[point], VISITS, LOW_OF_VISITS);
        bj_curve *curve;
        status = open_curve(run, point / POINTS, &curve, error);
        if (status == BJ_OK && low > 0)
            status = bj_data_record_sample(curve, BJ_LIVE_LEAST + point % POINTS, run->rounds.round, low, error);
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
    return status == BJ_OK && *visits + 1 == VISITS ? record_round(run, error) : status;
}

/* All curves, with samples or not, and the points of those that have some. */
static bj_status open_curves(live_run *run, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t t = 0; t < BJ_LIVE_TYPES && status == BJ_OK; t++) {
        bj_curve *curve;
        status = open_curve(run, t, &curve, error);
        if (status == BJ_OK && curve->round_count > 0)
            list_points(run, t);
    }
    return status;
}

static size_t count_rounds(const bj_curves *samples) {
    size_t most = 0;
    for (size_t t = 0; t < BJ_LIVE_TYPES; t++) {
        size_t rounds = bj_kit_count_rounds(samples, bj_live_keys[t]);
        most = rounds > most ? rounds : most;
    }
    return most;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    live_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the points");
    bj_kit_open_rounds(&run->rounds, request, "live", samples, RANDOM_PURPOSE);
    bj_round_plan plan = {.count = rounds_of_effort[request->effort],
                          .first_round = count_rounds(samples),
                          .in_order = true,
                          .point_count = VISITS,
                          .context = run,
                          .measure = measure_visit};
    bj_status status = open_curves(run, error);
    if (status == BJ_OK)
        status = measure_yardstick(run, error);
    if (status == BJ_OK)
        status = bj_kit_run_rounds(&run->rounds, &plan, error);
    free(run);
    return status;
}

const bj_probe bj_probe_live = {
    .name = "live",
    .question = "How many variables can live in registers at once?",
    .revision = 1,
    .provides = (const bj_probe_key[]){{"live.<type>", "count", 1, 1024, "variables that can live in registers at once",
                                        .tolerance = BJ_SAME_NUMBER},
                                       {0}},
    .methods = (const char *const[]){"spill_onset", "biggest_step", NULL},
    .uses_compiler = true,
    .cost_s = {3, 5, 15},
    .memory_bytes = {2u << 20, 2u << 20, 2u << 20},
    .measure = measure,
    .analyse = bj_live_answer,
    .analyze_curve = BJ_LIVE_TABLE,
    .analyze_x_name = "variables",
    .analyze_x_unit = "count",
};
