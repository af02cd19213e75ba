/* How large is a page, as the TLB sees it?
 *
 * The 2012 paper (3.2) walks a large array with growing strides: below the page size some visits share a page and a
 * TLB entry, from it on none do, and the answer is the biggest scaled step. Strides feed prefetchers and collide in
 * caches, so here partners at growing distances do the same in random order: as many lines at any distance, but
 * twice as many pages once the distance is a page. Several numbers of partners, since only those that exceed a TLB show
 * it, and their mean is the curve. The answer is the first distance after the step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/sweep.h"
#include "probes/probe.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/steps.h"

#define REVISION 1u
#define CURVE "page.partners"
#define RANDOM_PURPOSE 0x70616765u
#define MIB 1048576.0
/* The line, or part of it. */
#define GRAIN_BYTES 64u
/* First levels of TLBs have some ten to some two hundred entries: from below the former to beyond the latter, doubling.
 */
#define FEWEST_BLOCKS 8u
#define MOST_BLOCKS 512u
#define FIRST_DISTANCE 1024u
#define DISTANCES_MAX 16u
/* Beyond the granule that the system allocates by, for pages that turn out to be larger. */
#define OVER_GRANULE 4.0
#define LEAST_BLOCK_BYTES (64 * 1024.0)
#define REPETITIONS 2u
#define RESAMPLES 400u
#define LOW_OF_ROUNDS 0.25
/* A step of less than this share is none, nor one that fewer than half of the resamples see there. */
#define LEAST_SHARE 0.03
#define SUPPORT_LEAST 0.5
/* A second rise of more than these shares of the first leaves doubt about both, or no step at all. */
#define SECOND_SHARE 0.5
#define SECOND_SHARE_MOST 0.75
#define SUPPORT_HIGH 0.99
#define SUPPORT_MEDIUM 0.9

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {6, 12, 30};

typedef struct {
    const bj_measure_request *request;
    bj_sweep sweep;
    bj_curve *curve;
    size_t distances[DISTANCES_MAX];
    size_t distance_count;
} page_run;

static bj_status measure_distance(page_run *run, size_t distance, double *mean_ns, bj_error *error) {
    bj_status status = BJ_OK;
    double sum = 0;
    unsigned numbers = 0;
    for (unsigned blocks = FEWEST_BLOCKS; blocks <= MOST_BLOCKS && status == BJ_OK; blocks *= 2) {
        bj_partner_walk_shape shape = {.block_bytes = run->sweep.arena_bytes / blocks,
                                       .blocks = blocks,
                                       .grain_bytes = GRAIN_BYTES,
                                       .distance_bytes = distance};
        double ns = 0;
        status = bj_sweep_reserve_places(&run->sweep, 2 * (size_t)blocks, error);
        if (status != BJ_OK)
            break;
        bj_machine_order_partners(&shape, &run->sweep.random, run->sweep.places);
        status = bj_sweep_walk(&run->sweep, run->sweep.places, 2 * (size_t)blocks, &ns, error);
        sum += ns;
        numbers++;
    }
    *mean_ns = sum / numbers;
    return status;
}

static bj_status measure_round(page_run *run, unsigned round, unsigned rounds, bj_error *error) {
    bj_status status = bj_sweep_open_arena(&run->sweep, run->sweep.arena_bytes, error);
    run->sweep.pages_fixed = true;
    uint32_t order[DISTANCES_MAX];
    for (size_t i = 0; i < run->distance_count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->sweep.random, order, run->distance_count);
    for (size_t i = 0; i < run->distance_count && status == BJ_OK; i++) {
        size_t distance = run->distances[order[i]];
        double ns = 0;
        status = measure_distance(run, distance, &ns, error);
        if (status == BJ_OK)
            status = bj_data_record_sample(run->curve, (double)distance, round, ns, error);
        double fraction = (round + (double)(i + 1) / (double)run->distance_count) / rounds;
        if (status == BJ_OK)
            status = bj_probe_report(run->request, fraction, error);
    }
    return status;
}

/* The largest power of two up to what is wanted and what may be mapped. */
static size_t choose_arena(const bj_measure_request *request) {
    double block = fmax(2 * OVER_GRANULE * (double)request->machine->facts.page_bytes, 2 * LEAST_BLOCK_BYTES);
    return (size_t)exp2(floor(log2(fmin(MOST_BLOCKS * block, (double)request->memory_bytes / 1.2))));
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    page_run run = {.request = request};
    bj_machine *machine = request->machine;
    size_t arena_bytes = choose_arena(request);
    bj_status status = bj_data_add_curve(samples, CURVE, "page", &run.curve, error);
    if (status != BJ_OK)
        return status;
    bj_data_name_axes(run.curve, "distance", "bytes", "latency", "ns");
    for (size_t distance = FIRST_DISTANCE;
         distance <= arena_bytes / MOST_BLOCKS / 2 && run.distance_count < DISTANCES_MAX; distance *= 2)
        run.distances[run.distance_count++] = distance;
    bj_sweep_init(&run.sweep, request, RANDOM_PURPOSE, arena_bytes, REPETITIONS);
    run.sweep.pages = BJ_PAGES_BASE;
    run.sweep.arena_bytes = arena_bytes;
    unsigned rounds = rounds_of_effort[request->effort];
    for (unsigned round = 0; round < rounds && status == BJ_OK && run.distance_count > 0; round++) {
        status = measure_round(&run, round, rounds, error);
        if (machine->verbs->read_clock(machine) > request->deadline_s)
            break;
    }
    bj_sweep_free(&run.sweep);
    return status;
}

typedef struct {
    const bj_curve *curve;
    double *low, *scratch; /* of each point; of each round */
} step_context;

static void sum_up(step_context *context, const size_t *index, size_t count) {
    const bj_curve *curve = context->curve;
    for (size_t i = 0; i < curve->x_count; i++) {
        for (size_t r = 0; r < count; r++)
            context->scratch[r] = curve->rounds[index != NULL ? index[r] : r][i];
        context->low[i] = bj_stats_quantile(context->scratch, count, LOW_OF_ROUNDS);
    }
}

static double find_page(void *argument, const size_t *index, size_t count) {
    step_context *context = argument;
    bj_step step;
    sum_up(context, index, count);
    return bj_stats_find_scaled_step(context->low, context->curve->x_count, &step) ? context->curve->x[step.after]
                                                                                   : NAN;
}

/* The biggest rise of another pair of neighbours, as a share of this one. A stride that grows in octaves up to the page
 * makes rises of half, a quarter and so on before it. */
static double find_second_rise(const step_context *context, const bj_step *step) {
    double rise = context->low[step->after] - context->low[step->before], second = 0;
    for (size_t i = 0; i + 1 < context->curve->x_count; i++)
        if (i != step->before && context->low[i + 1] - context->low[i] > second)
            second = context->low[i + 1] - context->low[i];
    return second / rise;
}

static double find_support(const bj_bootstrap *bootstrap, double page) {
    size_t alike = 0;
    for (size_t i = 0; i < bootstrap->replicate_count; i++)
        alike += bootstrap->replicates[i] == page;
    return (double)alike / RESAMPLES;
}

static bj_confidence judge(const step_context *context, const bj_step *step, double support) {
    if (context->curve->round_count < BJ_BOOTSTRAP_ROUNDS_NEEDED || support < SUPPORT_MEDIUM)
        return BJ_CONFIDENCE_LOW;
    return support >= SUPPORT_HIGH && find_second_rise(context, step) < SECOND_SHARE ? BJ_CONFIDENCE_HIGH
                                                                                     : BJ_CONFIDENCE_MEDIUM;
}

static void fill_answer(step_context *context, const bj_bootstrap *bootstrap, bj_answer *answer) {
    const bj_curve *curve = context->curve;
    bj_step step;
    sum_up(context, NULL, curve->round_count);
    bool found = bj_stats_find_scaled_step(context->low, curve->x_count, &step);
    double support = found ? find_support(bootstrap, curve->x[step.after]) : 0;
    if (support < SUPPORT_LEAST || context->low[step.after] < (1 + LEAST_SHARE) * context->low[step.before] ||
        find_second_rise(context, &step) > SECOND_SHARE_MOST) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason,
                 "no distance up to %.0f bytes costs clearly more than the one before: larger pages, or no TLB missed",
                 curve->x_count > 0 ? curve->x[curve->x_count - 1] : 0.0);
        return;
    }
    answer->value = curve->x[step.after];
    answer->confidence = judge(context, &step, support);
    answer->has_interval = true;
    answer->interval[0] = fmin(answer->value, isnan(bootstrap->low) ? answer->value : bootstrap->low);
    answer->interval[1] = fmax(answer->value, isnan(bootstrap->high) ? answer->value : bootstrap->high);
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, CURVE);
    if (curve == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve %s", CURVE);
    step_context context = {.curve = curve,
                            .low = malloc((curve->x_count + 1) * sizeof(double)),
                            .scratch = malloc((curve->round_count + 1) * sizeof(double))};
    bj_bootstrap bootstrap = {0};
    bj_answer *answer;
    bj_status status = context.low != NULL && context.scratch != NULL
                           ? BJ_OK
                           : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", curve->x_count);
    if (status == BJ_OK)
        status = bj_stats_bootstrap_rounds(curve->round_count, RESAMPLES, request->seed, find_page, &context,
                                           &bootstrap, error);
    if (status == BJ_OK)
        status = bj_data_put_answer(answers, "page.size_bytes", "bytes", &answer, error);
    if (status == BJ_OK) {
        snprintf(answer->method, sizeof answer->method, "scaled_step/%u", REVISION);
        bj_data_cite_curve(answer, CURVE);
        fill_answer(&context, &bootstrap, answer);
    }
    bj_stats_free_bootstrap(&bootstrap);
    free(context.low);
    free(context.scratch);
    return status;
}

static const bj_probe_key provides[] = {
    {"page.size_bytes", "bytes", 256, 17179869184.0, "the page, as the TLB sees it"},
};
static const char *const needs[] = {NULL};
static const char *const methods[] = {"scaled_step", NULL};

const bj_probe bj_probe_page = {
    .name = "page",
    .question = "How large is a page, as the TLB sees it?",
    .revision = REVISION,
    .provides = provides,
    .provides_count = sizeof provides / sizeof provides[0],
    .needs = needs,
    .methods = methods,
    .requires_cpus = 1,
    .cost_s = {0.5, 1, 3},
    .memory_bytes = {256u << 20, 256u << 20, 256u << 20},
    .measure = measure,
    .analyse = analyse,
    .analyze_curve = CURVE,
    .analyze_x_name = "distance",
    .analyze_x_unit = "bytes",
};
