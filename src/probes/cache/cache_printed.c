#include "probes/cache/cache_printed.h"

#include <math.h>

#include "probes/cache/cache_explore.h"
#include "probes/kit/paper_pairs.h"
#include "probes/kit/yardstick.h"

#define RANDOM_PURPOSE 0x63707274u
#define MIB 1048576.0
/* Attributes of the walk, for late rounds. */
#define STRIDE "stride_bytes"
#define ARENA "arena_bytes"
#define POINTS_MAX 512u
#define POINTS_PER_YARDSTICK 16u
#define LEAST_ARENA_BYTES (256 * 1024.0)
/* Of the 2012 paper, which does not say at which sizes. The line is looked for in so many rounds. */
#define SIZES_PER_OCTAVE 8u
#define SIZE_MULTIPLE 512.0
#define LINE_ROUNDS 3u
#define USUAL_LINE_BYTES 64u
/* Of Servet, figure 1: sizes double up to here, then grow by as much as half of it. */
#define MCALIBRATOR_FIRST_BYTES 4096.0
#define MCALIBRATOR_DOUBLES_BELOW (2 * MIB)
#define MCALIBRATOR_STEP_BYTES (1 * MIB)
/* Of progress. */
#define LINE_TO 0.05

typedef struct {
    double top_bytes, mcalibrator_bytes; /* how far either goes at most */
    double line_bytes;                   /* of the buffer of pairs */
    unsigned rounds, repetitions;
} effort_plan;

/* The paper repeats each measurement some thirty times. */
static const effort_plan plans[BJ_EFFORT_COUNT] = {{64 * MIB, 32 * MIB, 48 * MIB, 6, 2},
                                                   {448 * MIB, 64 * MIB, 256 * MIB, 12, 3},
                                                   {1536 * MIB, 256 * MIB, 512 * MIB, 30, 4}};

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    const bj_cache_method *method;
    const effort_plan *effort;
    size_t stride_bytes;
    double sizes[POINTS_MAX];
    size_t measured; /* points, of all rounds */
} printed_run;

static bool is_servet(const printed_run *run) {
    return run->method->order == BJ_ORDER_STRIDE_1K;
}

static void plan_arena(printed_run *run, double bytes) {
    run->rounds.pages = BJ_PAGES_BASE;
    run->rounds.pages_fixed = true;
    run->rounds.repetitions = run->effort->repetitions;
    run->rounds.arena_bytes = (size_t)(floor(bytes / MIB) * MIB);
}

/* ---- the line, by pairs */

static bj_status measure_pairs(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {BJ_CACHE_LINE_PAIRS, "extent", "bytes", "time_per_access", "ns"};
    printed_run *run = context;
    (void)count;
    return bj_kit_measure_paper_pairs(&run->rounds, &axes, *points, error);
}

static bj_status find_line(printed_run *run, bj_error *error) {
    bj_round_plan plan = {.count = LINE_ROUNDS,
                          .progress_to = LINE_TO,
                          .least_bytes = (size_t)LEAST_ARENA_BYTES,
                          .point_count = BJ_PAPER_EXTENTS,
                          .context = run,
                          .measure = measure_pairs};
    bj_point_summary summary;
    plan_arena(run, bj_kit_limit_arena(run->rounds.request, run->effort->line_bytes));
    BJ_TRY(bj_kit_run_rounds(&run->rounds, &plan, error));
    const bj_curve *curve = bj_data_find_curve(run->rounds.samples, BJ_CACHE_LINE_PAIRS);
    run->stride_bytes = USUAL_LINE_BYTES;
    if (curve == NULL)
        return BJ_OK;
    BJ_TRY(bj_kit_open_summary(&summary, curve, error));
    double line = bj_kit_find_paper_line(&summary, NULL, curve->round_count);
    bj_kit_close_summary(&summary);
    if (line >= BJ_PAPER_FIRST_EXTENT)
        run->stride_bytes = (size_t)line;
    return BJ_OK;
}

/* ---- the sizes */

static void add_size(printed_run *run, double bytes) {
    size_t count = run->plan.point_count;
    if (count < POINTS_MAX && bytes <= (double)run->rounds.arena_bytes && (count == 0 || bytes > run->sizes[count - 1]))
        run->sizes[run->plan.point_count++] = bytes;
}

/* Figure 1. */
static void list_servet_sizes(printed_run *run) {
    double most = (double)run->rounds.arena_bytes;
    for (double bytes = MCALIBRATOR_FIRST_BYTES; bytes <= most;
         bytes = bytes < MCALIBRATOR_DOUBLES_BELOW ? 2 * bytes : bytes + MCALIBRATOR_STEP_BYTES)
        add_size(run, bytes);
}

static void list_paper_sizes(printed_run *run) {
    for (unsigned k = 0;; k++) {
        double bytes = BJ_CACHE_FIRST_BYTES * exp2(k / (double)SIZES_PER_OCTAVE);
        if (bytes > (double)run->rounds.arena_bytes)
            return;
        add_size(run, floor(bytes / SIZE_MULTIPLE + 0.5) * SIZE_MULTIPLE);
    }
}

/* Where memory begins, so that the walks need not go much further. */
static bj_status find_top(printed_run *run, bj_error *error) {
    double top = 0;
    plan_arena(run, bj_kit_limit_arena(run->rounds.request, run->effort->top_bytes));
    BJ_TRY(bj_kit_open_arena(&run->rounds, (size_t)LEAST_ARENA_BYTES, error));
    BJ_TRY(bj_cache_find_top(&run->rounds, run->method->order, run->stride_bytes, &top, error));
    run->rounds.arena_bytes = (size_t)top;
    return BJ_OK;
}

static bj_status explore(printed_run *run, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    if (bj_kit_limit_arena(request, MIB) < MIB)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "only %.0f bytes of memory may be used",
                                 (double)request->memory_bytes);
    if (is_servet(run)) {
        plan_arena(run, bj_kit_limit_arena(request, run->effort->mcalibrator_bytes));
        list_servet_sizes(run);
        return BJ_OK;
    }
    BJ_TRY(find_line(run, error));
    BJ_TRY(find_top(run, error));
    list_paper_sizes(run);
    run->plan.progress_from = BJ_CACHE_EXPLORED;
    return BJ_OK;
}

/* The same sizes as in the rounds before; none where what was noted (it may come from a file) makes no sense. */
static void recall(printed_run *run) {
    const bj_curve *walk = bj_data_find_curve(run->rounds.samples, BJ_CACHE_WALK);
    double arena = bj_kit_recall_fact(run->rounds.samples, BJ_CACHE_WALK, ARENA);
    double stride = bj_kit_recall_fact(run->rounds.samples, BJ_CACHE_WALK, STRIDE);
    if (!(arena >= MIB && stride >= BJ_WALK_WORD_BYTES && stride <= BJ_PAPER_LAST_EXTENT))
        return;
    run->stride_bytes = (size_t)stride;
    plan_arena(run, bj_kit_limit_arena(run->rounds.request, arena));
    for (size_t i = 0; i < walk->x_count; i++)
        add_size(run, walk->x[i]);
}

/* ---- the walks */

static bj_status measure_size(void *context, const uint32_t *points, size_t count, bj_error *error) {
    printed_run *run = context;
    bj_walk_point walk = {.bytes = run->sizes[*points], .order = run->method->order, .grain_bytes = run->stride_bytes};
    double ns = 0;
    (void)count;
    if (walk.bytes > (double)run->rounds.arena_bytes)
        return BJ_OK;
    if (run->measured++ % POINTS_PER_YARDSTICK == 0)
        BJ_TRY(bj_kit_time_yardstick(&run->rounds, error));
    BJ_TRY(bj_kit_walk_point(&run->rounds, &walk, &ns, error));
    return bj_cache_record(&run->rounds, BJ_CACHE_WALK, BJ_CACHE_X_NAME, walk.bytes, ns, error);
}

static bj_status finish_round(void *context, bj_error *error) {
    printed_run *run = context;
    if (run->rounds.round > 0)
        return BJ_OK;
    double page_bytes = (double)run->rounds.request->machine->facts.page_bytes;
    BJ_TRY(bj_kit_keep_fact(&run->rounds, BJ_CACHE_WALK, BJ_CACHE_PAGE_BYTES, page_bytes, error));
    BJ_TRY(bj_kit_keep_fact(&run->rounds, BJ_CACHE_WALK, STRIDE, (double)run->stride_bytes, error));
    return bj_kit_keep_fact(&run->rounds, BJ_CACHE_WALK, ARENA, (double)run->rounds.arena_bytes, error);
}

bj_status bj_cache_measure_printed(const bj_measure_request *request, const bj_cache_method *method, bj_curves *samples,
                                   bj_error *error) {
    printed_run run = {.method = method, .effort = &plans[request->effort], .stride_bytes = USUAL_LINE_BYTES};
    run.plan = (bj_round_plan){.count = run.effort->rounds,
                               .first_round = bj_kit_count_rounds(samples, BJ_CACHE_WALK),
                               .least_bytes = (size_t)LEAST_ARENA_BYTES,
                               .context = &run,
                               .measure = measure_size,
                               .after_round = finish_round};
    bj_kit_open_rounds(&run.rounds, request, "cache", samples, RANDOM_PURPOSE);
    bj_status status = BJ_OK;
    if (request->more_rounds == 0)
        status = explore(&run, error);
    else
        recall(&run);
    if (status == BJ_OK && run.plan.point_count > 0)
        status = bj_kit_run_rounds(&run.rounds, &run.plan, error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}
