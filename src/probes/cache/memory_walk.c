#include "probes/cache/memory_walk.h"

#include <math.h>

#include "probes/cache/cache_samples.h"
#include "probes/kit/walks.h"

/* Half of what a TLB reaches it holds whatever its ways. A larger window than this many pages gains nothing. */
#define OF_REACH 0.5
#define WINDOW_PAGES_MOST 1024.0
#define WINDOWS_LEAST 8 /* in the buffer */
/* Prefetchers follow a handful of regions of up to 4 KiB each: windows of 4 pages were learned, of 16 they were not. */
#define WINDOW_LEAST_BYTES 65536.0
/* How much larger the other window is at least, for the two to tell whether a prefetcher has learned the smaller. */
#define APART 4

static double floor_to_pages(double bytes, size_t page_bytes) {
    return exp2(floor(log2(fmax(bytes / (double)page_bytes, 0.5)))) * (double)page_bytes;
}

void bj_cache_plan_windows(const bj_hierarchy *found, bj_memory_plan *plan) {
    double page_bytes = (double)plan->page_bytes;
    double most = fmin(WINDOW_PAGES_MOST * page_bytes, plan->lines_bytes / WINDOWS_LEAST), first = most, last = most;
    if (found->twin_step_count > 0) {
        first = fmin(most, OF_REACH * found->twin_step[0].first_x);
        last = fmin(most, OF_REACH * found->twin_step[found->twin_step_count - 1].first_x);
    }
    double wide = floor_to_pages(last, plan->page_bytes);
    double near = floor_to_pages(fmin(first, wide / APART), plan->page_bytes);
    plan->window_count = 0;
    if (near >= fmax(WINDOW_LEAST_BYTES, page_bytes))
        plan->window_bytes[plan->window_count++] = near;
    if (wide >= fmax(WINDOW_LEAST_BYTES, page_bytes))
        plan->window_bytes[plan->window_count++] = wide;
}

bool bj_cache_recall_memory(const bj_curves *samples, bj_memory_plan *plan) {
    const bj_curve *curve = bj_data_find_curve(samples, BJ_MEMORY_WALK);
    if (curve == NULL || curve->x_count == 0 || !(curve->x[curve->x_count - 1] >= plan->lines_bytes))
        return false;
    plan->window_count = 0;
    plan->whole_bytes = curve->x[curve->x_count - 1];
    for (size_t i = 0; i + 1 < curve->x_count && plan->window_count < BJ_MEMORY_WINDOWS_MAX; i++)
        /* It may come from a file. */
        if (curve->x[i] >= (double)plan->page_bytes && curve->x[i] <= plan->lines_bytes &&
            fmod(curve->x[i], (double)plan->page_bytes) == 0)
            plan->window_bytes[plan->window_count++] = curve->x[i];
    return true;
}

typedef struct {
    bj_rounds *rounds;
    const bj_memory_plan *plan;
} memory_run;

/* Every line of a part of the buffer, one in so many of a larger one: what decides about hits is how many lines there
 * are, and about the TLB how far they lie apart. */
static bj_status walk_whole(const memory_run *run, double *bytes, double *ns, bj_error *error) {
    bj_rounds *rounds = run->rounds;
    *bytes = (double)rounds->arena_bytes;
    bj_walk_point walk = {.bytes = *bytes,
                          .order = BJ_ORDER_RANDOM,
                          .grain_bytes = run->plan->grain_bytes,
                          .one_in = (size_t)(*bytes / run->plan->lines_bytes)};
    return bj_kit_walk_point(rounds, &walk, ns, error);
}

static bj_status walk_windows(const memory_run *run, double window_bytes, double *ns, bj_error *error) {
    bj_rounds *rounds = run->rounds;
    double bytes = fmin(run->plan->lines_bytes, (double)rounds->arena_bytes);
    bj_window_walk_shape shape = {.first_byte = bj_kit_choose_first_byte(rounds, bytes),
                                  .bytes = (size_t)bytes,
                                  .window_bytes = (size_t)window_bytes,
                                  .page_bytes = run->plan->page_bytes,
                                  .grain_bytes = run->plan->grain_bytes};
    size_t count = bj_machine_count_windows(&shape) * (shape.window_bytes / shape.grain_bytes);
    BJ_TRY(bj_kit_reserve_places(rounds, count, error));
    bj_machine_order_windows(&shape, &rounds->random, rounds->places);
    return bj_kit_walk_places(rounds, rounds->places, count, ns, error);
}

/* The whole is the last point. */
static bj_status measure_window(void *context, const uint32_t *points, size_t count, bj_error *error) {
    const memory_run *run = context;
    double ns = 0, bytes = 0;
    (void)count;
    if (*points == run->plan->window_count) {
        BJ_TRY(walk_whole(run, &bytes, &ns, error));
    } else {
        bytes = run->plan->window_bytes[*points];
        BJ_TRY(walk_windows(run, bytes, &ns, error));
    }
    return bj_cache_record(run->rounds, BJ_MEMORY_WALK, "window", bytes, ns, error);
}

bj_status bj_cache_measure_memory(bj_rounds *rounds, const bj_memory_plan *plan, double progress_from,
                                  bj_error *error) {
    memory_run run = {rounds, plan};
    bj_round_plan rounds_plan = {.count = plan->rounds,
                                 .first_round = bj_kit_count_rounds(rounds->samples, BJ_MEMORY_WALK),
                                 .progress_from = progress_from,
                                 .progress_to = 1,
                                 .least_bytes = (size_t)plan->lines_bytes,
                                 .point_count = plan->window_count + 1,
                                 .context = &run,
                                 .measure = measure_window};
    rounds->arena_bytes = (size_t)plan->whole_bytes;
    BJ_TRY(bj_kit_run_rounds(rounds, &rounds_plan, error));
    BJ_TRY(bj_kit_keep_fact(rounds, BJ_MEMORY_WALK, BJ_MEMORY_PAGE, (double)plan->page_bytes, error));
    return bj_kit_keep_fact(rounds, BJ_MEMORY_WALK, BJ_MEMORY_GRAIN, (double)plan->grain_bytes, error);
}
