/* Mappings with the page size that was asked for, verified. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct {
    void *mapping; /* what was mapped, for unmapping */
    size_t mapping_bytes;
    char *memory; /* aligned to the huge page size; `bytes` from here are usable and touched */
    size_t bytes; /* what was asked for, rounded up to whole pages of its kind */
} bj_mapping;

size_t bj_platform_page_bytes(void);
/* Size of a transparent huge page; 0: the system grants none. */
size_t bj_platform_huge_bytes(void);
/* Maps and touches (writes) every page from the calling thread. With `huge`, MADV_HUGEPAGE, and smaps must
 * show that the whole of it came as huge pages, else BJ_ERR_UNSUPPORTED; without, MADV_NOHUGEPAGE, and smaps
 * must show none. BJ_ERR_RESOURCE when there is no memory. */
bj_status bj_platform_map_pages(size_t bytes, bool huge, bj_mapping *mapping, bj_error *error) BJ_WARN_UNUSED;
void bj_platform_unmap_pages(bj_mapping *mapping);
/* Zeroes that processes which fork later share, of which only what is touched takes memory; NULL: there is no room. */
void *bj_platform_map_shared(size_t bytes);
