/* How large is a page, as the TLB sees it?
 *
 * The 2012 paper (3.2) walks a large array with growing strides: below the page size some visits share a page and a
 * TLB entry, from it on none do, and the answer is the biggest scaled step. Strides feed prefetchers and collide in
 * caches, so here partners at growing distances do the same in random order: as many lines at any distance, but
 * twice as many pages once the distance is a page. Several numbers of partners, since only those that exceed a TLB show
 * it, and their mean is the curve. The answer is the first distance after the step. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/walks.h"
#include "probes/page/page_constants.h"
#include "probes/page/page_paper.h"
#include "stats/monotone.h"
#include "stats/steps.h"

#define CURVE "page.partners"
#define RANDOM_PURPOSE 0x70616765u
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

static const unsigned rounds_of_effort[BJ_EFFORT_COUNT] = {6, 9, 30};

typedef struct {
    bj_rounds rounds;
    size_t distances[DISTANCES_MAX];
} page_run;

static bj_status measure_distance(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {CURVE, "distance", "bytes", "latency", "ns"};
    page_run *run = context;
    bj_status status = BJ_OK;
    double sum = 0;
    unsigned numbers = 0;
    (void)count;
    for (unsigned blocks = FEWEST_BLOCKS; blocks <= MOST_BLOCKS && status == BJ_OK; blocks *= 2) {
        bj_partner_walk_shape shape = {.block_bytes = run->rounds.arena_bytes / blocks,
                                       .blocks = blocks,
                                       .grain_bytes = GRAIN_BYTES,
                                       .distance_bytes = run->distances[*points]};
        double ns = 0;
        status = bj_kit_reserve_places(&run->rounds, 2 * (size_t)blocks, error);
        if (status != BJ_OK)
            break;
        bj_machine_order_partners(&shape, &run->rounds.random, run->rounds.places);
        status = bj_kit_walk_places(&run->rounds, run->rounds.places, 2 * (size_t)blocks, &ns, error);
        sum += ns;
        numbers++;
    }
    if (status != BJ_OK)
        return status;
    return bj_kit_record(&run->rounds, &axes, (double)run->distances[*points], sum / numbers, error);
}

/* The largest power of two up to what is wanted and what may be mapped. */
static size_t choose_arena(const bj_measure_request *request) {
    double block = fmax(2 * OVER_GRANULE * (double)request->machine->facts.page_bytes, 2 * LEAST_BLOCK_BYTES);
    return (size_t)exp2(floor(log2(bj_kit_limit_arena(request, MOST_BLOCKS * block))));
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    page_run run;
    if (bj_probe_is_method(request->method, BJ_PAGE_STRIDES))
        return bj_page_measure_strides(request, samples, error);
    size_t arena_bytes = choose_arena(request);
    bj_round_plan plan = {.count = rounds_of_effort[request->effort],
                          .first_round = bj_kit_count_rounds(samples, CURVE),
                          .least_bytes = arena_bytes,
                          .context = &run,
                          .measure = measure_distance};
    for (size_t distance = FIRST_DISTANCE;
         distance <= arena_bytes / MOST_BLOCKS / 2 && plan.point_count < DISTANCES_MAX; distance *= 2)
        run.distances[plan.point_count++] = distance;
    bj_kit_open_rounds(&run.rounds, request, "page", samples, RANDOM_PURPOSE);
    bj_kit_plan_arena(&run.rounds, arena_bytes, REPETITIONS);
    run.rounds.pages = BJ_PAGES_BASE;
    run.rounds.arena_bytes = arena_bytes;
    bj_status status = plan.point_count > 0 ? bj_kit_run_rounds(&run.rounds, &plan, error) : BJ_OK;
    bj_kit_close_rounds(&run.rounds);
    return status;
}

typedef struct {
    const bj_curve *curve;
    double *low, *scratch; /* of each point; of each round */
    bool paper;            /* its own walk, of which it makes no more conditions */
    bj_step step;          /* in `low` */
} step_context;

static double find_page(void *argument, const size_t *index, size_t count) {
    step_context *context = argument;
    const bj_curve *curve = context->curve;
    for (size_t i = 0; i < curve->x_count; i++)
        context->low[i] = bj_kit_quantile_of_point(curve, i, index, count, LOW_OF_ROUNDS, context->scratch);
    if (context->paper)
        bj_stats_enforce_monotone(context->low, curve->x_count);
    return bj_stats_find_scaled_step(context->low, curve->x_count, &context->step) ? curve->x[context->step.after]
                                                                                   : NAN;
}

/* The biggest rise of another pair of neighbours, as a share of this one. A stride that grows in octaves up to the page
 * makes rises of half, a quarter and so on before it. */
static double find_second_rise(const step_context *context) {
    const bj_step *step = &context->step;
    double rise = context->low[step->after] - context->low[step->before], second = 0;
    for (size_t i = 0; i + 1 < context->curve->x_count; i++)
        if (i != step->before && context->low[i + 1] - context->low[i] > second)
            second = context->low[i + 1] - context->low[i];
    return second / rise;
}

static void fill_answer(const step_context *context, const bj_estimate *page, bj_answer *answer) {
    const bj_curve *curve = context->curve;
    const bj_step *step = &context->step;
    if (isnan(page->value) || page->support < SUPPORT_LEAST ||
        context->low[step->after] < (1 + LEAST_SHARE) * context->low[step->before] ||
        (!context->paper && find_second_rise(context) > SECOND_SHARE_MOST))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "no distance up to %.0f bytes costs clearly more than the one before: larger pages, or no TLB "
                      "missed",
                      curve->x_count > 0 ? curve->x[curve->x_count - 1] : 0.0);
    else
        bj_kit_fill_answer(answer, page,
                           !context->paper && find_second_rise(context) < SECOND_SHARE ? BJ_CONFIDENCE_HIGH
                                                                                       : BJ_CONFIDENCE_MEDIUM);
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    bool paper = bj_probe_is_method(request->method, BJ_PAGE_STRIDES) && !request->from_table;
    const char *id = paper ? BJ_PAGE_PAPER : CURVE;
    const bj_curve *curve = bj_data_find_curve(samples, id);
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, "page.size_bytes", "bytes", &answer, error);
    if (status != BJ_OK)
        return status;
    if (curve == NULL) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the memory limit allows no walk");
        return BJ_OK;
    }
    bj_data_cite_curve(answer, id);
    step_context context = {
        .curve = curve, .paper = paper, .low = malloc((curve->x_count + curve->round_count + 1) * sizeof(double))};
    if (context.low == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", curve->x_count);
    context.scratch = context.low + curve->x_count;
    bj_estimate page;
    bj_estimate_request resampling = {.rounds = curve->round_count,
                                      .seed = request->seed,
                                      .statistic = find_page,
                                      .context = &context,
                                      .curve = curve};
    status = bj_kit_estimate(&resampling, &page, error);
    if (status == BJ_OK)
        fill_answer(&context, &page, answer);
    free(context.low);
    return status;
}

const bj_probe bj_probe_page = {
    .name = "page",
    .question = "How large is a page, as the TLB sees it?",
    .revision = 2,
    .provides = (const bj_probe_key[]){{"page.size_bytes", "bytes", 256, 17179869184.0, "the page, as the TLB sees it",
                                        .tolerance = BJ_SAME_NUMBER},
                                       {0}},
    .methods = (const char *const[]){"scaled_step", BJ_PAGE_STRIDES, NULL},
    .paper_method = BJ_PAGE_STRIDES,
    .cost_s = {0.5, 1, 3},
    .memory_bytes = {256u << 20, 256u << 20, 256u << 20},
    .measure = measure,
    .analyse = analyse,
    .analyze_curve = CURVE,
    .analyze_x_name = "distance",
    .analyze_x_unit = "bytes",
};
