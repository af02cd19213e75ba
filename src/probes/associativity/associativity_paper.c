/* The paper takes the size from its cache benchmark and lines that far apart, which meet in one set if the size is
 * exact: one that is a tenth off makes no collisions, and then nothing is answered, or something wrong. From the second
 * level on base pages lie where chance put them, and what steps is the first level. */
#include "probes/associativity/associativity_paper.h"

#include <math.h>
#include <stdio.h>

#include "probes/associativity/associativity_constants.h"
#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/steps.h"

#define RANDOM_PURPOSE 0x77617970u
#define MIB 1048576.0
#define LINES_MAX 32u
#define LINES_LEAST 3u
/* "Elements in multiple sets, instead of just one", against victim caches. */
#define SETS 4u
#define SET_LINES_APART 4u
#define USUAL_LINE_BYTES 64u

typedef struct {
    unsigned rounds, repetitions;
    double most_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 2, 128 * MIB}, {12, 3, 384 * MIB}, {30, 4, 512 * MIB}};

typedef struct {
    bj_rounds rounds;
    char id[48];
    size_t stride_bytes, set_stride_bytes;
} paper_run;

static bj_status measure_lines(void *context, const uint32_t *points, size_t count, bj_error *error) {
    paper_run *run = context;
    const bj_curve_axes axes = {run->id, "lines_of_a_set", "count", "time_per_access", "ns"};
    size_t lines = *points + 1u, placed = 0;
    double ns = 0;
    (void)count;
    BJ_TRY(bj_kit_reserve_places(&run->rounds, lines * SETS, error));
    for (size_t k = 0; k < lines; k++)
        for (size_t set = 0; set < SETS; set++)
            run->rounds.places[placed++] =
                (uint32_t)((k * run->stride_bytes + set * run->set_stride_bytes) / BJ_WALK_WORD_BYTES);
    bj_random_shuffle_u32(&run->rounds.random, run->rounds.places, placed);
    BJ_TRY(bj_kit_walk_places(&run->rounds, run->rounds.places, placed, &ns, error));
    return bj_kit_record(&run->rounds, &axes, (double)lines, ns, error);
}

static bj_status measure_level(const bj_measure_request *request, bj_curves *samples, size_t level, double size,
                               bj_error *error) {
    const effort_plan *effort = &plans[request->effort];
    double line = bj_kit_find_number(request->earlier, "cache.line_bytes");
    double most = bj_kit_limit_arena(request, effort->most_bytes);
    paper_run run = {.stride_bytes = (size_t)(size / BJ_WALK_WORD_BYTES) * BJ_WALK_WORD_BYTES,
                     .set_stride_bytes = SET_LINES_APART * (size_t)(line >= 1 ? line : USUAL_LINE_BYTES)};
    double beside = SETS * (double)run.set_stride_bytes;
    size_t lines = most > beside ? (size_t)((most - beside) / size) : 0;
    snprintf(run.id, sizeof run.id, BJ_ASSOCIATIVITY_PAPER, level);
    bj_round_plan plan = {.count = effort->rounds,
                          .first_round = bj_kit_count_rounds(samples, run.id),
                          .point_count = lines < LINES_MAX ? lines : LINES_MAX,
                          .context = &run,
                          .measure = measure_lines};
    if (plan.point_count < LINES_LEAST)
        return BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "associativity", samples, RANDOM_PURPOSE + level);
    run.rounds.pages = BJ_PAGES_BASE;
    run.rounds.repetitions = effort->repetitions;
    run.rounds.arena_bytes = (size_t)ceil(((double)plan.point_count * size + beside) / MIB) * (size_t)MIB;
    plan.least_bytes = run.rounds.arena_bytes;
    bj_status status = bj_kit_run_rounds(&run.rounds, &plan, error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

bj_status bj_associativity_measure_paper(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    for (size_t level = 1; level <= caches.count; level++) {
        double size = bj_kit_find_number(request->earlier, "cache.L%zu.size_bytes", level);
        if (level > 1 && bj_probe_is_late(request))
            break;
        if (size >= BJ_WALK_WORD_BYTES)
            BJ_TRY(measure_level(request, samples, level, size, error));
        BJ_TRY(bj_probe_report(request, (double)level / (double)caches.count, error));
    }
    return BJ_OK;
}

static double find_ways(void *context, const size_t *index, size_t count) {
    bj_point_summary *summary = context;
    bj_step step;
    bj_kit_summarise(summary, index, count, BJ_LOW_QUANTILE);
    bj_stats_enforce_monotone(summary->of_point, summary->curve->x_count);
    bool rises = summary->most > TABLE_CONTRAST * summary->least;
    return rises && bj_stats_find_biggest_step(summary->of_point, summary->curve->x_count, &step)
               ? summary->curve->x[step.before]
               : NAN;
}

static bj_status answer_level(const bj_curve *curve, const bj_analyse_request *request, size_t level,
                              bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    bj_estimate ways = {.value = NAN};
    bj_point_summary summary;
    BJ_TRY(bj_kit_put_answer(answers, "ways", &answer, error, "cache.L%zu.associativity", level));
    if (curve == NULL) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "that takes a buffer of several times the level");
        return BJ_OK;
    }
    bj_data_cite_curve(answer, curve->id);
    bj_estimate_request resampling = {.rounds = curve->round_count,
                                      .seed = request->seed,
                                      .statistic = find_ways,
                                      .context = &summary,
                                      .curve = curve};
    BJ_TRY(bj_kit_open_summary(&summary, curve, error));
    bj_status status = bj_kit_estimate(&resampling, &ways, error);
    bj_kit_close_summary(&summary);
    BJ_TRY(status);
    if (isnan(ways.value))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "no step: lines one cache size apart do not collide, as where that size is not exact");
    else
        bj_kit_fill_answer(answer, &ways, level == 1 ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_LOW);
    return BJ_OK;
}

bj_status bj_associativity_analyse_paper(const bj_curves *samples, const bj_analyse_request *request,
                                         bj_answers *answers, bj_error *error) {
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    for (size_t level = 1; level <= caches.count; level++) {
        char id[48];
        snprintf(id, sizeof id, BJ_ASSOCIATIVITY_PAPER, level);
        BJ_TRY(answer_level(bj_data_find_curve(samples, id), request, level, answers, error));
    }
    return BJ_OK;
}
