/* Address spaces: where a mapping lies, and which page frame each of its pages has.
 *
 * 64 GiB of virtual addresses are handed out in turn, so that every mapping lies somewhere new; 64 GiB of physical
 * memory give base pages from the lower half and huge pages from the upper one. Frames are distinct as long as they
 * are mapped. random: any free frame. contiguous: a run of frames. coloured: a random frame whose number agrees with
 * the page's modulo sets * line / page of the largest physically mapped cache. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/sim/machine_file.h"

#define BJ_SIM_SPACE_BYTES (UINT64_C(1) << 36)

typedef struct bj_sim_mapping {
    uint64_t address, bytes; /* whole pages */
    unsigned page_shift;     /* of a base or a huge page */
    bool huge;
    struct bj_sim_mapping *next;
} bj_sim_mapping;

typedef struct {
    unsigned page_shift, huge_shift; /* huge 0: none */
    int frames;
    uint64_t colour_bytes;     /* sets * line of the largest physically mapped cache, 0: none */
    uint64_t alignment, start; /* of the next mapping */
    uint32_t *frame_of;        /* by virtual base page; kept after unmapping, for lines still cached */
    uint64_t *taken;           /* a bit a frame: the first of a page */
    bj_sim_mapping *mappings;
    unsigned wraps; /* how often the virtual addresses were used up */
} bj_sim_space;

bj_status bj_sim_open_space(bj_sim_space *space, const bj_sim_spec *spec, uint64_t seed,
                            bj_error *error) BJ_WARN_UNUSED;
void bj_sim_close_space(bj_sim_space *space);
/* Maps with frames drawn from `seed`. */
bj_status bj_sim_map_pages(bj_sim_space *space, uint64_t bytes, bool huge, uint64_t seed, bj_sim_mapping **mapping,
                           bj_error *error) BJ_WARN_UNUSED;
void bj_sim_unmap_pages(bj_sim_space *space, bj_sim_mapping *mapping);

static inline uint64_t bj_sim_translate(const bj_sim_space *space, uint64_t address) {
    uint64_t frame = space->frame_of[address >> space->page_shift];
    return frame << space->page_shift | (address & ((UINT64_C(1) << space->page_shift) - 1));
}
