#include "probes/kit/walks.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Walks of up to so many places take less time than to build: more repetitions of them cost nothing, and the private
 * caches that they may fit in are small enough for every passing disturbance to be seen. */
#define CHEAP_PLACES 16384u
#define CHEAP_FACTOR 4u
/* What may be used, by the arena: places (a sixteenth of it where grains are of 64 bytes) and the machine's own copy of
 * them are beside it. */
#define BESIDE_ARENA 1.2

double bj_kit_limit_arena(const bj_measure_request *request, double bytes) {
    return fmin(bytes, (double)request->memory_bytes / BESIDE_ARENA);
}

void bj_kit_plan_arena(bj_rounds *rounds, size_t arena_bytes, unsigned repetitions) {
    const bj_measure_request *request = rounds->request;
    size_t huge_bytes = request->machine->facts.huge_bytes;
    rounds->arena_bytes = arena_bytes;
    rounds->repetitions = repetitions;
    rounds->pages_fixed = false;
    /* Whole huge pages are mapped: a last one in part, or one of 512 MiB, could be more than we may use. */
    rounds->pages = huge_bytes > 0 && huge_bytes <= request->memory_bytes ? BJ_PAGES_HUGE : BJ_PAGES_BASE;
    if (rounds->pages == BJ_PAGES_HUGE && arena_bytes > huge_bytes)
        rounds->arena_bytes = arena_bytes / huge_bytes * huge_bytes;
}

void bj_kit_plan_whole_pages(bj_rounds *rounds, double bytes, double most_bytes, unsigned repetitions) {
    double huge_bytes = (double)rounds->request->machine->facts.huge_bytes;
    if (huge_bytes > 0 && huge_bytes <= most_bytes)
        bytes = ceil(bytes / huge_bytes) * huge_bytes;
    bytes = bj_kit_limit_arena(rounds->request, bytes);
    bj_kit_plan_arena(rounds, (size_t)bytes, repetitions);
    if (huge_bytes > most_bytes)
        rounds->pages = BJ_PAGES_BASE;
}

/* Attributes that tell late rounds what arenas the first ones had. */
#define PAGES "pages"
#define PAGES_HUGE "huge"
#define PAGES_BASE "base"
#define ARENA_BYTES "arena_bytes"

bj_status bj_kit_keep_arena(const bj_rounds *rounds, bj_curve *curve, bj_error *error) {
    if (curve == NULL)
        return BJ_OK;
    BJ_TRY(bj_data_set_attribute_text(curve, PAGES, rounds->pages == BJ_PAGES_HUGE ? PAGES_HUGE : PAGES_BASE, error));
    return bj_data_set_attribute_number(curve, ARENA_BYTES, (double)rounds->arena_bytes, error);
}

bool bj_kit_recall_arena(bj_rounds *rounds, const bj_curve *curve) {
    double bytes = NAN;
    bool huge = curve != NULL && bj_data_has_attribute_text(curve, PAGES, PAGES_HUGE);
    bool base = curve != NULL && bj_data_has_attribute_text(curve, PAGES, PAGES_BASE);
    /* Samples may come from a file, with anything in it. */
    if (!(huge || base) || !bj_data_get_attribute_number(curve, ARENA_BYTES, &bytes) ||
        !(bytes >= (double)rounds->request->machine->facts.page_bytes) ||
        !(bytes <= (double)rounds->request->memory_bytes))
        return false;
    rounds->pages = huge ? BJ_PAGES_HUGE : BJ_PAGES_BASE;
    rounds->pages_fixed = true;
    rounds->arena_bytes = (size_t)bytes;
    return true;
}

void bj_kit_close_arena(bj_rounds *rounds) {
    if (rounds->arena == NULL)
        return;
    bj_machine *machine = rounds->request->machine;
    machine->verbs->close_arena(machine, rounds->arena);
    rounds->arena = NULL;
}

bj_status bj_kit_open_arena(bj_rounds *rounds, size_t least_bytes, bj_error *error) {
    bj_machine *machine = rounds->request->machine;
    bj_kit_close_arena(rounds);
    for (;;) {
        bj_status status = machine->verbs->open_arena(machine, rounds->arena_bytes, rounds->pages, rounds->request->cpu,
                                                      &rounds->arena, error);
        /* Once for the whole probe: rounds of different pages would not be rounds of one curve. */
        if (status == BJ_ERR_UNSUPPORTED && rounds->pages == BJ_PAGES_HUGE && !rounds->pages_fixed) {
            rounds->pages = BJ_PAGES_BASE;
            continue;
        }
        if (status == BJ_ERR_RESOURCE && rounds->arena_bytes / 2 >= least_bytes) {
            rounds->arena_bytes /= 2;
            continue;
        }
        return status;
    }
}

bj_status bj_kit_reserve_places(bj_rounds *rounds, size_t count, bj_error *error) {
    if (count <= rounds->places_room)
        return BJ_OK;
    free(rounds->places);
    rounds->places_room = 0;
    rounds->places = malloc(count * sizeof *rounds->places);
    if (rounds->places == NULL)
        return bj_base_lack_memory(error, "no memory for a walk of %zu places", count);
    rounds->places_room = count;
    return BJ_OK;
}

bj_status bj_kit_walk_chains(bj_rounds *rounds, const uint32_t *places, size_t count, unsigned chains,
                             unsigned repetitions, double *ns, bj_error *error) {
    bj_machine *machine = rounds->request->machine;
    double samples[BJ_KIT_REPETITIONS_MAX];
    bj_walk walk = {
        .arena = rounds->arena, .cpu = rounds->request->cpu, .places = places, .count = count, .chains = chains};
    bj_walk_effort effort = {.repetitions =
                                 repetitions < BJ_KIT_REPETITIONS_MAX ? repetitions : BJ_KIT_REPETITIONS_MAX};
    BJ_TRY(machine->verbs->run_walks(machine, &walk, 1, &effort, samples, error));
    /* Least, not mean: on one idle core, disturbance only adds time. */
    *ns = samples[0];
    for (unsigned i = 1; i < effort.repetitions; i++)
        *ns = fmin(*ns, samples[i]);
    return BJ_OK;
}

bj_status bj_kit_walk_places(bj_rounds *rounds, const uint32_t *places, size_t count, double *ns, bj_error *error) {
    unsigned factor = count <= CHEAP_PLACES ? CHEAP_FACTOR : 1;
    return bj_kit_walk_chains(rounds, places, count, 1, factor * rounds->repetitions, ns, error);
}

size_t bj_kit_choose_first_byte(bj_rounds *rounds, double bytes) {
    size_t page_bytes = rounds->request->machine->facts.page_bytes;
    return bj_random_below(&rounds->random, (rounds->arena_bytes - (size_t)bytes) / page_bytes + 1) * page_bytes;
}

bj_status bj_kit_walk_point(bj_rounds *rounds, const bj_walk_point *point, double *ns, bj_error *error) {
    bj_walk_shape shape = {.bytes = (size_t)point->bytes,
                           .grain_bytes = point->grain_bytes,
                           .page_bytes = rounds->request->machine->facts.page_bytes,
                           .pair_bytes = point->pair_bytes};
    if (shape.bytes > rounds->arena_bytes)
        return bj_base_set_error(error, BJ_ERR_FAILED, "a working set of %zu bytes exceeds the arena", shape.bytes);
    shape.first_byte = point->placed ? point->first_byte : bj_kit_choose_first_byte(rounds, point->bytes);
    bool sparse = point->one_in > 1;
    size_t count =
        sparse ? bj_machine_count_sparse(&shape, point->one_in) : bj_machine_count_places(point->order, &shape);
    BJ_TRY(bj_kit_reserve_places(rounds, count, error));
    if (sparse)
        bj_machine_order_sparse(&shape, point->one_in, &rounds->random, rounds->places);
    else
        bj_machine_order_places(point->order, &shape, &rounds->random, rounds->places);
    return bj_kit_walk_places(rounds, rounds->places, count, ns, error);
}
