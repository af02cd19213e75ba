#include "probes/page/page_paper.h"

#include <math.h>

#include "probes/kit/walks.h"

#define RANDOM_PURPOSE 0x70616770u
#define MIB 1048576.0
/* Strides from beyond most lines to beyond most pages, and further where the system allocates by more. */
#define FIRST_STRIDE 512u
#define LAST_STRIDE 65536u
#define OVER_GRANULE 4u
#define STRIDES_MAX 24u
/* "Large enough to exceed the span of any TLB": at the longest stride still so many pages. */
#define LEAST_VISITS 4096.0

typedef struct {
    unsigned rounds, repetitions;
    double most_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 1, 256 * MIB}, {9, 2, 512 * MIB}, {30, 3, 1024 * MIB}};

static size_t stride_of(uint32_t point) {
    return (size_t)FIRST_STRIDE << point;
}

static bj_status measure_stride(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {BJ_PAGE_PAPER, "stride", "bytes", "time_per_access", "ns"};
    bj_rounds *rounds = context;
    size_t stride = stride_of(*points), visits = rounds->arena_bytes / stride;
    double ns = 0;
    (void)count;
    BJ_TRY(bj_kit_reserve_places(rounds, visits, error));
    for (size_t i = 0; i < visits; i++)
        rounds->places[i] = (uint32_t)(i * stride / BJ_WALK_WORD_BYTES);
    BJ_TRY(bj_kit_walk_chains(rounds, rounds->places, visits, 1, rounds->repetitions, &ns, error));
    return bj_kit_record(rounds, &axes, (double)stride, ns, error);
}

bj_status bj_page_measure_strides(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *effort = &plans[request->effort];
    size_t granule = request->machine->facts.page_bytes;
    size_t last = OVER_GRANULE * granule > LAST_STRIDE ? OVER_GRANULE * granule : LAST_STRIDE;
    double bytes = bj_kit_limit_arena(request, fmin(LEAST_VISITS * (double)last, effort->most_bytes));
    bj_rounds rounds;
    bj_round_plan plan = {.count = effort->rounds,
                          .first_round = bj_kit_count_rounds(samples, BJ_PAGE_PAPER),
                          .context = &rounds,
                          .measure = measure_stride};
    bj_kit_open_rounds(&rounds, request, "page", samples, RANDOM_PURPOSE);
    rounds.pages = BJ_PAGES_BASE;
    rounds.repetitions = effort->repetitions;
    rounds.arena_bytes = (size_t)(floor(bytes / MIB) * MIB);
    plan.least_bytes = rounds.arena_bytes;
    while (plan.point_count < STRIDES_MAX && stride_of((uint32_t)plan.point_count) <= last &&
           2 * stride_of((uint32_t)plan.point_count) <= rounds.arena_bytes)
        plan.point_count++;
    bj_status status = plan.point_count > 0 ? bj_kit_run_rounds(&rounds, &plan, error) : BJ_OK;
    bj_kit_close_rounds(&rounds);
    return status;
}
