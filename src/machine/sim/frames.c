#include "machine/sim/frames.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

static const uint64_t LEAST_ALIGNMENT = 2u << 20;
/* With at most half of a half in use, a free frame or run turns up in a few draws unless runs are huge. */
enum { MOST_DRAWS = 10000 };

/* Where pages of one kind get their frames. */
typedef struct {
    uint64_t first_frame, units, frames_per_unit, colours;
} pool;

static unsigned log2_of(uint64_t power_of_two) {
    unsigned shift = 0;
    while ((UINT64_C(1) << shift) < power_of_two)
        shift++;
    return shift;
}

bj_status bj_sim_open_space(bj_sim_space *space, const bj_sim_spec *spec, uint64_t seed, bj_error *error) {
    *space = (bj_sim_space){
        .page_shift = log2_of(spec->page_bytes),
        .huge_shift = spec->huge_bytes != 0 ? log2_of(spec->huge_bytes) : 0,
        .frames = spec->frames,
        .alignment = spec->huge_bytes > LEAST_ALIGNMENT ? spec->huge_bytes : LEAST_ALIGNMENT,
    };
    uint64_t largest = 0;
    for (size_t i = 0; i < spec->cache_count; i++) {
        const bj_sim_cache_spec *cache = &spec->caches[i];
        if (cache->mapped == BJ_SIM_PHYSICAL && cache->size_bytes > largest) {
            largest = cache->size_bytes;
            space->colour_bytes = cache->sets * cache->line_bytes;
        }
    }
    bj_random random;
    bj_random_seed(&random, seed);
    space->start = bj_random_below(&random, BJ_SIM_SPACE_BYTES / 2 / space->alignment) * space->alignment;
    uint64_t pages = BJ_SIM_SPACE_BYTES >> space->page_shift;
    space->frame_of = calloc(pages, sizeof space->frame_of[0]);
    space->taken = calloc(pages / 64, sizeof space->taken[0]);
    if (space->frame_of == NULL || space->taken == NULL) {
        bj_sim_close_space(space);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a simulated address space");
    }
    return BJ_OK;
}

void bj_sim_close_space(bj_sim_space *space) {
    while (space->mappings != NULL) {
        bj_sim_mapping *next = space->mappings->next;
        free(space->mappings);
        space->mappings = next;
    }
    free(space->frame_of);
    free(space->taken);
    *space = (bj_sim_space){0};
}

static bool is_taken(const bj_sim_space *space, uint64_t frame) {
    return (space->taken[frame / 64] >> (frame % 64) & 1) != 0;
}

static void set_taken(bj_sim_space *space, uint64_t frame, bool taken) {
    uint64_t bit = UINT64_C(1) << (frame % 64);
    if (taken)
        space->taken[frame / 64] |= bit;
    else
        space->taken[frame / 64] &= ~bit;
}

static pool choose_pool(const bj_sim_space *space, bool huge) {
    uint64_t half = (BJ_SIM_SPACE_BYTES >> space->page_shift) / 2;
    unsigned unit_shift = huge ? space->huge_shift : space->page_shift;
    pool chosen = {
        .first_frame = huge ? half : 0,
        .frames_per_unit = UINT64_C(1) << (unit_shift - space->page_shift),
        .colours = space->colour_bytes >> unit_shift,
    };
    chosen.units = half / chosen.frames_per_unit;
    if (chosen.colours == 0 || space->frames != BJ_SIM_FRAMES_COLOURED)
        chosen.colours = 1;
    return chosen;
}

static uint64_t frame_of_unit(const pool *from, uint64_t unit) {
    return from->first_frame + unit * from->frames_per_unit;
}

static bool is_run_free(const bj_sim_space *space, const pool *from, uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (is_taken(space, frame_of_unit(from, first + i)))
            return false;
    }
    return true;
}

static void give_unit(bj_sim_space *space, const pool *from, uint64_t first_page, uint64_t unit) {
    uint64_t frame = frame_of_unit(from, unit);
    set_taken(space, frame, true);
    for (uint64_t i = 0; i < from->frames_per_unit; i++)
        space->frame_of[first_page + i] = (uint32_t)(frame + i);
}

/* False: no free frames after many draws. What was given by then is marked, and unmapping takes it back. */
static bool draw_frames(bj_sim_space *space, bj_sim_mapping *mapping, bj_random *random) {
    pool from = choose_pool(space, mapping->huge);
    uint64_t first_page = mapping->address >> space->page_shift;
    uint64_t count = mapping->bytes >> mapping->page_shift;
    bool contiguous = space->frames == BJ_SIM_FRAMES_CONTIGUOUS;
    uint64_t run = contiguous ? count : 1;
    if (run > from.units)
        return false;
    mapping->bytes = 0;
    for (uint64_t done = 0; done < count; done += run) {
        uint64_t colour = ((first_page / from.frames_per_unit) + done) % from.colours;
        uint64_t unit = 0;
        unsigned draws = 0;
        do {
            if (draws++ == MOST_DRAWS)
                return false;
            unit = bj_random_below(random, (from.units - run) / from.colours + 1) * from.colours + colour;
        } while (unit >= from.units || !is_run_free(space, &from, unit, run));
        for (uint64_t i = 0; i < run; i++)
            give_unit(space, &from, first_page + (done + i) * from.frames_per_unit, unit + i);
        mapping->bytes = (done + run) << mapping->page_shift;
    }
    return true;
}

/* The next place that no mapping covers; false: none. */
static bool find_address(bj_sim_space *space, uint64_t bytes, uint64_t *address) {
    /* The last page stays empty: its last line's number stands for "no line". */
    uint64_t end = BJ_SIM_SPACE_BYTES - space->alignment;
    uint64_t start = space->start;
    unsigned wraps = 0;
    for (;;) {
        if (start + bytes > end) {
            if (++wraps == 2)
                return false;
            start = 0;
            continue;
        }
        const bj_sim_mapping *hit = space->mappings;
        while (hit != NULL && (hit->address >= start + bytes || hit->address + hit->bytes <= start))
            hit = hit->next;
        if (hit == NULL)
            break;
        start = (hit->address + hit->bytes + space->alignment - 1) / space->alignment * space->alignment;
    }
    *address = start;
    space->start = (start + bytes + space->alignment - 1) / space->alignment * space->alignment;
    space->wraps += wraps;
    return true;
}

bj_status bj_sim_map_pages(bj_sim_space *space, uint64_t bytes, bool huge, uint64_t seed, bj_sim_mapping **mapping,
                           bj_error *error) {
    unsigned shift = huge ? space->huge_shift : space->page_shift;
    uint64_t page = UINT64_C(1) << shift;
    bj_sim_mapping *made = calloc(1, sizeof *made);
    if (made == NULL)
        return bj_base_lack_memory(error, "no memory for a simulated mapping");
    made->bytes = (bytes + page - 1) & ~(page - 1);
    made->page_shift = shift;
    made->huge = huge;
    if (!find_address(space, made->bytes, &made->address)) {
        free(made);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no free addresses on the simulated machine");
    }
    made->next = space->mappings;
    space->mappings = made;
    bj_random random;
    bj_random_seed(&random, seed);
    if (!draw_frames(space, made, &random)) {
        bj_sim_unmap_pages(space, made);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no free page frames on the simulated machine");
    }
    *mapping = made;
    return BJ_OK;
}

void bj_sim_unmap_pages(bj_sim_space *space, bj_sim_mapping *mapping) {
    bj_sim_mapping **link = &space->mappings;
    while (*link != mapping)
        link = &(*link)->next;
    *link = mapping->next;
    for (uint64_t offset = 0; offset < mapping->bytes; offset += UINT64_C(1) << mapping->page_shift)
        set_taken(space, space->frame_of[(mapping->address + offset) >> space->page_shift], false);
    free(mapping);
}
