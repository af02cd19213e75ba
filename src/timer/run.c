#include "timer/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/quantile.h"
#include "timer/timer_constants.h"

enum { WITNESS_PLACES_LEAST = 16 };

static bool moves(const bj_timer_run *run, size_t operand) {
    return run->plan.areas[operand].stride != 0;
}

/* Of every second set the first input is negated: what is added into an operand that stays is taken away again. */
static size_t find_negated(const bj_timer_plan *plan) {
    for (size_t i = 0; i < plan->operand_count; i++)
        if (plan->operands[i].direction == BJ_DIRECTION_IN)
            return i;
    return plan->operand_count;
}

static void write_sets(const bj_timer_run *run) {
    const bj_timer_plan *plan = &run->plan;
    size_t negated = find_negated(plan);
    for (size_t visit = 0; visit < plan->sets; visit++) {
        size_t set = run->order != NULL ? run->order[plan->sets - 1 - visit] : visit;
        for (size_t i = 0; i < plan->operand_count; i++)
            if (moves(run, i))
                bj_timer_fill(run->bench, run->first[i] + (ptrdiff_t)set * run->strides[i], plan->operands[i].bytes,
                              i == negated && set % 2 == 1);
    }
}

static void do_touch(const bj_timer_run *run, const bj_timer_touch *touch) {
    const bj_timer_plan *plan = &run->plan;
    char *from = run->memory[touch->area] + touch->offset;
    size_t line = run->bench->caches.line_bytes;
    for (unsigned pass = 0; pass < touch->passes; pass++) {
        if (touch->action == BJ_TOUCH_WRITE)
            bj_timer_fill(run->bench, from, touch->bytes, false);
        else if (touch->action == BJ_TOUCH_DROP_LINES)
            bj_kernel_drop_lines(from, touch->bytes, line);
        else if (touch->area == BJ_AREA_FLUSH(plan))
            bj_timer_read_area(run->bench, from, touch->bytes);
        else
            bj_kernel_read_range(from, touch->bytes, line);
    }
}

void bj_timer_prepare(bj_timer_run *run) {
    for (size_t i = 0; i < run->plan.touch_count; i++) {
        if (run->plan.touches[i].action == BJ_TOUCH_WRITE_SETS)
            write_sets(run);
        else
            do_touch(run, &run->plan.touches[i]);
    }
    run->prepared = true;
}

static bj_status draw_order(bj_timer_run *run, bj_error *error) {
    size_t sets = run->plan.sets;
    bj_random random;
    run->order = malloc(sets * sizeof *run->order);
    if (run->order == NULL || sets > UINT32_MAX)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for an order of %zu sets", sets);
    for (size_t i = 0; i < sets; i++)
        run->order[i] = (uint32_t)i;
    bj_random_seed(&random, bj_random_mix(run->bench->seed, 2));
    bj_random_shuffle_u32(&random, run->order, sets);
    return BJ_OK;
}

bj_status bj_timer_open_run(bj_timer_bench *bench, const bj_timer_plan *plan, size_t n, bj_timer_run *run,
                            bj_error *error) {
    *run = (bj_timer_run){.bench = bench, .plan = *plan, .huge = bj_timer_has_level(plan)};
    BJ_TRY(bj_timer_map_areas(bench, plan, run->huge, run->memory, error));
    if (plan->shuffled)
        BJ_TRY(draw_order(run, error));
    for (size_t i = 0; i < plan->operand_count; i++) {
        run->first[i] = run->at[i] = run->memory[i] + plan->areas[i].first;
        run->strides[i] = plan->areas[i].stride;
        if (plan->sets == 1)
            bj_timer_fill(bench, run->memory[i], plan->areas[i].bytes, false);
    }
    run->calls = (bj_timed_calls){.n = n,
                                  .operand_count = plan->operand_count,
                                  .at = run->at,
                                  .first = run->first,
                                  .strides = run->strides,
                                  .order = run->order,
                                  .sets = plan->sets,
                                  .left = plan->sets,
                                  .alpha = 1};
    return BJ_OK;
}

void bj_timer_close_run(bj_timer_run *run) {
    free(run->order);
    run->order = NULL;
}

double bj_timer_take_sample(bj_timer_run *run, bj_kernel_function *kernel, size_t calls) {
    run->calls.kernel = kernel;
    return (double)bj_kernel_time_calls(&run->calls, calls, run->bench->clock);
}

double bj_timer_time_nothing(bj_timer_run *run, size_t calls) {
    bj_timed_calls before = run->calls;
    char *at[BJ_TIMER_OPERANDS_MAX];
    memcpy(at, run->at, sizeof at);
    double ns = bj_timer_take_sample(run, bj_kernel_do_nothing, calls);
    run->calls = before;
    memcpy(run->at, at, sizeof at);
    return ns;
}

typedef struct {
    size_t operand, places, group;
    uint32_t *order;
} walk;

/* The plan's touches with a chain in place of what the operand is initialised with, then the walk along it. */
static double time_walk(const bj_timer_run *run, const walk *w, uint64_t seed) {
    void **start = NULL;
    char *base = run->first[w->operand];
    base += (sizeof(void *) - (uintptr_t)base % sizeof(void *)) % sizeof(void *);
    for (size_t i = 0; i < run->plan.touch_count; i++) {
        const bj_timer_touch *touch = &run->plan.touches[i];
        if (touch->action == BJ_TOUCH_WRITE && touch->area == w->operand)
            start = bj_timer_write_chain(base, w->places, w->group, run->bench->caches.line_bytes, seed, w->order);
        else
            do_touch(run, touch);
    }
    double none = (double)bj_kernel_time_chase((void **)(void *)&start, 0, BJ_CLOCK_WALL);
    return ((double)bj_kernel_time_chase(start, w->places - 1, BJ_CLOCK_WALL) - none) / (double)(w->places - 1);
}

/* Few lines of a page are visited: prefetchers that fetch the neighbourhood then fetch what nobody visits. */
static walk choose_places(const bj_timer_run *run, size_t operand) {
    size_t line = run->bench->caches.line_bytes, bytes = run->plan.operands[operand].bytes;
    size_t lines = bytes / line > 0 ? bytes / line - 1 : 0;
    walk w = {.operand = operand, .group = BJ_WITNESS_GROUP};
    while (w.group > 1 && lines / w.group < BJ_WITNESS_PLACES)
        w.group /= 2;
    w.places = lines / w.group;
    return w;
}

bj_status bj_timer_ask_witness(bj_timer_run *run, size_t operand, double *latency_ns, bj_error *error) {
    walk w = choose_places(run, operand);
    double seen[BJ_WITNESS_ROUNDS];
    *latency_ns = NAN;
    if (w.places < WITNESS_PLACES_LEAST)
        return BJ_OK;
    w.order = malloc(w.places * sizeof *w.order);
    if (w.order == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk of %zu lines", w.places);
    for (uint64_t round = 0; round < BJ_WITNESS_ROUNDS; round++)
        seen[round] = time_walk(run, &w, run->bench->seed + round);
    *latency_ns = bj_stats_median(seen, BJ_WITNESS_ROUNDS);
    free(w.order);
    return BJ_OK;
}
