/* How many data caches are there, how large and how fast?
 *
 * Random pointer walks over growing working sets (2012 paper, 3.1.2), fully random since region prefetchers learn
 * pages, on huge pages where they are granted since those calm the TLB. A first look finds where memory begins, then
 * interleaved rounds on a coarse grid, with more points around the edges once they are seen, the TLB's among them.
 * Twins of the walks, spread over many pages and packed into few, give its cost. The analysis is
 * probes/cache/hierarchy.h; --method selects a paper's instead. */
#include <math.h>
#include <stdlib.h>

#include "probes/cache/cache_constants.h"
#include "probes/cache/cache_explore.h"
#include "probes/cache/cache_printed.h"
#include "probes/cache/cache_samples.h"
#include "probes/cache/memory_walk.h"
#include "probes/kit/yardstick.h"

#define RANDOM_PURPOSE 0x63616368u
#define MIB 1048576.0
/* Attributes of the walk: what exploring found. */
#define GRAIN "grain_bytes"
#define TOP "top_bytes"
#define REPEATED "repetitions"
#define LEAST_ARENA_BYTES (256 * 1024.0)
#define ARENA_MULTIPLE 4096
/* The packed twin needs two grains of the longest line in each eighth. */
#define LEAST_SPREAD_BYTES 4096u
/* Twins of fewer lines than this, which no TLB misses. */
#define TWIN_FIRST_LINES 8.0
/* Beyond this a coarser grid until an edge is seen: building a walk costs as much as its size. */
#define COARSE_FROM_BYTES (1 * MIB)
#define GRID_PER_OCTAVE 16u
#define GRID_MULTIPLE 512.0
/* Every how many points of that grid. Sixteenths of an octave around edges: they tell an L1 of 11 ways from one of 12.
 */
#define EVERY_FINE 1u
#define EVERY_MEDIUM 2u
#define EVERY_GRID 4u
#define EVERY_COARSE 8u
/* Larger levels are shared, and move more than an eighth of an octave between rounds. */
#define FINE_BELOW_BYTES (1 * MIB)
#define MEDIUM_BELOW_BYTES (32 * MIB)
#define POINTS_MAX 512u
/* Finer points: from a little before an edge to a little beyond, on to where the next plateau has begun, and around the
 * size, which the TLB's cost may end earlier. */
#define BEFORE_EDGE 1.5
#define BEYOND_EDGE 1.7
#define INTO_PLATEAU 1.1
#define AROUND_SIZE 1.2
/* Walks with several visits a line are as many times longer: fewer of them the larger the level, none of the largest.
 * Two do not tell replacements that differ by a seventh apart. */
static const double revisit_below_bytes[BJ_REVISIT_CURVES] = {1 * MIB, 12 * MIB, 64 * MIB};
/* Where a line is visited v times a lap, what hits is told best a little beyond the capacity, which is not known yet:
 * from here up to so many times the begin of the ramp, and with two visits up to less, where most of them hit once
 * more. No further than where the next level is far from missing. */
#define REVISIT_FIRST 1.3
#define REVISIT_LAST 5.0
#define REVISIT_TWICE_LAST 3.0
#define BEFORE_NEXT_EDGE 1.2

typedef struct {
    double top_bytes, memory_bytes; /* of the sweep at most, and of the walks in memory at least */
    unsigned rounds, memory_rounds, repetitions;
} effort_plan;

/* Tops: quick sees a last level of some 16 MiB, normal one of 100 within 600 MiB of memory, thorough one of 300. */
static const effort_plan plans[BJ_EFFORT_COUNT] = {
    {64 * MIB, 64 * MIB, 6, 6, 2}, {448 * MIB, 256 * MIB, 12, 6, 3}, {1536 * MIB, 256 * MIB, 32, 12, 4}};
/* What the sweep takes of the time, the walks in memory after it the rest. */
#define SWEEP_SHARE 0.85
/* A call takes some milliseconds, a round a second or so. */
#define POINTS_PER_YARDSTICK 16u

/* The look for memory of normal effort takes some two seconds, that of quick effort a third of one; a round as long. */
#define SHORT_BUDGET_S 4.0
#define TINY_BUDGET_S 1.0
#define TINY_TOP_BYTES (16 * MIB)
/* One round is the least that answers anything. Below this, one without twins and repetitions: a third of the time. */
#define HASTE_BUDGET_S 0.5

/* What is walked at an x of a curve. */
typedef struct {
    const char *curve;
    size_t one_in, grain_bytes;
    double extent_share; /* the extent of the walk as a share of x */
} walk_kind;

typedef struct {
    double x;
    walk_kind kind;
} planned_point;

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    const bj_cache_method *method;
    size_t grain_bytes;
    /* A page of the spread twin: the system's, also under huge pages, which a host may back with small ones. More than
     * one line a page would come back to a page within a lap, as the dense walk does. */
    size_t spread_bytes;
    planned_point points[POINTS_MAX];
    size_t measured;     /* points, of all rounds */
    bool in_haste;       /* no time for twins */
    double memory_bytes; /* of the walks in memory, at least */
} cache_run;

static walk_kind dense_kind(const cache_run *run) {
    return (walk_kind){BJ_CACHE_WALK, 0, run->grain_bytes, 1};
}

static walk_kind spread_kind(const cache_run *run) {
    return (walk_kind){BJ_CACHE_SPREAD, run->spread_bytes / run->grain_bytes, run->grain_bytes, 1};
}

static walk_kind packed_kind(const cache_run *run) {
    size_t one_in = run->spread_bytes / run->grain_bytes / BJ_TWIN_PACKING;
    return (walk_kind){BJ_CACHE_PACKED, one_in, run->grain_bytes, 1.0 / BJ_TWIN_PACKING};
}

static walk_kind revisit_kind(const cache_run *run, size_t k) {
    return (walk_kind){bj_cache_revisits[k].curve, 0, run->grain_bytes / bj_cache_revisits[k].visits, 1};
}

static void add_point(cache_run *run, double x, walk_kind kind) {
    for (size_t i = 0; i < run->plan.point_count; i++)
        if (run->points[i].x == x && run->points[i].kind.curve == kind.curve)
            return;
    if (run->plan.point_count < POINTS_MAX && x <= (double)run->rounds.arena_bytes)
        run->points[run->plan.point_count++] = (planned_point){x, kind};
}

/* Points of one grid for all purposes, BJ_CACHE_FIRST_BYTES × 2^(k / 16): every so-manyth of it between first and last.
 * Two refinements of one edge thus meet in the same points instead of lying side by side. */
static void add_grid(cache_run *run, double first, double last, unsigned every, walk_kind kind) {
    unsigned from =
        (unsigned)ceil(fmax(0, GRID_PER_OCTAVE * log2(first / BJ_CACHE_FIRST_BYTES) - 0.01) / every) * every;
    for (unsigned k = from;; k += every) {
        double bytes = BJ_CACHE_FIRST_BYTES * exp2(k / (double)GRID_PER_OCTAVE);
        if (bytes > last * 1.0001)
            return;
        add_point(run, floor(bytes / GRID_MULTIPLE + 0.5) * GRID_MULTIPLE, kind);
    }
}

/* Both of an extent, or neither says anything. */
static void add_twins(cache_run *run, double first, double last, unsigned every) {
    add_grid(run, first, last, every, spread_kind(run));
    add_grid(run, first, last, every, packed_kind(run));
}

/* Beyond the edges of all levels but the first, which is virtually indexed and has no need of it. */
static void add_revisits(cache_run *run, const bj_hierarchy *found) {
    for (size_t i = 1; i < found->count; i++) {
        double size = found->level[i].level.ramp_first_x;
        double last = i + 1 < found->count ? found->level[i + 1].level.ramp_first_x / BEFORE_NEXT_EDGE : INFINITY;
        size_t k = 0;
        /* Each visit goes to a word of its own. */
        while (k < BJ_REVISIT_CURVES &&
               (size > revisit_below_bytes[k] || run->grain_bytes < bj_cache_revisits[k].visits * BJ_WALK_WORD_BYTES))
            k++;
        if (k == BJ_REVISIT_CURVES)
            continue;
        double furthest = size * (bj_cache_revisits[k].visits == 2 ? REVISIT_TWICE_LAST : REVISIT_LAST);
        add_grid(run, size * REVISIT_FIRST, fmin(furthest, last), EVERY_COARSE, revisit_kind(run, k));
    }
}

/* More points around the edges that the rounds so far have shown. */
static bj_status refine(cache_run *run, bj_error *error) {
    bj_hierarchy found;
    bj_status status =
        bj_cache_find_hierarchy(run->rounds.samples, run->method, run->rounds.request->seed, true, &found, error);
    if (status != BJ_OK)
        return status;
    for (size_t i = 0; i < found.count; i++) {
        const bj_level *level = &found.level[i].level;
        double size = level->ramp_first_x, end = level->next_first_x * INTO_PLATEAU;
        unsigned every = size < FINE_BELOW_BYTES ? EVERY_FINE : size < MEDIUM_BELOW_BYTES ? EVERY_MEDIUM : EVERY_GRID;
        walk_kind dense = dense_kind(run);
        add_grid(run, size / BEFORE_EDGE, fmin(size * BEYOND_EDGE, end), every, dense);
        add_grid(run, size * BEYOND_EDGE, end, EVERY_GRID, dense);
        add_grid(run, level->size_x / AROUND_SIZE, fmin(level->size_x * AROUND_SIZE, size), every, dense);
    }
    for (size_t i = 0; i < found.twin_step_count; i++)
        add_twins(run, found.twin_step[i].first_x, found.twin_step[i].last_x, EVERY_FINE);
    if (run->method->models_capacity && !run->in_haste)
        add_revisits(run, &found);
    return BJ_OK;
}

static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    cache_run *run = context;
    const planned_point *point = &run->points[*points];
    double ns = 0;
    (void)count;
    if (point->x > (double)run->rounds.arena_bytes)
        return BJ_OK;
    if (run->measured++ % POINTS_PER_YARDSTICK == 0)
        BJ_TRY(bj_kit_time_yardstick(&run->rounds, error));
    bj_walk_point walk = {.bytes = point->x * point->kind.extent_share,
                          .order = BJ_ORDER_RANDOM,
                          .grain_bytes = point->kind.grain_bytes,
                          .one_in = point->kind.one_in};
    BJ_TRY(bj_kit_walk_point(&run->rounds, &walk, &ns, error));
    return bj_cache_record(&run->rounds, point->kind.curve, BJ_CACHE_X_NAME, point->x, ns, error);
}

/* What late rounds must know. */
static bj_status note_explored(cache_run *run, bj_error *error) {
    bj_rounds *rounds = &run->rounds;
    BJ_TRY(bj_kit_keep_fact(rounds, BJ_CACHE_WALK, GRAIN, (double)run->grain_bytes, error));
    BJ_TRY(bj_kit_keep_fact(rounds, BJ_CACHE_WALK, TOP, (double)rounds->arena_bytes, error));
    return bj_kit_keep_fact(rounds, BJ_CACHE_WALK, REPEATED, rounds->repetitions, error);
}

/* After two rounds an edge is seen, after four it is seen better. */
static bj_status finish_round(void *context, bj_error *error) {
    cache_run *run = context;
    if (run->rounds.round == 0)
        return note_explored(run, error);
    return run->rounds.round == 1 || run->rounds.round == 3 ? refine(run, error) : BJ_OK;
}

static bj_status explore(cache_run *run, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    effort_plan plan = plans[request->effort];
    double remaining = request->deadline_s - bj_kit_read_clock(&run->rounds), top = 0;
    run->memory_bytes = plan.memory_bytes;
    if (remaining < SHORT_BUDGET_S)
        plan.top_bytes = run->memory_bytes = fmin(plan.top_bytes, plans[BJ_EFFORT_QUICK].top_bytes);
    if (remaining < TINY_BUDGET_S)
        plan.top_bytes = run->memory_bytes = TINY_TOP_BYTES;
    run->in_haste = remaining < HASTE_BUDGET_S;
    double arena = bj_kit_limit_arena(request, plan.top_bytes);
    if (arena < LEAST_ARENA_BYTES)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "only %.0f bytes of memory may be used", arena);
    bj_kit_plan_arena(&run->rounds, (size_t)(floor(arena / ARENA_MULTIPLE) * ARENA_MULTIPLE),
                      run->in_haste ? 1 : plan.repetitions);
    bj_status status = bj_kit_open_arena(&run->rounds, (size_t)LEAST_ARENA_BYTES, error);
    if (status == BJ_OK)
        status = bj_cache_find_grain(&run->rounds, &run->grain_bytes, error);
    if (status == BJ_OK)
        status = bj_cache_find_top(&run->rounds, BJ_ORDER_RANDOM, run->grain_bytes, &top, error);
    if (status != BJ_OK)
        return status;
    run->rounds.arena_bytes = (size_t)top;
    add_grid(run, BJ_CACHE_FIRST_BYTES, fmin(top, COARSE_FROM_BYTES), EVERY_GRID, dense_kind(run));
    add_grid(run, COARSE_FROM_BYTES, top, EVERY_COARSE, dense_kind(run));
    if (!run->in_haste)
        add_twins(run, TWIN_FIRST_LINES * (double)run->spread_bytes, top, EVERY_GRID);
    run->plan.progress_from = BJ_CACHE_EXPLORED;
    return BJ_OK;
}

static void recall_points(cache_run *run, walk_kind kind) {
    const bj_curve *curve = bj_data_find_curve(run->rounds.samples, kind.curve);
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++)
        add_point(run, curve->x[i], kind);
}

/* How the walks of earlier rounds were; false: there are none, or what was noted (it may come from a file) makes no
 * sense. */
static bool recall_explored(cache_run *run) {
    const bj_curves *samples = run->rounds.samples;
    double grain = bj_kit_recall_fact(samples, BJ_CACHE_WALK, GRAIN);
    double top = bj_kit_recall_fact(samples, BJ_CACHE_WALK, TOP);
    double repetitions = bj_kit_recall_fact(samples, BJ_CACHE_WALK, REPEATED);
    if (!(grain >= BJ_WALK_WORD_BYTES && grain <= (double)(run->spread_bytes / BJ_TWIN_PACKING) &&
          top >= LEAST_ARENA_BYTES && repetitions >= 1 && repetitions <= BJ_KIT_REPETITIONS_MAX))
        return false;
    const bj_curve *walk = bj_data_find_curve(samples, BJ_CACHE_WALK);
    bool huge = bj_data_has_attribute_text(walk, BJ_CACHE_PAGES, BJ_CACHE_PAGES_HUGE);
    run->grain_bytes = (size_t)grain;
    run->in_haste = bj_data_find_curve(samples, BJ_CACHE_SPREAD) == NULL;
    run->rounds.pages = huge ? BJ_PAGES_HUGE : BJ_PAGES_BASE;
    run->rounds.pages_fixed = true;
    run->rounds.repetitions = (unsigned)repetitions;
    run->rounds.arena_bytes = (size_t)bj_kit_limit_arena(run->rounds.request, top);
    return true;
}

/* The same points: one that only a late round has would stand on a single sample. */
static void plan_more_rounds(cache_run *run) {
    recall_points(run, dense_kind(run));
    recall_points(run, spread_kind(run));
    recall_points(run, packed_kind(run));
    for (size_t k = 0; k < BJ_REVISIT_CURVES; k++)
        recall_points(run, revisit_kind(run, k));
}

/* After the sweep, since that tells where memory and the TLB's cost begin. */
static bj_status measure_memory(cache_run *run, bj_error *error) {
    bj_rounds *rounds = &run->rounds;
    size_t huge_bytes = rounds->request->machine->facts.huge_bytes;
    bj_memory_plan plan = {.rounds = plans[rounds->request->effort].memory_rounds,
                           .grain_bytes = run->grain_bytes,
                           .page_bytes = run->spread_bytes,
                           .lines_bytes = (double)rounds->arena_bytes};
    if (run->in_haste)
        return BJ_OK;
    if (rounds->request->more_rounds == 0) {
        bj_hierarchy found;
        BJ_TRY(bj_cache_find_hierarchy(rounds->samples, run->method, rounds->request->seed, true, &found, error));
        bj_cache_plan_windows(&found, &plan);
        double bytes = fmax(bj_kit_limit_arena(rounds->request, run->memory_bytes), plan.lines_bytes);
        plan.whole_bytes =
            rounds->pages == BJ_PAGES_HUGE ? floor(bytes / (double)huge_bytes) * (double)huge_bytes : bytes;
    } else if (!bj_cache_recall_memory(rounds->samples, &plan)) {
        return BJ_OK;
    }
    return bj_cache_measure_memory(rounds, &plan, SWEEP_SHARE, error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const bj_cache_method *method = bj_cache_find_method(request->method);
    if (method->as_printed)
        return bj_cache_measure_printed(request, method, samples, error);
    bj_measure_request sweep = *request;
    cache_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a sweep");
    run->plan = (bj_round_plan){.count = plans[request->effort].rounds,
                                .first_round = bj_kit_count_rounds(samples, BJ_CACHE_WALK),
                                .progress_to = SWEEP_SHARE,
                                .least_bytes = (size_t)LEAST_ARENA_BYTES,
                                .context = run,
                                .measure = measure_point,
                                .after_round = finish_round};
    run->method = method;
    run->spread_bytes = request->machine->facts.page_bytes;
    if (run->spread_bytes < LEAST_SPREAD_BYTES)
        run->spread_bytes = LEAST_SPREAD_BYTES;
    bj_kit_open_rounds(&run->rounds, &sweep, "cache", samples, RANDOM_PURPOSE);
    double begun_s = bj_kit_read_clock(&run->rounds);
    sweep.deadline_s = begun_s + SWEEP_SHARE * (request->deadline_s - begun_s);
    bj_status status = BJ_OK;
    if (request->more_rounds == 0)
        status = explore(run, error);
    else if (recall_explored(run))
        plan_more_rounds(run);
    if (status == BJ_OK && run->plan.point_count > 0)
        status = bj_kit_run_rounds(&run->rounds, &run->plan, error);
    run->rounds.request = request;
    if (status == BJ_OK && run->plan.point_count > 0)
        status = measure_memory(run, error);
    bj_kit_close_rounds(&run->rounds);
    free(run);
    return status;
}

const bj_probe bj_probe_cache = {
    .name = "cache",
    .question = "How many data caches are there, how large and how fast?",
    .revision = 7,
    .provides =
        (const bj_probe_key[]){
            {"cache.levels", "count", 1, BJ_LEVELS_MAX, "data-cache levels seen", .tolerance = BJ_SAME_NUMBER},
            {"cache.L<n>.size_bytes", "bytes", 256, 1e12,
             "effective size: adds at most 10% of the latency gap to the next level, random frames and TLB included",
             .tolerance = 0.15},
            {"cache.L<n>.capacity_bytes", "bytes", 256, 1e12, "the capacity that best explains the ramp",
             .tolerance = BJ_SIZE_TOLERANCE},
            {"cache.L<n>.latency_ns", "ns", 0.05, 1e5, "load to use, random order", .tolerance = BJ_LATENCY_TOLERANCE},
            {"cache.L<n>.latency_cycles", "cycles", 0.5, 1e5, "the same in additions of the same rounds",
             .tolerance = BJ_LATENCY_TOLERANCE},
            {"memory.latency_ns", "ns", 1, 1e6, "random access beyond all caches, TLB misses and all",
             .tolerance = BJ_LATENCY_TOLERANCE},
            {"memory.latency_in_tlb_ns", "ns", 1, 1e6, "the same within the TLB's reach",
             .tolerance = BJ_LATENCY_TOLERANCE},
            {0}},
    .needs = (const char *const[]){"clock", NULL},
    .methods = bj_cache_method_names,
    .paper_method = BJ_CACHE_PAPER_METHOD,
    .servet_method = BJ_CACHE_SERVET_METHOD,
    .literal_methods = (const char *const[]){"gradient_peaks", "binomial_size_literal", NULL},
    .cost_s = {5, 18, 70},
    .memory_bytes = {72u << 20, 480u << 20, 1640u << 20},
    .measure = measure,
    .analyse = bj_cache_analyse,
    .analyze_curve = BJ_CACHE_WALK,
    .analyze_x_name = "working_set",
    .analyze_x_unit = "bytes",
};
