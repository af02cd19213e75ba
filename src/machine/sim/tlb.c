#include "machine/sim/tlb.h"

#include <stdlib.h>
#include <string.h>

/* Below this a scan of the whole TLB beats the hash. */
enum { LARGEST_SCANNED = 16, NO_SLOT = 0xffff };

static bj_status open_hashed(bj_sim_tlb *tlb, bj_error *error) {
    uint32_t buckets = 64;
    while (buckets < 2 * tlb->entries)
        buckets *= 2;
    tlb->bucket_mask = buckets - 1;
    tlb->pages = malloc(tlb->entries * sizeof tlb->pages[0]);
    tlb->newer = calloc(tlb->entries, sizeof tlb->newer[0]);
    tlb->older = calloc(tlb->entries, sizeof tlb->older[0]);
    tlb->chain = calloc(tlb->entries, sizeof tlb->chain[0]);
    tlb->bucket = malloc(buckets * sizeof tlb->bucket[0]);
    if (!tlb->pages || !tlb->newer || !tlb->older || !tlb->chain || !tlb->bucket) {
        bj_sim_close_tlb(tlb);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a simulated TLB");
    }
    memset(tlb->pages, 0xff, tlb->entries * sizeof tlb->pages[0]);
    memset(tlb->bucket, 0xff, buckets * sizeof tlb->bucket[0]);
    return BJ_OK;
}

bj_status bj_sim_open_tlb(bj_sim_tlb *tlb, const bj_sim_tlb_spec *spec, bj_error *error) {
    *tlb = (bj_sim_tlb){.entries = (uint32_t)spec->entries, .ways = (uint32_t)spec->ways};
    if (spec->ways == spec->entries && spec->entries > LARGEST_SCANNED)
        return open_hashed(tlb, error);
    uint32_t sets = tlb->entries / tlb->ways;
    tlb->sets = bj_sim_make_divisor(sets);
    tlb->stride = (tlb->ways + 3u) & ~3u;
    size_t bytes = (size_t)sets * tlb->stride * sizeof tlb->pages[0];
    tlb->pages = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (tlb->pages == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a simulated TLB");
    memset(tlb->pages, 0xff, bytes);
    return BJ_OK;
}

void bj_sim_close_tlb(bj_sim_tlb *tlb) {
    free(tlb->pages);
    free(tlb->newer);
    free(tlb->older);
    free(tlb->chain);
    free(tlb->bucket);
    *tlb = (bj_sim_tlb){0};
}

static uint32_t hash_page(const bj_sim_tlb *tlb, uint32_t page) {
    return ((page * 2654435769u) >> 16) & tlb->bucket_mask;
}

static void forget_oldest(bj_sim_tlb *tlb, uint16_t slot) {
    uint16_t *link = &tlb->bucket[hash_page(tlb, tlb->pages[slot])];
    while (*link != slot)
        link = &tlb->chain[*link];
    *link = tlb->chain[slot];
    tlb->oldest = tlb->newer[slot];
}

static void make_newest(bj_sim_tlb *tlb, uint16_t slot) {
    tlb->older[slot] = tlb->newest;
    tlb->newer[tlb->newest] = slot;
    tlb->newest = slot;
}

bool bj_sim_use_hashed_tlb(bj_sim_tlb *tlb, uint32_t page) {
    uint16_t *head = &tlb->bucket[hash_page(tlb, page)];
    for (uint16_t slot = *head; slot != NO_SLOT; slot = tlb->chain[slot]) {
        if (tlb->pages[slot] != page)
            continue;
        if (slot == tlb->newest)
            return true;
        if (slot == tlb->oldest) {
            tlb->oldest = tlb->newer[slot];
        } else {
            tlb->older[tlb->newer[slot]] = tlb->older[slot];
            tlb->newer[tlb->older[slot]] = tlb->newer[slot];
        }
        make_newest(tlb, slot);
        return true;
    }
    uint16_t slot;
    if (tlb->filled < tlb->entries) {
        slot = (uint16_t)tlb->filled++;
    } else {
        slot = tlb->oldest;
        forget_oldest(tlb, slot);
    }
    tlb->pages[slot] = page;
    tlb->chain[slot] = *head;
    *head = slot;
    if (tlb->filled == 1)
        tlb->oldest = tlb->newest = slot;
    else
        make_newest(tlb, slot);
    return false;
}
