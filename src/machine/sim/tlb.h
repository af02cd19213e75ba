/* One level of a TLB, LRU. Large fully associative ones find a page through a hash, not by scanning. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "machine/sim/cache.h"

typedef struct {
    uint32_t entries, ways, stride;
    bj_sim_divisor sets;
    uint32_t *pages; /* by set in order of use; fully associative: by slot */
    /* Fully associative: a list of slots in order of use, and chains of slots by hash. */
    uint16_t *newer, *older, *chain, *bucket;
    uint32_t bucket_mask, filled;
    uint16_t newest, oldest;
} bj_sim_tlb;

bj_status bj_sim_open_tlb(bj_sim_tlb *tlb, const bj_sim_tlb_spec *spec, bj_error *error) BJ_WARN_UNUSED;
void bj_sim_close_tlb(bj_sim_tlb *tlb);
bool bj_sim_use_hashed_tlb(bj_sim_tlb *tlb, uint32_t page);

/* Uses the page, putting it in if it was missing. True: it was there. */
static inline bool bj_sim_use_tlb(bj_sim_tlb *tlb, uint32_t page) {
    if (tlb->bucket != NULL)
        return tlb->pages[tlb->newest] == page || bj_sim_use_hashed_tlb(tlb, page);
    uint32_t set = bj_sim_remainder(&tlb->sets, page);
    return bj_sim_lru_use(tlb->pages + (size_t)set * tlb->stride, tlb->ways, tlb->stride, page);
}
