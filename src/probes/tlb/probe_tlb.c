/* How many pages do the TLBs hold, and what does it cost to miss them?
 *
 * Walks that visit one line on each of n pages, a different one on every page (2012 paper, 3.2), against twins of as
 * many lines in fewer pages: both load the caches alike, so the difference is the TLB's. Interleaved rounds, each in a
 * fresh arena, on a coarse grid first and with more points around the edges once they are seen. The same on huge pages
 * where they are granted. The analysis is probes/tlb/tlb_levels.h, and probes/tlb/tlb_table.h for curves without twins.
 */
#include <math.h>
#include <stdlib.h>

#include "probes/probe.h"
#include "probes/tlb/tlb_answer.h"
#include "probes/tlb/tlb_walks.h"

#define RANDOM_PURPOSE 0x746c6273u
#define RANDOM_PURPOSE_HUGE 0x746c6268u
#define MIB 1048576.0
/* The line, or part of it: no twin has two places in 512 bytes. */
#define GRAIN_BYTES 64u
#define FIRST_PAGES 4.0
#define GRID_PER_OCTAVE 4u
#define POINTS_MAX 192u
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
    {12, 1, 8192, 512 * MIB, 6, 256 * MIB},
    {30, 2, 16384, 1024 * MIB, 12, 1024 * MIB},
};

typedef struct {
    double pages;
    bool packed;
} tlb_point;

typedef struct {
    const bj_measure_request *request;
    bj_rounds rounds;
    bj_curves *samples;
    const char *spread_id, *packed_id;
    size_t page_bytes;
    double most_pages;
    tlb_point points[POINTS_MAX];
    size_t point_count;
} tlb_run;

unsigned bj_tlb_count_per_page(double pages) {
    return pages >= 256 ? 8 : 2;
}

double bj_tlb_count_twin_pages(double pages) {
    return ceil(pages / bj_tlb_count_per_page(pages));
}

static double clock_of(const tlb_run *run) {
    bj_machine *machine = run->request->machine;
    return machine->verbs->read_clock(machine);
}

static void add_points(tlb_run *run, double pages) {
    pages = floor(pages + 0.5);
    if (pages < FIRST_PAGES || pages > run->most_pages || run->point_count + 2 > POINTS_MAX)
        return;
    for (size_t i = 0; i < run->point_count; i++)
        if (run->points[i].pages == pages)
            return;
    run->points[run->point_count++] = (tlb_point){pages, false};
    run->points[run->point_count++] = (tlb_point){pages, true};
}

static void add_grid(tlb_run *run) {
    for (unsigned k = 0; FIRST_PAGES * exp2(k / (double)GRID_PER_OCTAVE) <= run->most_pages; k++)
        add_points(run, FIRST_PAGES * exp2(k / (double)GRID_PER_OCTAVE));
    add_points(run, run->most_pages);
}

static void add_range(tlb_run *run, double first, double last, double step) {
    for (double pages = ceil(first / step) * step; pages <= last; pages += step)
        add_points(run, pages);
}

/* What lies far beyond the last edge has been seen, and takes the most time. */
static void drop_points(tlb_run *run, double beyond) {
    size_t kept = 0;
    for (size_t i = 0; i < run->point_count; i++)
        if (run->points[i].pages <= beyond)
            run->points[kept++] = run->points[i];
    run->point_count = kept;
}

/* More points around the edges that the rounds so far have shown: `fineness` of them to a doubling, or every page. */
static bj_status refine(tlb_run *run, double fineness, double reach, bj_error *error) {
    bj_tlb_levels found;
    bj_status status = bj_tlb_find_levels(run->samples, run->spread_id, run->packed_id, &found, error);
    for (size_t i = 0; status == BJ_OK && i < found.count; i++) {
        double entries = found.level[i].entries;
        double step = fmax(1, floor(entries / fineness));
        add_range(run, entries / reach - step, entries * reach + step, step);
    }
    if (status == BJ_OK && found.count > 0)
        drop_points(run, BEYOND_LAST * found.level[found.count - 1].entries);
    return status;
}

static bj_status record(tlb_run *run, const tlb_point *point, size_t round, double ns, bj_error *error) {
    const char *id = point->packed ? run->packed_id : run->spread_id;
    bj_curve *curve = (bj_curve *)bj_data_find_curve(run->samples, id);
    if (curve == NULL) {
        bj_status status = bj_data_add_curve(run->samples, id, "tlb", &curve, error);
        if (status != BJ_OK)
            return status;
        bj_data_name_axes(curve, "pages", "count", "latency", "ns");
    }
    return bj_data_record_sample(curve, point->pages, round, ns, error);
}

/* The least of a few batches. More of them for few pages: these are cheap, and any neighbour on the core is seen there.
 */
static bj_status walk(tlb_run *run, size_t count, double *ns, bj_error *error) {
    if (count <= CHEAP_PAGES)
        return bj_kit_walk_places(&run->rounds, run->rounds.places, count, ns, error);
    bj_machine *machine = run->request->machine;
    bj_walk walk = {.arena = run->rounds.arena, .cpu = run->request->cpu, .places = run->rounds.places, .count = count};
    bj_walk_effort effort = {.repetitions = REPETITIONS};
    double samples[REPETITIONS] = {0};
    bj_status status = machine->verbs->run_walks(machine, &walk, 1, &effort, samples, error);
    *ns = samples[0];
    for (unsigned i = 1; i < REPETITIONS; i++)
        *ns = fmin(*ns, samples[i]);
    return status;
}

static bj_status measure_point(tlb_run *run, const tlb_point *point, size_t round, bj_error *error) {
    bj_page_walk_shape shape = {.page_bytes = run->page_bytes,
                                .grain_bytes = GRAIN_BYTES,
                                .count = (size_t)point->pages,
                                .per_page = point->packed ? bj_tlb_count_per_page(point->pages) : 1};
    size_t room = run->rounds.arena_bytes / run->page_bytes - bj_machine_count_pages(&shape);
    shape.first_byte = bj_random_below(&run->rounds.random, room + 1) * run->page_bytes;
    double ns = 0;
    bj_status status = bj_kit_reserve_places(&run->rounds, shape.count, error);
    if (status != BJ_OK)
        return status;
    bj_machine_order_pages(&shape, &run->rounds.random, run->rounds.places);
    status = walk(run, shape.count, &ns, error);
    return status == BJ_OK ? record(run, point, round, ns, error) : status;
}

static bj_status measure_points(tlb_run *run, size_t round, double share, double shares, bj_error *error) {
    bj_status status = BJ_OK;
    uint32_t order[POINTS_MAX];
    for (size_t i = 0; i < run->point_count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->rounds.random, order, run->point_count);
    for (size_t i = 0; i < run->point_count && status == BJ_OK; i++) {
        const tlb_point *point = &run->points[order[i]];
        if (point->pages > run->most_pages)
            continue;
        status = measure_point(run, point, round, error);
        double fraction = share + shares * (double)(i + 1) / (double)run->point_count;
        if (status == BJ_OK)
            status = bj_probe_report(run->request, fraction, error);
        /* A first round is finished whatever the deadline: half a curve answers nothing. */
        if (round > 0 && clock_of(run) > run->request->deadline_s)
            break;
    }
    return status;
}

static bj_status measure_round(tlb_run *run, size_t round, double share, double shares, bj_error *error) {
    bj_status status = bj_kit_open_arena(&run->rounds, (size_t)LEAST_HUGE_PAGES * run->page_bytes, error);
    run->rounds.pages_fixed = true;
    run->most_pages = fmin(run->most_pages, floor((double)run->rounds.arena_bytes / (double)run->page_bytes));
    return status == BJ_OK ? measure_points(run, round, share, shares, error) : status;
}

static bj_status measure_rounds(tlb_run *run, unsigned rounds, double share, double shares, bj_error *error) {
    double started_s = clock_of(run);
    bj_status status = BJ_OK;
    for (size_t round = 0; round < rounds && status == BJ_OK; round++) {
        double each_s = round > 0 ? (clock_of(run) - started_s) / (double)round : 0;
        if (round > 0 && clock_of(run) + each_s > run->request->deadline_s)
            break;
        status = measure_round(run, round, share + shares * (double)round / rounds, shares / rounds, error);
        /* After two rounds an edge is seen, after four it is seen better. */
        if (status == BJ_OK && (round == 1 || round == 3))
            status = refine(run, round == 1 ? 16 : 64, round == 1 ? 1.2 : 1.06, error);
    }
    return status;
}

static bj_status measure_base(tlb_run *run, const effort_plan *plan, bj_error *error) {
    const bj_measure_request *request = run->request;
    double page = (double)request->machine->facts.page_bytes;
    bj_data_get_number(request->earlier, "page.size_bytes", &page);
    double bytes = fmin(plan->most_bytes, (double)request->memory_bytes / 1.2);
    run->page_bytes = (size_t)page;
    run->most_pages = fmin(plan->most_pages, floor(bytes / page));
    if (run->most_pages < LEAST_PAGES)
        return BJ_OK;
    bj_kit_open_rounds(&run->rounds, request, "tlb", run->samples, RANDOM_PURPOSE);
    bj_kit_plan_arena(&run->rounds, (size_t)(run->most_pages * page), plan->repetitions);
    run->rounds.pages = BJ_PAGES_BASE;
    run->rounds.arena_bytes = (size_t)(run->most_pages * page);
    run->spread_id = BJ_TLB_SPREAD;
    run->packed_id = BJ_TLB_PACKED;
    run->point_count = 0;
    add_grid(run);
    bj_status status = measure_rounds(run, plan->rounds, 0, HUGE_FROM, error);
    bj_kit_close_rounds(&run->rounds);
    return status;
}

/* Beside the points of each round, once: few huge pages as if they were many small ones. */
static void plan_inside(tlb_run *run) {
    size_t small = run->request->machine->facts.page_bytes;
    for (double pages = INSIDE_FIRST; pages <= INSIDE_LAST; pages *= 2)
        if (pages * (double)small <= INSIDE_HUGE_PAGES * (double)run->page_bytes)
            add_points(run, pages);
    run->page_bytes = small;
    run->spread_id = BJ_TLB_INSIDE_SPREAD;
    run->packed_id = BJ_TLB_INSIDE_PACKED;
}

static bj_status measure_huge_rounds(tlb_run *run, const effort_plan *plan, bj_error *error) {
    size_t huge_bytes = run->page_bytes;
    tlb_run *inside = malloc(sizeof *inside);
    if (inside == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a sweep");
    bj_status status = BJ_OK;
    for (size_t round = 0; round < plan->huge_rounds && status == BJ_OK; round++) {
        if (round > 0 && clock_of(run) > run->request->deadline_s)
            break;
        double share = HUGE_FROM + (1 - HUGE_FROM) * (double)round / plan->huge_rounds;
        run->page_bytes = huge_bytes;
        status = measure_round(run, round, share, 0, error);
        if (status == BJ_OK && round == 1)
            status = refine(run, 16, 1.2, error);
        if (status != BJ_OK)
            break;
        *inside = *run;
        inside->point_count = 0;
        inside->most_pages = INSIDE_LAST;
        plan_inside(inside);
        status = measure_points(inside, round, share, 0, error);
        run->rounds = inside->rounds;
    }
    free(inside);
    return status;
}

static bj_status measure_huge(tlb_run *run, const effort_plan *plan, bj_error *error) {
    const bj_measure_request *request = run->request;
    size_t huge_bytes = request->machine->facts.huge_bytes;
    double bytes = fmin(plan->huge_bytes, (double)request->memory_bytes / 1.2);
    if (huge_bytes == 0 || bytes < LEAST_HUGE_PAGES * (double)huge_bytes)
        return BJ_OK;
    run->page_bytes = huge_bytes;
    run->most_pages = floor(bytes / (double)huge_bytes);
    bj_kit_open_rounds(&run->rounds, request, "tlb", run->samples, RANDOM_PURPOSE_HUGE);
    bj_kit_plan_arena(&run->rounds, (size_t)run->most_pages * huge_bytes, plan->repetitions);
    run->rounds.pages = BJ_PAGES_HUGE;
    run->rounds.pages_fixed = true;
    run->spread_id = BJ_TLB_HUGE_SPREAD;
    run->packed_id = BJ_TLB_HUGE_PACKED;
    run->point_count = 0;
    add_grid(run);
    bj_status status = measure_huge_rounds(run, plan, error);
    bj_kit_close_rounds(&run->rounds);
    /* None granted, or no more of them: what there is has to do. */
    return status == BJ_ERR_UNSUPPORTED || status == BJ_ERR_RESOURCE ? BJ_OK : status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    tlb_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a sweep");
    run->request = request;
    run->samples = samples;
    const effort_plan *plan = &plans[request->effort];
    bj_status status = measure_base(run, plan, error);
    if (status == BJ_OK && clock_of(run) <= request->deadline_s)
        status = measure_huge(run, plan, error);
    free(run);
    return status;
}

const bj_probe bj_probe_tlb = {
    .name = "tlb",
    .question = "How many pages do the TLBs hold, and what does it cost to miss them?",
    .revision = BJ_TLB_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"tlb.levels", "count", 1, 8, "TLB levels seen with base pages"},
            {"tlb.L<n>.entries", "count", 2, 1e6, "pages that the level holds for a program"},
            {"tlb.L<n>.miss_ns", "ns", 0, 1e5, "cost of missing the level, over that of a hit in it"},
            {"tlb.huge.levels", "count", 1, 8, "TLB levels seen with huge pages"},
            {"tlb.huge.L<n>.entries", "count", 2, 1e6, "huge pages that the level holds"},
            {"tlb.huge.L<n>.miss_ns", "ns", 0, 1e5, "cost of missing the level with huge pages"},
            {0}},
    .needs = (const char *const[]){"page", NULL},
    .methods = (const char *const[]){"paired_walks", NULL},
    .cost_s = {2, 4, 15},
    .memory_bytes = {384u << 20, 512u << 20, 1024u << 20},
    .measure = measure,
    .analyse = bj_tlb_analyse,
    .analyze_curve = BJ_TLB_SPREAD,
    .analyze_x_name = "pages",
    .analyze_x_unit = "count",
};
