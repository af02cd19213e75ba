#include "probes/kit/together.h"

#include <stdlib.h>

#include "stats/quantile.h"

/* Orders that walkers take in turn: that two visit alike is no trouble, since their frames differ. For the same reason
 * experiments of a round that walk alike take the same ones: to draw them anew costs a large walk more than a lap. */
#define ORDERS 4u

struct bj_kept_orders {
    bj_walk_order order;
    size_t bytes, grain_bytes, round;
    size_t drawn; /* of the places */
    size_t place_count;
    uint32_t *places[ORDERS];
};
/* Of what the probe may use, by arenas; the rest is for orders, and the machine's copies of them. */
#define OF_MEMORY 0.8

static size_t round_up(size_t bytes, size_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

static size_t mapped_bytes(const bj_rounds *rounds, size_t bytes) {
    const bj_machine_facts *facts = &rounds->request->machine->facts;
    return round_up(bytes, rounds->pages == BJ_PAGES_HUGE ? facts->huge_bytes : facts->page_bytes);
}

static double sum_mapped(const bj_rounds *rounds, const bj_partaker *partakers, size_t count) {
    double bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += (double)mapped_bytes(rounds, partakers[i].bytes);
    return bytes;
}

bool bj_kit_choose_pages_for(bj_rounds *rounds, const bj_partaker *partakers, size_t count) {
    bool refused = rounds->pages_fixed && rounds->pages == BJ_PAGES_BASE;
    double room = OF_MEMORY * (double)rounds->request->memory_bytes;
    rounds->pages = refused || rounds->request->machine->facts.huge_bytes == 0 ? BJ_PAGES_BASE : BJ_PAGES_HUGE;
    if (rounds->pages == BJ_PAGES_HUGE && sum_mapped(rounds, partakers, count) > room)
        rounds->pages = BJ_PAGES_BASE;
    return sum_mapped(rounds, partakers, count) <= room;
}

void bj_kit_choose_pages(bj_rounds *rounds, size_t bytes, size_t count) {
    bool refused = rounds->pages_fixed && rounds->pages == BJ_PAGES_BASE;
    rounds->pages = refused || rounds->request->machine->facts.huge_bytes == 0 ? BJ_PAGES_BASE : BJ_PAGES_HUGE;
    if (rounds->pages == BJ_PAGES_HUGE && bj_kit_count_affordable(rounds, bytes) < count)
        rounds->pages = BJ_PAGES_BASE;
}

size_t bj_kit_count_affordable(const bj_rounds *rounds, size_t bytes) {
    return (size_t)(OF_MEMORY * (double)rounds->request->memory_bytes / (double)mapped_bytes(rounds, bytes));
}

/* What a party needs while it lasts. */
typedef struct {
    bj_rounds *rounds;
    const bj_party *party;
    bj_arena **arenas; /* of the walkers, then of the streamers */
    size_t arena_count;
    bj_walk *walks;
    bj_stream *streams;
    double *ns, *gbs;
} gathering;

static bj_status open_arena(gathering *all, const bj_partaker *who, bj_error *error) {
    bj_rounds *rounds = all->rounds;
    bj_machine *machine = rounds->request->machine;
    bj_arena **arena = &all->arenas[all->arena_count];
    bj_status status = machine->verbs->open_arena(machine, mapped_bytes(rounds, who->bytes), rounds->pages,
                                                  who->touched_by, arena, error);
    if (status == BJ_ERR_UNSUPPORTED && rounds->pages == BJ_PAGES_HUGE) {
        rounds->pages = BJ_PAGES_BASE;
        rounds->pages_fixed = true;
        status = machine->verbs->open_arena(machine, mapped_bytes(rounds, who->bytes), rounds->pages, who->touched_by,
                                            arena, error);
    }
    all->arena_count += status == BJ_OK;
    return status;
}

static void drop_orders(struct bj_kept_orders *orders) {
    for (size_t i = 0; i < orders->drawn; i++)
        free(orders->places[i]);
    *orders = (struct bj_kept_orders){0};
}

void bj_kit_free_orders(bj_rounds *rounds) {
    if (rounds->orders != NULL)
        drop_orders(rounds->orders);
    free(rounds->orders);
    rounds->orders = NULL;
}

/* As many orders as these walkers need; what is kept stays where it fits. */
static bj_status draw_orders(bj_rounds *rounds, const bj_party *party, bj_error *error) {
    bj_walk_shape shape = {.bytes = party->walkers[0].bytes,
                           .grain_bytes = party->grain_bytes,
                           .page_bytes = rounds->request->machine->facts.page_bytes};
    if (rounds->orders == NULL)
        rounds->orders = calloc(1, sizeof *rounds->orders);
    struct bj_kept_orders *kept = rounds->orders;
    if (kept == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for orders of walks");
    if (kept->order != party->order || kept->bytes != shape.bytes || kept->grain_bytes != shape.grain_bytes ||
        kept->round != rounds->round)
        drop_orders(kept);
    kept->order = party->order;
    kept->bytes = shape.bytes;
    kept->grain_bytes = shape.grain_bytes;
    kept->round = rounds->round;
    kept->place_count = bj_machine_count_places(party->order, &shape);
    for (; kept->drawn < ORDERS && kept->drawn < party->walk_count; kept->drawn++) {
        uint32_t *places = malloc(kept->place_count * sizeof *places + 1);
        if (places == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk of %zu places", kept->place_count);
        bj_machine_order_places(party->order, &shape, &rounds->random, places);
        kept->places[kept->drawn] = places;
    }
    return BJ_OK;
}

static bj_status gather(gathering *all, bj_error *error) {
    const bj_party *party = all->party;
    size_t walks = party->walk_count, streams = party->stream_count;
    all->arenas = calloc(walks + streams + 1, sizeof(bj_arena *));
    all->walks = calloc(walks + 1, sizeof *all->walks);
    all->streams = calloc(streams + 1, sizeof *all->streams);
    all->ns = calloc(walks * party->repetitions + 1, sizeof *all->ns);
    all->gbs = calloc(streams * party->repetitions + 1, sizeof *all->gbs);
    if (!all->arenas || !all->walks || !all->streams || !all->ns || !all->gbs)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus at once", walks + streams);
    if (walks > 0)
        BJ_TRY(draw_orders(all->rounds, party, error));
    for (size_t i = 0; i < walks; i++) {
        const struct bj_kept_orders *orders = all->rounds->orders;
        BJ_TRY(open_arena(all, &party->walkers[i], error));
        all->walks[i] = (bj_walk){.arena = all->arenas[i],
                                  .cpu = party->walkers[i].cpu,
                                  .places = orders->places[i % ORDERS],
                                  .count = orders->place_count};
    }
    for (size_t i = 0; i < streams; i++) {
        BJ_TRY(open_arena(all, &party->streamers[i], error));
        all->streams[i] = (bj_stream){.arena = all->arenas[walks + i],
                                      .cpu = party->streamers[i].cpu,
                                      .kind = party->kind,
                                      .arrays = party->arrays,
                                      .bytes = party->streamers[i].bytes};
    }
    return BJ_OK;
}

static void disperse(gathering *all) {
    bj_machine *machine = all->rounds->request->machine;
    for (size_t i = 0; i < all->arena_count; i++)
        machine->verbs->close_arena(machine, all->arenas[i]);
    free(all->arenas);
    free(all->walks);
    free(all->streams);
    free(all->ns);
    free(all->gbs);
}

static bj_status run(gathering *all, bj_error *error) {
    const bj_party *party = all->party;
    bj_machine *machine = all->rounds->request->machine;
    bj_walk_effort walk_effort = {.repetitions = party->repetitions};
    bj_stream_effort stream_effort = {.repetitions = party->repetitions};
    if (party->walk_count == 0)
        return machine->verbs->run_streams(machine, all->streams, party->stream_count, &stream_effort, all->gbs, error);
    if (party->stream_count == 0)
        return machine->verbs->run_walks(machine, all->walks, party->walk_count, &walk_effort, all->ns, error);
    bj_mix mix = {.walks = all->walks,
                  .walk_count = party->walk_count,
                  .walk_effort = &walk_effort,
                  .streams = all->streams,
                  .stream_count = party->stream_count,
                  .stream_effort = &stream_effort};
    return machine->verbs->run_mix(machine, &mix, all->ns, all->gbs, error);
}

static bj_status run_alone(gathering *all, bj_error *error) {
    const bj_party *party = all->party;
    bj_machine *machine = all->rounds->request->machine;
    bj_walk_effort effort = {.repetitions = party->repetitions};
    for (size_t i = 0; i < party->walk_count; i++) {
        BJ_TRY(machine->verbs->run_walks(machine, &all->walks[i], 1, &effort, all->ns, error));
        party->alone_ns[i] = bj_stats_median(all->ns, party->repetitions);
    }
    return BJ_OK;
}

bj_status bj_kit_run_together(bj_rounds *rounds, const bj_party *party, double *walk_ns, double *stream_gbs,
                              bj_error *error) {
    gathering all = {.rounds = rounds, .party = party};
    bj_status status = gather(&all, error);
    if (status == BJ_OK && party->alone_ns != NULL)
        status = run_alone(&all, error);
    if (status == BJ_OK)
        status = run(&all, error);
    for (size_t i = 0; status == BJ_OK && i < party->walk_count; i++)
        walk_ns[i] = bj_stats_median(all.ns + i * party->repetitions, party->repetitions);
    for (size_t i = 0; status == BJ_OK && i < party->stream_count; i++)
        stream_gbs[i] = bj_stats_median(all.gbs + i * party->repetitions, party->repetitions);
    disperse(&all);
    return status;
}
