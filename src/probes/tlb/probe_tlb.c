/* How many pages do the TLBs hold, and what does it cost to miss them?
 *
 * Walks that visit one line on each of n pages, a different one on every page (2012 paper, 3.2), against twins of as
 * many lines in fewer pages: both load the caches alike, so the difference is the TLB's. Interleaved rounds, each in a
 * fresh arena, on a coarse grid first and with more points around the edges once they are seen. The same on huge pages
 * where they are granted. The analysis is probes/tlb/tlb_levels.h, and probes/tlb/tlb_table.h for curves without twins.
 */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/walks.h"
#include "probes/tlb/tlb_answer.h"
#include "probes/tlb/tlb_constants.h"
#include "probes/tlb/tlb_paper.h"
#include "probes/tlb/tlb_twins.h"

#define RANDOM_PURPOSE 0x746c6273u
#define RANDOM_PURPOSE_HUGE 0x746c6268u
#define MIB 1048576.0
/* The line, or part of it: no twin has two places in 512 bytes. */
#define GRAIN_BYTES 64u
#define LEAST_PAGE_BYTES 512.0 /* two places of a packed twin */
#define FIRST_PAGES 4.0
#define GRID_PER_OCTAVE 4u
#define POINTS_MAX 192u
/* The least of a few batches. More of them for few pages: these are cheap, and any neighbour on the core is seen there.
 */
#define CHEAP_PAGES 256u
#define REPETITIONS 2u
/* A ramp of one way ends at twice its beginning. */
#define BEYOND_LAST 2.5
#define LEAST_PAGES 256.0
/* Few pages are enough for the first level of huge ones, and more take long to map. */
#define LEAST_HUGE_PAGES 12.0
/* Small pages that lie in at most so many huge ones. */
#define INSIDE_FIRST 128.0
#define INSIDE_LAST 512.0
#define INSIDE_HUGE_PAGES 4.0
#define INSIDE_POINTS_MAX 6u
/* Of the progress. */
#define HUGE_FROM 0.8

typedef struct {
    unsigned rounds, repetitions;
    double most_pages, most_bytes;
    unsigned huge_rounds;
    double huge_bytes;
} effort_plan;

/* Second levels of up to some 3000 entries are seen, of 6000 when thorough. */
static const effort_plan plans[BJ_EFFORT_COUNT] = {
    {6, 1, 6144, 384 * MIB, 6, 192 * MIB},
    {10, 1, 8192, 512 * MIB, 6, 256 * MIB},
    {30, 2, 16384, 1024 * MIB, 12, 1024 * MIB},
};

/* How much finer the points around an edge are: so many to a doubling, or every page, up to a factor from the edge.
 * After two rounds an edge is seen, after four it is seen better. */
typedef struct {
    double fineness, around;
} refinement;

static const refinement first_refinement = {16, 1.2}, second_refinement = {64, 1.06};

typedef struct {
    const char *curve;
    double pages;
    size_t page_bytes;
    bool packed;
} tlb_point;

/* One kind of pages. */
typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    const char *spread_id, *packed_id;
    size_t page_bytes;
    double most_pages;
    tlb_point points[POINTS_MAX];
} tlb_run;

static void add_points(tlb_run *run, double pages) {
    pages = floor(pages + 0.5);
    if (pages < FIRST_PAGES || pages > run->most_pages || run->plan.point_count + 2 > POINTS_MAX)
        return;
    for (size_t i = 0; i < run->plan.point_count; i++)
        if (run->points[i].pages == pages)
            return;
    run->points[run->plan.point_count++] = (tlb_point){run->spread_id, pages, run->page_bytes, false};
    run->points[run->plan.point_count++] = (tlb_point){run->packed_id, pages, run->page_bytes, true};
}

static void add_grid(tlb_run *run) {
    for (unsigned k = 0; FIRST_PAGES * exp2(k / (double)GRID_PER_OCTAVE) <= run->most_pages; k++)
        add_points(run, FIRST_PAGES * exp2(k / (double)GRID_PER_OCTAVE));
    add_points(run, run->most_pages);
}

/* What lies far beyond the last edge has been seen, and takes the most time. */
static void drop_points(tlb_run *run, double beyond) {
    size_t kept = 0;
    for (size_t i = 0; i < run->plan.point_count; i++)
        if (run->points[i].pages <= beyond)
            run->points[kept++] = run->points[i];
    run->plan.point_count = kept;
}

/* More points around the edges that the rounds so far have shown. */
static bj_status refine(tlb_run *run, const refinement *refinement, bj_error *error) {
    bj_tlb_twins *twins = malloc(sizeof *twins);
    if (twins == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for twins");
    bj_status status = bj_tlb_read_twins(bj_data_find_curve(run->rounds.samples, run->spread_id),
                                         bj_data_find_curve(run->rounds.samples, run->packed_id), twins, error);
    const bj_tlb_levels *found = &twins->found;
    for (size_t i = 0; status == BJ_OK && i < found->count; i++) {
        double entries = found->level[i].entries, spacing = fmax(1, floor(entries / refinement->fineness));
        double first = entries / refinement->around - spacing, last = entries * refinement->around + spacing;
        for (double pages = ceil(first / spacing) * spacing; pages <= last; pages += spacing)
            add_points(run, pages);
    }
    if (status == BJ_OK && found->count > 0)
        drop_points(run, BEYOND_LAST * found->level[found->count - 1].entries);
    free(twins->column);
    free(twins);
    return status;
}

static bj_status walk_pages(tlb_run *run, const tlb_point *point, bj_error *error) {
    bj_rounds *rounds = &run->rounds;
    bj_page_walk_shape shape = {.page_bytes = point->page_bytes,
                                .grain_bytes = GRAIN_BYTES,
                                .count = (size_t)point->pages,
                                .per_page = point->packed ? bj_tlb_count_per_page(point->pages) : 1};
    bj_curve_axes axes = {point->curve, "pages", "count", "latency", "ns"};
    size_t room = rounds->arena_bytes / point->page_bytes - bj_machine_count_pages(&shape);
    shape.first_byte = bj_random_below(&rounds->random, room + 1) * point->page_bytes;
    double ns = 0;
    bj_status status = bj_kit_reserve_places(rounds, shape.count, error);
    if (status != BJ_OK)
        return status;
    bj_machine_order_pages(&shape, &rounds->random, rounds->places);
    status = shape.count <= CHEAP_PAGES
                 ? bj_kit_walk_places(rounds, rounds->places, shape.count, &ns, error)
                 : bj_kit_walk_chains(rounds, rounds->places, shape.count, 1, REPETITIONS, &ns, error);
    return status == BJ_OK ? bj_kit_record(rounds, &axes, point->pages, ns, error) : status;
}

static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    tlb_run *run = context;
    const tlb_point *point = &run->points[*points];
    (void)count;
    return point->pages <= run->most_pages ? walk_pages(run, point, error) : BJ_OK;
}

/* The arena may be smaller than was planned. */
static bj_status take_arena(void *context, bj_error *error) {
    tlb_run *run = context;
    (void)error;
    run->most_pages = fmin(run->most_pages, floor((double)run->rounds.arena_bytes / (double)run->page_bytes));
    return BJ_OK;
}

static bj_status refine_base(void *context, bj_error *error) {
    tlb_run *run = context;
    return run->rounds.round == 1   ? refine(run, &first_refinement, error)
           : run->rounds.round == 3 ? refine(run, &second_refinement, error)
                                    : BJ_OK;
}

/* Besides the points of a round, few huge pages as if they were many small ones. */
static bj_status measure_inside(tlb_run *run, bj_error *error) {
    size_t small = run->rounds.request->machine->facts.page_bytes;
    tlb_point points[INSIDE_POINTS_MAX];
    uint32_t order[INSIDE_POINTS_MAX];
    size_t count = 0;
    for (double pages = INSIDE_FIRST; pages <= INSIDE_LAST; pages *= 2)
        for (int packed = 0; packed < 2 && pages * (double)small <= INSIDE_HUGE_PAGES * (double)run->page_bytes;
             packed++)
            points[count++] =
                (tlb_point){packed ? BJ_TLB_INSIDE_PACKED : BJ_TLB_INSIDE_SPREAD, pages, small, packed != 0};
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->rounds.random, order, count);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        status = walk_pages(run, &points[order[i]], error);
    return status;
}

static bj_status finish_huge_round(void *context, bj_error *error) {
    tlb_run *run = context;
    BJ_TRY(run->rounds.round == 1 ? refine(run, &first_refinement, error) : BJ_OK);
    return measure_inside(run, error);
}

/* A grid, or the points of the rounds that are there already. */
static bj_status plan_points(tlb_run *run, const refinement *known, bj_error *error) {
    const bj_curve *spread = bj_data_find_curve(run->rounds.samples, run->spread_id);
    if (run->rounds.request->more_rounds == 0) {
        add_grid(run);
        return BJ_OK;
    }
    for (size_t i = 0; spread != NULL && i < spread->x_count; i++)
        add_points(run, spread->x[i]);
    return refine(run, known, error);
}

static bj_status measure_rounds(tlb_run *run, bj_pages pages, uint64_t purpose, const refinement *known,
                                bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    bj_curves *samples = run->rounds.samples;
    size_t arena_bytes = (size_t)run->most_pages * run->page_bytes;
    run->plan.first_round = bj_kit_count_rounds(samples, run->spread_id);
    run->plan.least_bytes = (size_t)LEAST_HUGE_PAGES * run->page_bytes;
    run->plan.context = run;
    run->plan.prepare = take_arena;
    run->plan.measure = measure_point;
    bj_kit_open_rounds(&run->rounds, request, "tlb", samples, purpose);
    bj_kit_plan_arena(&run->rounds, arena_bytes, plans[request->effort].repetitions);
    run->rounds.arena_bytes = arena_bytes;
    run->rounds.pages = pages;
    run->rounds.pages_fixed = true;
    bj_status status = plan_points(run, known, error);
    if (status == BJ_OK && run->plan.point_count > 0)
        status = bj_kit_run_rounds(&run->rounds, &run->plan, error);
    bj_kit_close_rounds(&run->rounds);
    return status;
}

/* Lines of a page are told apart by grains: a page that has none, or a broken one, is somebody's slip. */
static double choose_page(const bj_measure_request *request) {
    double page = bj_kit_find_number(request->earlier, "page.size_bytes");
    bool usable = page >= LEAST_PAGE_BYTES && page <= plans[request->effort].most_bytes && fmod(page, GRAIN_BYTES) == 0;
    return usable ? page : (double)request->machine->facts.page_bytes;
}

static bj_status measure_base(tlb_run *run, double progress_to, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    const effort_plan *plan = &plans[request->effort];
    double page = choose_page(request);
    double bytes = bj_kit_limit_arena(request, plan->most_bytes);
    run->spread_id = BJ_TLB_SPREAD;
    run->packed_id = BJ_TLB_PACKED;
    run->page_bytes = (size_t)page;
    run->most_pages = fmin(plan->most_pages, floor(bytes / page));
    run->plan = (bj_round_plan){.count = plan->rounds, .progress_to = progress_to, .after_round = refine_base};
    if (run->most_pages < LEAST_PAGES)
        return BJ_OK;
    return measure_rounds(run, BJ_PAGES_BASE, RANDOM_PURPOSE, &second_refinement, error);
}

static bj_status measure_huge(tlb_run *run, double bytes, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    run->spread_id = BJ_TLB_HUGE_SPREAD;
    run->packed_id = BJ_TLB_HUGE_PACKED;
    run->page_bytes = request->machine->facts.huge_bytes;
    run->most_pages = floor(bytes / (double)run->page_bytes);
    run->plan = (bj_round_plan){
        .count = plans[request->effort].huge_rounds, .progress_from = HUGE_FROM, .after_round = finish_huge_round};
    bj_status status = measure_rounds(run, BJ_PAGES_HUGE, RANDOM_PURPOSE_HUGE, &first_refinement, error);
    /* None granted, or no more of them: what there is has to do. */
    return status == BJ_ERR_UNSUPPORTED || status == BJ_ERR_RESOURCE ? BJ_OK : status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    if (bj_probe_is_method(request->method, BJ_TLB_QT_CLUSTER))
        return bj_tlb_measure_paper(request, (size_t)choose_page(request), samples, error);
    double huge_page = (double)request->machine->facts.huge_bytes;
    double huge_bytes = bj_kit_limit_arena(request, plans[request->effort].huge_bytes);
    bool try_huge = huge_page > 0 && huge_bytes >= LEAST_HUGE_PAGES * huge_page;
    tlb_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a sweep");
    run->rounds.request = request;
    run->rounds.samples = samples;
    bj_status status = measure_base(run, try_huge ? HUGE_FROM : 1, error);
    if (status == BJ_OK && try_huge && !bj_probe_is_late(request))
        status = measure_huge(run, huge_bytes, error);
    free(run);
    return status;
}

const bj_probe bj_probe_tlb = {
    .name = "tlb",
    .question = "How many pages do the TLBs hold, and what does it cost to miss them?",
    .revision = BJ_TLB_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"tlb.levels", "count", 1, 8, "TLB levels seen with base pages", .tolerance = BJ_SAME_NUMBER},
            {"tlb.L<n>.entries", "count", 2, 1e6, "pages that the level holds for a program",
             .tolerance = BJ_TLB_ENTRIES_TOLERANCE, .tolerance_least = BJ_TLB_ENTRIES_RIGHT},
            {"tlb.L<n>.miss_ns", "ns", 0, 1e5, "cost of missing the level, over that of a hit in it",
             .tolerance = BJ_TLB_COST_TOLERANCE},
            {"tlb.huge.levels", "count", 1, 8, "TLB levels seen with huge pages", .tolerance = BJ_SAME_NUMBER},
            {"tlb.huge.L<n>.entries", "count", 2, 1e6, "huge pages that the level holds",
             .tolerance = BJ_TLB_ENTRIES_TOLERANCE, .tolerance_least = BJ_TLB_ENTRIES_RIGHT},
            {"tlb.huge.L<n>.miss_ns", "ns", 0, 1e5, "cost of missing the level with huge pages",
             .tolerance = BJ_TLB_COST_TOLERANCE},
            {0}},
    .needs = (const char *const[]){"page", NULL},
    .methods = (const char *const[]){"paired_walks", BJ_TLB_QT_CLUSTER, NULL},
    .paper_method = BJ_TLB_QT_CLUSTER,
    .cost_s = {2, 4, 15},
    .memory_bytes = {384u << 20, 512u << 20, 1024u << 20},
    .measure = measure,
    .analyse = bj_tlb_analyse,
    .analyze_curve = BJ_TLB_SPREAD,
    .analyze_x_name = "pages",
    .analyze_x_unit = "count",
};
