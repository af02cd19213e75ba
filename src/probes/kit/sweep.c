#include "probes/kit/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPETITIONS_MAX 16u
/* Walks of up to so many places take less time than to build: more repetitions of them cost nothing, and the private
 * caches that they may fit in are small enough for every passing disturbance to be seen. */
#define CHEAP_PLACES 16384u
#define CHEAP_FACTOR 4u

static unsigned choose_repetitions(const bj_sweep *sweep, size_t places) {
    unsigned repetitions = places <= CHEAP_PLACES ? CHEAP_FACTOR * sweep->repetitions : sweep->repetitions;
    return repetitions < REPETITIONS_MAX ? repetitions : REPETITIONS_MAX;
}

void bj_sweep_init(bj_sweep *sweep, const bj_measure_request *request, uint64_t purpose, size_t arena_bytes,
                   unsigned repetitions) {
    memset(sweep, 0, sizeof *sweep);
    sweep->request = request;
    sweep->arena_bytes = arena_bytes;
    sweep->repetitions = repetitions;
    /* Whole huge pages are mapped: a last one in part, or one of 512 MiB, could be more than we may use. */
    size_t huge_bytes = request->machine->facts.huge_bytes;
    sweep->pages = huge_bytes > 0 && huge_bytes <= request->memory_bytes ? BJ_PAGES_HUGE : BJ_PAGES_BASE;
    if (sweep->pages == BJ_PAGES_HUGE && arena_bytes > huge_bytes)
        sweep->arena_bytes = arena_bytes / huge_bytes * huge_bytes;
    bj_random_seed(&sweep->random, bj_random_mix(request->seed, purpose));
}

static void close_arena(bj_sweep *sweep) {
    bj_machine *machine = sweep->request->machine;
    if (sweep->arena != NULL)
        machine->verbs->close_arena(machine, sweep->arena);
    sweep->arena = NULL;
}

void bj_sweep_free(bj_sweep *sweep) {
    close_arena(sweep);
    free(sweep->places);
    sweep->places = NULL;
}

bj_status bj_sweep_open_arena(bj_sweep *sweep, size_t least_bytes, bj_error *error) {
    bj_machine *machine = sweep->request->machine;
    close_arena(sweep);
    for (;;) {
        bj_status status = machine->verbs->open_arena(machine, sweep->arena_bytes, sweep->pages, sweep->request->cpu,
                                                      &sweep->arena, error);
        /* Once for the whole probe: rounds of different pages would not be rounds of one curve. */
        if (status == BJ_ERR_UNSUPPORTED && sweep->pages == BJ_PAGES_HUGE && !sweep->pages_fixed) {
            sweep->pages = BJ_PAGES_BASE;
            continue;
        }
        if (status == BJ_ERR_RESOURCE && sweep->arena_bytes / 2 >= least_bytes) {
            sweep->arena_bytes /= 2;
            continue;
        }
        return status;
    }
}

bj_status bj_sweep_reserve_places(bj_sweep *sweep, size_t count, bj_error *error) {
    if (count <= sweep->places_room)
        return BJ_OK;
    free(sweep->places);
    sweep->places_room = 0;
    sweep->places = malloc(count * sizeof *sweep->places);
    if (sweep->places == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk of %zu places", count);
    sweep->places_room = count;
    return BJ_OK;
}

bj_status bj_sweep_walk(bj_sweep *sweep, const uint32_t *places, size_t count, double *ns, bj_error *error) {
    bj_machine *machine = sweep->request->machine;
    double samples[REPETITIONS_MAX];
    bj_walk walk = {.arena = sweep->arena, .cpu = sweep->request->cpu, .places = places, .count = count};
    bj_walk_effort effort = {.repetitions = choose_repetitions(sweep, count)};
    bj_status status = machine->verbs->run_walks(machine, &walk, 1, &effort, samples, error);
    if (status != BJ_OK)
        return status;
    /* Least, not mean: on one idle core, disturbance only adds time. */
    *ns = samples[0];
    for (unsigned i = 1; i < effort.repetitions; i++)
        *ns = fmin(*ns, samples[i]);
    return BJ_OK;
}

size_t bj_sweep_choose_place(bj_sweep *sweep, double bytes) {
    size_t page_bytes = sweep->request->machine->facts.page_bytes;
    return bj_random_below(&sweep->random, (sweep->arena_bytes - (size_t)bytes) / page_bytes + 1) * page_bytes;
}

bj_status bj_sweep_measure(bj_sweep *sweep, const bj_sweep_point *point, double *ns, bj_error *error) {
    bj_machine *machine = sweep->request->machine;
    bj_walk_shape shape = {.bytes = (size_t)point->bytes,
                           .grain_bytes = point->grain_bytes,
                           .page_bytes = machine->facts.page_bytes,
                           .pair_bytes = point->pair_bytes};
    if (shape.bytes > sweep->arena_bytes)
        return bj_base_set_error(error, BJ_ERR_FAILED, "a working set of %zu bytes exceeds the arena", shape.bytes);
    shape.first_byte = point->placed ? point->first_byte : bj_sweep_choose_place(sweep, point->bytes);

    bool sparse = point->one_in > 1;
    size_t count =
        sparse ? bj_machine_count_sparse(&shape, point->one_in) : bj_machine_count_places(point->order, &shape);
    bj_status status = bj_sweep_reserve_places(sweep, count, error);
    if (status != BJ_OK)
        return status;
    if (sparse)
        bj_machine_order_sparse(&shape, point->one_in, &sweep->random, sweep->places);
    else
        bj_machine_order_places(point->order, &shape, &sweep->random, sweep->places);

    return bj_sweep_walk(sweep, sweep->places, count, ns, error);
}
