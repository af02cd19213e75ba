#include "probes/tlb/tlb_paper.h"

#include <math.h>
#include <stdlib.h>

#include "probes/kit/walks.h"

#define RANDOM_PURPOSE 0x746c6270u
#define MIB 1048576.0
#define GRAIN_BYTES 64u
/* The paper does not say at how many pages. Eight numbers to an octave, and around powers of two, which most TLBs hold
 * or nearly do, one by one as far as the program's own pages may be missing. */
#define FIRST_PAGES 4.0
#define PER_OCTAVE 8u
#define BELOW_POWER 4
#define ABOVE_POWER 1
#define POINTS_MAX 256u

typedef struct {
    unsigned rounds, repetitions;
    double most_pages, most_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {
    {6, 1, 6144, 384 * MIB}, {12, 2, 8192, 512 * MIB}, {30, 2, 16384, 1024 * MIB}};

typedef struct {
    bj_rounds rounds;
    size_t page_bytes;
    uint32_t pages[POINTS_MAX];
} paper_run;

static int compare_numbers(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static size_t list_pages(paper_run *run, double most) {
    size_t count = 0, kept = 0;
    for (unsigned k = 0; count < POINTS_MAX && FIRST_PAGES * exp2(k / (double)PER_OCTAVE) <= most; k++) {
        run->pages[count++] = (uint32_t)(FIRST_PAGES * exp2(k / (double)PER_OCTAVE) + 0.5);
        for (int i = -BELOW_POWER; k % PER_OCTAVE == 0 && k > 0 && i <= ABOVE_POWER && count < POINTS_MAX; i++)
            if (run->pages[count - 1] + i <= most)
                run->pages[count++] = (uint32_t)(FIRST_PAGES * exp2(k / PER_OCTAVE)) + (uint32_t)i;
    }
    qsort(run->pages, count, sizeof run->pages[0], compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || run->pages[i] != run->pages[kept - 1])
            run->pages[kept++] = run->pages[i];
    return kept;
}

static bj_status measure_pages(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {BJ_TLB_PAPER, "pages", "count", "latency", "ns"};
    paper_run *run = context;
    bj_rounds *rounds = &run->rounds;
    bj_page_walk_shape shape = {
        .page_bytes = run->page_bytes, .grain_bytes = GRAIN_BYTES, .count = run->pages[*points], .per_page = 1};
    double ns = 0;
    (void)count;
    if (shape.count * run->page_bytes > rounds->arena_bytes)
        return BJ_OK;
    size_t room = rounds->arena_bytes / run->page_bytes - shape.count;
    shape.first_byte = bj_random_below(&rounds->random, room + 1) * run->page_bytes;
    BJ_TRY(bj_kit_reserve_places(rounds, shape.count, error));
    bj_machine_order_pages(&shape, &rounds->random, rounds->places);
    BJ_TRY(bj_kit_walk_places(rounds, rounds->places, shape.count, &ns, error));
    return bj_kit_record(rounds, &axes, (double)shape.count, ns, error);
}

bj_status bj_tlb_measure_paper(const bj_measure_request *request, size_t page_bytes, bj_curves *samples,
                               bj_error *error) {
    const effort_plan *effort = &plans[request->effort];
    double most = fmin(effort->most_pages, bj_kit_limit_arena(request, effort->most_bytes) / (double)page_bytes);
    paper_run run = {.page_bytes = page_bytes};
    bj_round_plan plan = {.count = effort->rounds,
                          .first_round = bj_kit_count_rounds(samples, BJ_TLB_PAPER),
                          .point_count = list_pages(&run, floor(most)),
                          .least_bytes = (size_t)FIRST_PAGES * page_bytes,
                          .context = &run,
                          .measure = measure_pages};
    if (plan.point_count == 0)
        return BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "tlb", samples, RANDOM_PURPOSE);
    run.rounds.pages = BJ_PAGES_BASE;
    run.rounds.repetitions = effort->repetitions;
    run.rounds.arena_bytes = run.pages[plan.point_count - 1] * page_bytes;
    bj_status status = bj_kit_run_rounds(&run.rounds, &plan, error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}
