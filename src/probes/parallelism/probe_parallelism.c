/* How many independent misses can one core have in flight?
 *
 * A random walk beyond all caches is cut into chains that one thread follows side by side. As long as their misses
 * overlap, the time per access falls with every chain; the answer is how much it falls in the end: the time of one
 * chain by the least time of any number of them. The first round looks at all numbers, later ones at one chain and at
 * the fastest, each in a fresh arena and a new order. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"
#include "probes/parallelism/parallelism_constants.h"
#include "stats/quantile.h"

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
    bj_rounds rounds;
    bj_round_plan plan;
    size_t place_count;
    unsigned points[POINT_COUNT]; /* numbers of chains */
} parallelism_run;

/* All numbers of chains must cut them into equal parts. */
static size_t count_places(size_t bytes) {
    return bytes / (GRAIN_BYTES * COMMON_MULTIPLE) * COMMON_MULTIPLE;
}

static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {CURVE, "chains", "count", "time_per_access", "ns"};
    parallelism_run *run = context;
    unsigned chains = run->points[*points];
    double ns = 0;
    (void)count;
    BJ_TRY(bj_kit_walk_chains(&run->rounds, run->rounds.places, run->place_count, chains,
                              chains <= FEW_CHAINS ? REPETITIONS_OF_FEW : REPETITIONS, &ns, error));
    return bj_kit_record(&run->rounds, &axes, chains, ns, error);
}

/* One order for all numbers of chains of a round. */
static bj_status order_walk(void *context, bj_error *error) {
    parallelism_run *run = context;
    run->place_count = count_places(run->rounds.arena_bytes);
    bj_walk_shape shape = {.bytes = run->place_count * GRAIN_BYTES,
                           .grain_bytes = GRAIN_BYTES,
                           .page_bytes = run->rounds.request->machine->facts.page_bytes};
    BJ_TRY(bj_kit_reserve_places(&run->rounds, run->place_count, error));
    bj_machine_order_places(BJ_ORDER_RANDOM, &shape, &run->rounds.random, run->rounds.places);
    return BJ_OK;
}

/* After the first round: one chain, a few, and the numbers that were fastest in it. */
static bj_status keep_fastest(void *context, bj_error *error) {
    parallelism_run *run = context;
    const bj_curve *curve = bj_data_find_curve(run->rounds.samples, CURVE);
    bool taken[POINT_COUNT] = {false};
    (void)error;
    if (run->plan.point_count < POINT_COUNT || curve == NULL || curve->x_count < POINT_COUNT)
        return BJ_OK;
    for (size_t i = 0; i < POINT_COUNT; i++)
        taken[i] = chain_counts[i] <= FEW_CHAINS;
    run->points[0] = 1;
    run->points[1] = FEW_CHAINS;
    for (run->plan.point_count = 2; run->plan.point_count < 2 + FASTEST; run->plan.point_count++) {
        size_t best = 0;
        for (size_t i = 1; i < POINT_COUNT; i++)
            if (!taken[i] && (best == 0 || curve->rounds[0][i] < curve->rounds[0][best]))
                best = i;
        taken[best] = true;
        run->points[run->plan.point_count] = chain_counts[best];
    }
    return BJ_OK;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    parallelism_run run;
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    double largest = bj_known_caches_largest(&caches);
    run.plan = (bj_round_plan){.count = plan->rounds,
                               .first_round = bj_kit_count_rounds(samples, CURVE),
                               .seconds = plan->seconds,
                               .least_bytes = (size_t)fmax(OVER_LAST_LEAST * largest, MIB),
                               .point_count = POINT_COUNT,
                               .context = &run,
                               .prepare = order_walk,
                               .measure = measure_point,
                               .after_round = keep_fastest};
    for (size_t i = 0; i < POINT_COUNT; i++)
        run.points[i] = chain_counts[i];
    bj_kit_open_rounds(&run.rounds, request, "parallelism", samples, RANDOM_PURPOSE);
    double bytes = bj_kit_limit_arena(request, fmax(OVER_LAST * largest, plan->least_bytes));
    bj_kit_plan_arena(&run.rounds, (size_t)(floor(bytes / MIB) * MIB), REPETITIONS);
    if (caches.count == 0 || run.rounds.arena_bytes < run.plan.least_bytes)
        return BJ_OK;
    if (request->more_rounds > 0) {
        if (!bj_kit_recall_arena(&run.rounds, bj_data_find_curve(samples, CURVE)) ||
            count_places(run.rounds.arena_bytes) == 0)
            return BJ_OK;
        run.plan.least_bytes = run.rounds.arena_bytes;
    }
    bj_status status = keep_fastest(&run, error); /* of rounds that are there already */
    if (status == BJ_OK)
        status = bj_kit_run_rounds(&run.rounds, &run.plan, error);
    if (status == BJ_OK)
        status = bj_kit_keep_arena(&run.rounds, (bj_curve *)bj_data_find_curve(samples, CURVE), error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

typedef struct {
    const bj_curve *curve;
    double *scratch;
    double fastest; /* number of chains, of the last one asked */
} ratio_context;

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
        double low = bj_kit_quantile_of_point(curve, i, index, count, BJ_LOW_QUANTILE, context->scratch);
        one = fmin(one, curve->x[i] * low);
        if (isnan(low) || low >= least)
            continue;
        least = low;
        context->fastest = curve->x[i];
    }
    return one / least;
}

static void fill_answer(bj_answer *answer, const ratio_context *context, bj_estimate *ratio) {
    if (isnan(ratio->value)) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no round has both one chain and several");
        return;
    }
    double most = context->curve->x[context->curve->x_count - 1];
    if (context->fastest == most && ratio->value > STILL_FALLING * most) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the time still falls at %.0f chains", most);
        return;
    }
    bool stable = ratio->single[BJ_SINGLE_GREATEST] <= STABLE_SCATTER * ratio->single[BJ_SINGLE_LEAST];
    bj_kit_widen(ratio, SYSTEMATIC, SYSTEMATIC);
    bj_kit_fill_answer(answer, ratio, stable ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM);
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, CURVE);
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, "memory.parallelism", "count", &answer, error);
    if (status != BJ_OK)
        return status;
    if (curve == NULL || curve->round_count == 0) {
        bj_known_caches caches;
        bj_known_caches_read(request->earlier, &caches);
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      caches.count == 0 ? "the caches are not known" : "no buffer beyond the last cache was allowed");
        return BJ_OK;
    }
    bj_data_cite_curve(answer, CURVE);
    ratio_context context = {.curve = curve, .scratch = malloc(curve->round_count * sizeof *context.scratch)};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    bj_estimate ratio;
    bj_estimate_request resampling = {.rounds = curve->round_count,
                                      .seed = request->seed,
                                      .tolerance = TOLERANCE,
                                      .statistic = find_ratio,
                                      .context = &context,
                                      .curve = curve};
    status = bj_kit_estimate(&resampling, &ratio, error);
    if (status == BJ_OK)
        fill_answer(answer, &context, &ratio);
    free(context.scratch);
    return status;
}

const bj_probe bj_probe_parallelism = {
    .name = "parallelism",
    .question = "How many independent misses can one core have in flight?",
    .revision = 3,
    .provides = (const bj_probe_key[]){{"memory.parallelism", "count", 1, 1024,
                                        "independent misses in flight before time per miss stops falling",
                                        .tolerance = TOLERANCE},
                                       {0}},
    .needs = (const char *const[]){"cache", NULL},
    .methods = (const char *const[]){"chains", NULL},
    .cost_s = {1, 3, 15},
    .memory_bytes = {128u << 20, 256u << 20, 1024u << 20},
    .measure = measure,
    .analyse = analyse,
};
