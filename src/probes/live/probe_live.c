/* How many variables can live in registers at once?
 *
 * Loops over 3 to 132 variables, each added to another one half of them away and all needed in the next turn
 * (blackjackbench-2012, 3.5). Variables that find no register are kept in memory, and the time per addition rises. What
 * is measured is the compiler with the machine: it may keep a register for itself. Times are relative to an addition.
 */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "probes/live/live_answer.h"
#include "probes/probe.h"
#include "stats/quantile.h"

/* Points of one call: a millisecond or two, before and after which the clock is measured. */
enum { POINTS_OF_CALL = 13, STREAM_ORDER = 1, POINTS = BJ_LIVE_MOST - BJ_LIVE_LEAST + 1 };
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

typedef struct {
    const bj_measure_request *request;
    bj_curves *samples;
    size_t round, visit;
    double yardstick_ns; /* as it was last */
    double ns[POINTS_OF_CALL];
    double visits[BJ_LIVE_TYPES * POINTS][VISITS]; /* of this round */
} live_run;

static bj_status add_curves(bj_curves *samples, bj_error *error) {
    bj_curve *curve;
    bj_status status = BJ_OK;
    for (size_t t = 0; t < BJ_LIVE_TYPES && status == BJ_OK; t++) {
        char name[BJ_LIVE_NAME_ROOM];
        bj_live_name(t, name);
        status = bj_data_add_curve(samples, name, "live", &curve, error);
        if (status == BJ_OK)
            bj_data_name_axes(curve, "variables", "count", "time_of_addition", "int32 adds");
    }
    return status;
}

static size_t type_of(uint32_t point) {
    return point / POINTS;
}

/* A clock that goes back and forth by a few hundredths would bury the first spills, so times are told in additions as
 * they are just then. The loop of the additions is part of it, always the same. */
static bj_status measure_yardstick(live_run *run, bj_error *error) {
    bj_machine *machine = run->request->machine;
    const bj_chain chain = {
        .cpu = run->request->cpu, .type = "int32", .operation = "add", .streams = 1, .unroll = BJ_UNROLL_TWICE};
    double ns[YARDSTICKS];
    bj_status status = machine->verbs->run_chains(machine, &chain, 1, YARDSTICKS, ns, error);
    if (status != BJ_OK)
        return status;
    run->yardstick_ns = ns[0];
    for (size_t i = 1; i < YARDSTICKS; i++)
        run->yardstick_ns = fmin(run->yardstick_ns, ns[i]);
    return BJ_OK;
}

static bj_status measure_points(live_run *run, const uint32_t *points, size_t count, bj_error *error) {
    bj_machine *machine = run->request->machine;
    bj_live lives[POINTS_OF_CALL];
    double before = 0, after = INFINITY;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count; i++)
        lives[i] = (bj_live){.cpu = run->request->cpu,
                             .type = bj_live_types[type_of(points[i])],
                             .variables = BJ_LIVE_LEAST + points[i] % POINTS};
    for (int t = 0; t < TRIES && status == BJ_OK && fmax(before, after) > STEADY * fmin(before, after); t++) {
        before = run->yardstick_ns;
        status = machine->verbs->run_live(machine, lives, count, 1, run->ns, error);
        if (status == BJ_OK)
            status = measure_yardstick(run, error);
        after = run->yardstick_ns;
    }
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        run->visits[points[i]][run->visit] = run->ns[i] / ((before + after) / 2);
    return status;
}

/* Of the visits that there were. */
static bj_status record_round(live_run *run, const uint32_t *points, size_t count, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        double low = bj_stats_quantile(run->visits[points[i]], VISITS, LOW_OF_VISITS);
        if (low > 0)
            status = bj_data_record_sample(&run->samples->items[type_of(points[i])], BJ_LIVE_LEAST + points[i] % POINTS,
                                           run->round, low, error);
    }
    return status;
}

static void forget_visits(live_run *run) {
    for (size_t i = 0; i < BJ_LIVE_TYPES * POINTS; i++)
        for (size_t v = 0; v < VISITS; v++)
            run->visits[i][v] = NAN;
}

static bj_status pause_between(const live_run *run, double fraction, bool *is_over, bj_error *error) {
    *is_over = bj_probe_is_late(run->request);
    return bj_probe_report(run->request, fraction, error);
}

/* The first round goes type by type and finds out which ones this machine has; `points` get theirs. */
static bj_status measure_first(live_run *run, double share, uint32_t *points, size_t *count, bool *is_over,
                               bj_error *error) {
    bj_status status = BJ_OK;
    for (uint32_t t = 0; t < BJ_LIVE_TYPES && status == BJ_OK && !*is_over; t++) {
        uint32_t *own = points + *count;
        bj_error trouble = {""};
        for (uint32_t i = 0; i < POINTS; i++)
            own[i] = t * POINTS + i;
        for (size_t i = 0; i < POINTS && status == BJ_OK; i += POINTS_OF_CALL)
            status = measure_points(run, own + i, POINTS_OF_CALL, &trouble);
        if (status == BJ_OK)
            *count += POINTS;
        else if (status == BJ_ERR_UNSUPPORTED || status == BJ_ERR_FAILED)
            status = bj_data_set_attribute_text(
                &run->samples->items[t], BJ_OUTCOME,
                status == BJ_ERR_UNSUPPORTED ? BJ_OUTCOME_UNSUPPORTED : BJ_OUTCOME_WRONG, error);
        else
            return bj_base_set_error(error, status, "%s", trouble.text);
        if (status == BJ_OK)
            status = pause_between(run, share * (t + 1) / BJ_LIVE_TYPES, is_over, error);
    }
    return status;
}
_Static_assert(POINTS % POINTS_OF_CALL == 0, "a type is measured in whole calls");

/* One visit of all points in random order. */
static bj_status measure_visit(live_run *run, uint32_t *points, size_t count, double done, double share, bool *is_over,
                               bj_random *random, bj_error *error) {
    bj_status status = BJ_OK;
    bj_random_shuffle_u32(random, points, count);
    for (size_t i = 0; i < count && status == BJ_OK && !*is_over; i += POINTS_OF_CALL) {
        status = measure_points(run, points + i, POINTS_OF_CALL, error);
        if (status == BJ_OK)
            status = pause_between(run, done + share * (double)(i + POINTS_OF_CALL) / (double)count, is_over, error);
    }
    return status;
}

static bj_status measure_rounds(live_run *run, uint32_t *points, bj_error *error) {
    unsigned rounds = rounds_of_effort[run->request->effort];
    double share = 1.0 / (rounds * VISITS);
    bj_random random;
    bj_random_seed(&random, bj_random_mix(run->request->seed, STREAM_ORDER));
    size_t count = 0;
    bool is_over = false;
    forget_visits(run);
    bj_status status = measure_first(run, share, points, &count, &is_over, error);
    for (run->round = 0; run->round < rounds && status == BJ_OK && !is_over; run->round++) {
        for (run->visit = run->round == 0; run->visit < VISITS && status == BJ_OK && !is_over; run->visit++)
            status = measure_visit(run, points, count, share * (double)(run->round * VISITS + run->visit), share,
                                   &is_over, &random, error);
        if (status == BJ_OK)
            status = record_round(run, points, count, error);
        forget_visits(run);
    }
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    live_run *run = calloc(1, sizeof *run);
    uint32_t *points = calloc(BJ_LIVE_TYPES * POINTS, sizeof *points);
    bj_status status = add_curves(samples, error);
    if (status == BJ_OK && (run == NULL || points == NULL))
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the points");
    if (status == BJ_OK) {
        run->request = request;
        run->samples = samples;
        status = measure_yardstick(run, error);
    }
    if (status == BJ_OK)
        status = measure_rounds(run, points, error);
    free(run);
    free(points);
    return status;
}

const bj_probe bj_probe_live = {
    .name = "live",
    .question = "How many variables can live in registers at once?",
    .revision = 1,
    .provides =
        (const bj_probe_key[]){{"live.<type>", "count", 1, 1024, "variables that can live in registers at once"}, {0}},
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
