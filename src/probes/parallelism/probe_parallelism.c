/* How many independent misses can one core have in flight?
 *
 * A random walk beyond all caches is cut into chains that one thread follows side by side. As long as their misses
 * overlap, the time per access falls with every chain; the answer is how much it falls in the end: the time of one
 * chain by the least time of any number of them. The first round looks at all numbers, later ones at one chain and at
 * the fastest, each in a fresh arena and a new order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/walk_order.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/sweep.h"
#include "probes/probe.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"

#define REVISION 1u
#define CURVE "parallelism.walk"
#define RANDOM_PURPOSE 0x70617261u
#define MIB 1048576.0
#define GRAIN_BYTES 64u
/* Walked in a circle, a last level keeps few lines of a working set over twice its size, and hits overlap like misses.
 */
#define OVER_LAST 2.5
#define OVER_LAST_LEAST 1.2
/* Batches of few chains last some milliseconds, so that most may be disturbed: more of them. */
#define REPETITIONS 3u
#define REPETITIONS_OF_FEW 9u
#define FEW_CHAINS 4u
/* Numbers of chains that later rounds look at, besides one and four. */
#define FASTEST 2u
#define RESAMPLES 400u
/* More chains than the most may still be faster if so large a share of it is in flight. */
#define STILL_FALLING 0.85
/* Rounds whose answers differ by more saw different machines. */
#define STABLE_SPREAD 1.25
#define SYSTEMATIC 0.02

/* No further apart than half as many again: where the time stops falling, some number shows it. */
static const unsigned chain_counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
#define POINT_COUNT (sizeof chain_counts / sizeof chain_counts[0])
#define COMMON_MULTIPLE 192u

typedef struct {
    unsigned rounds;
    double seconds; /* after which no round begins, once there are enough for an interval */
    double least_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 1, 32 * MIB}, {6, 2, 64 * MIB}, {24, 15, 128 * MIB}};

typedef struct {
    const bj_measure_request *request;
    bj_sweep sweep;
    bj_curve *curve;
    size_t least_bytes; /* of an arena that is still beyond the caches */
    uint32_t *places;
    size_t place_count;
    size_t round;
} parallelism_run;

/* All numbers of chains must cut them into equal parts. */
static size_t count_places(size_t bytes) {
    return bytes / (GRAIN_BYTES * COMMON_MULTIPLE) * COMMON_MULTIPLE;
}

static bj_status measure_point(parallelism_run *run, unsigned chains, double *ns, bj_error *error) {
    bj_machine *machine = run->request->machine;
    bj_walk walk = {.arena = run->sweep.arena,
                    .cpu = run->request->cpu,
                    .places = run->places,
                    .count = run->place_count,
                    .chains = chains};
    bj_walk_effort effort = {.repetitions = chains <= FEW_CHAINS ? REPETITIONS_OF_FEW : REPETITIONS};
    double samples[REPETITIONS_OF_FEW];
    bj_status status = machine->verbs->run_walks(machine, &walk, 1, &effort, samples, error);
    if (status != BJ_OK)
        return status;
    *ns = samples[0];
    for (unsigned i = 1; i < effort.repetitions; i++)
        *ns = fmin(*ns, samples[i]);
    return bj_data_record_sample(run->curve, chains, run->round, *ns, error);
}

/* Leaves in `points` one chain, a few, and the numbers that were fastest. */
static size_t keep_fastest(const double *ns, unsigned *points) {
    size_t kept = 2;
    bool taken[POINT_COUNT] = {false};
    for (size_t i = 0; i < POINT_COUNT; i++)
        taken[i] = chain_counts[i] <= FEW_CHAINS;
    points[0] = 1;
    points[1] = FEW_CHAINS;
    while (kept < 2 + FASTEST) {
        size_t best = 0;
        for (size_t i = 1; i < POINT_COUNT; i++)
            if (!taken[i] && (best == 0 || ns[i] < ns[best]))
                best = i;
        taken[best] = true;
        points[kept++] = chain_counts[best];
    }
    return kept;
}

static bj_status measure_round(parallelism_run *run, unsigned *points, size_t *point_count, bj_error *error) {
    bj_status status = bj_sweep_open_arena(&run->sweep, run->least_bytes, error);
    run->sweep.pages_fixed = true;
    if (status != BJ_OK)
        return status;
    run->place_count = count_places(run->sweep.arena_bytes);
    bj_walk_shape shape = {.bytes = run->place_count * GRAIN_BYTES,
                           .grain_bytes = GRAIN_BYTES,
                           .page_bytes = run->request->machine->facts.page_bytes};
    bj_machine_order_places(BJ_ORDER_RANDOM, &shape, &run->sweep.random, run->places);
    uint32_t order[POINT_COUNT];
    double ns[POINT_COUNT];
    for (size_t i = 0; i < *point_count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->sweep.random, order, *point_count);
    for (size_t i = 0; status == BJ_OK && i < *point_count; i++)
        status = measure_point(run, points[order[i]], &ns[order[i]], error);
    if (status == BJ_OK && run->round == 0)
        *point_count = keep_fastest(ns, points);
    return status;
}

static bj_status measure_rounds(parallelism_run *run, const effort_plan *plan, bj_error *error) {
    const bj_measure_request *request = run->request;
    bj_machine *machine = request->machine;
    unsigned points[POINT_COUNT];
    size_t point_count = POINT_COUNT;
    for (size_t i = 0; i < POINT_COUNT; i++)
        points[i] = chain_counts[i];
    double started_s = machine->verbs->read_clock(machine);
    bj_status status = BJ_OK;
    for (run->round = 0; status == BJ_OK && run->round < plan->rounds; run->round++) {
        status = measure_round(run, points, &point_count, error);
        if (status == BJ_OK)
            status = bj_probe_report(request, (run->round + 1.0) / plan->rounds, error);
        double now_s = machine->verbs->read_clock(machine);
        if (now_s > request->deadline_s ||
            (run->round + 1 >= BJ_BOOTSTRAP_ROUNDS_NEEDED && now_s - started_s > plan->seconds))
            break;
    }
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    parallelism_run run = {.request = request};
    bj_status status = bj_data_add_curve(samples, CURVE, "parallelism", &run.curve, error);
    if (status != BJ_OK)
        return status;
    bj_data_name_axes(run.curve, "chains", "count", "time_per_access", "ns");
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    double largest = bj_known_caches_largest(&caches);
    run.least_bytes = (size_t)fmax(OVER_LAST_LEAST * largest, MIB);
    /* Places take a sixteenth of the arena beside it, and a machine may want them once more. */
    double bytes = fmin(fmax(OVER_LAST * largest, plan->least_bytes), (double)request->memory_bytes / 1.2);
    bj_sweep_init(&run.sweep, request, RANDOM_PURPOSE, (size_t)(floor(bytes / MIB) * MIB), REPETITIONS);
    if (caches.count == 0 || run.sweep.arena_bytes < run.least_bytes)
        return BJ_OK;
    run.places = malloc(count_places(run.sweep.arena_bytes) * sizeof *run.places);
    if (run.places == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the places of %zu bytes",
                                 run.sweep.arena_bytes);
    status = measure_rounds(&run, plan, error);
    bj_sweep_free(&run.sweep);
    free(run.places);
    return status;
}

typedef struct {
    const bj_curve *curve;
    double *scratch;
    double fastest; /* number of chains, of the last one asked */
} ratio_context;

static double low_of_point(ratio_context *context, size_t point, const size_t *index, size_t count) {
    for (size_t i = 0; i < count; i++)
        context->scratch[i] = context->curve->rounds[index[i]][point];
    return bj_stats_low_quantile(context->scratch, count);
}

/* Time of one chain by the least of any number; NaN: these rounds lack either. One chain takes no longer than n times
 * what an access of n chains does, so that where its own batches were disturbed those of a few tell its time. A number
 * of chains that was seen in the first round only has one sample against the low quantile of many: it cannot be lower
 * by luck, since disturbance only adds time. */
static double find_ratio(void *argument, const size_t *index, size_t count) {
    ratio_context *context = argument;
    const bj_curve *curve = context->curve;
    if (curve->x_count == 0 || curve->x[0] != 1)
        return NAN;
    double one = NAN, least = NAN;
    for (size_t i = 0; i < curve->x_count; i++) {
        double low = low_of_point(context, i, index, count);
        one = fmin(one, curve->x[i] * low);
        if (isnan(low) || low >= least)
            continue;
        least = low;
        context->fastest = curve->x[i];
    }
    return one / least;
}

/* Whether single rounds agree. */
static bool is_stable(ratio_context *context) {
    double least = INFINITY, most = 0;
    for (size_t r = 0; r < context->curve->round_count; r++) {
        double ratio = find_ratio(context, &r, 1);
        if (isnan(ratio))
            continue;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    return most <= STABLE_SPREAD * least;
}

static bj_status fill_answer(bj_answer *answer, ratio_context *context, uint64_t seed, bj_error *error) {
    size_t rounds = context->curve->round_count;
    size_t *all = malloc(rounds * sizeof *all);
    if (all == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", rounds);
    bj_bootstrap bootstrap = {0};
    bj_status status = bj_stats_bootstrap_rounds(rounds, RESAMPLES, seed, find_ratio, context, &bootstrap, error);
    for (size_t i = 0; i < rounds; i++)
        all[i] = i;
    double value = find_ratio(context, all, rounds);
    free(all);
    double low = isnan(bootstrap.low) ? value : bootstrap.low, high = isnan(bootstrap.high) ? value : bootstrap.high;
    bj_stats_free_bootstrap(&bootstrap);
    if (status != BJ_OK)
        return status;
    double most = context->curve->x[context->curve->x_count - 1];
    if (isnan(value) || (context->fastest == most && value > STILL_FALLING * most)) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        if (isnan(value))
            snprintf(answer->reason, sizeof answer->reason, "no round has both one chain and several");
        else
            snprintf(answer->reason, sizeof answer->reason, "the time still falls at %.0f chains", most);
        return BJ_OK;
    }
    bool stable = is_stable(context);
    answer->value = value;
    answer->has_interval = true;
    answer->interval[0] = fmin(value, low) * (1 - SYSTEMATIC);
    answer->interval[1] = fmax(value, high) * (1 + SYSTEMATIC);
    answer->confidence = rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED ? BJ_CONFIDENCE_LOW
                         : stable                            ? BJ_CONFIDENCE_HIGH
                                                             : BJ_CONFIDENCE_MEDIUM;
    return BJ_OK;
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, CURVE);
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, "memory.parallelism", "count", &answer, error);
    if (status != BJ_OK)
        return status;
    snprintf(answer->method, sizeof answer->method, "chains/%u", REVISION);
    if (curve == NULL || curve->round_count == 0) {
        bj_known_caches caches;
        bj_known_caches_read(request->earlier, &caches);
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason, "%s",
                 caches.count == 0 ? "the caches are not known" : "no buffer beyond the last cache was allowed");
        return BJ_OK;
    }
    bj_data_cite_curve(answer, CURVE);
    ratio_context context = {.curve = curve, .scratch = malloc(curve->round_count * sizeof *context.scratch)};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    status = fill_answer(answer, &context, request->seed, error);
    free(context.scratch);
    return status;
}

static const bj_probe_key provides[] = {
    {"memory.parallelism", "count", 1, 1024, "independent misses in flight before time per miss stops falling"},
};
static const char *const needs[] = {"cache", NULL};
static const char *const methods[] = {"chains", NULL};

const bj_probe bj_probe_parallelism = {
    .name = "parallelism",
    .question = "How many independent misses can one core have in flight?",
    .revision = REVISION,
    .provides = provides,
    .provides_count = sizeof provides / sizeof provides[0],
    .needs = needs,
    .methods = methods,
    .requires_cpus = 1,
    .cost_s = {1, 3, 15},
    .memory_bytes = {128u << 20, 256u << 20, 1024u << 20},
    .measure = measure,
    .analyse = analyse,
};
