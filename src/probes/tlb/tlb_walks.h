/* The walks of the TLB probe: one line on each of n pages, and twins of as many lines in fewer pages. */
#ifndef BJ_PROBES_TLB_TLB_WALKS_H
#define BJ_PROBES_TLB_TLB_WALKS_H

#include "probes/kit/walks.h"

#define BJ_TLB_SPREAD "tlb.spread"
#define BJ_TLB_PACKED "tlb.packed"
#define BJ_TLB_HUGE_SPREAD "tlb.huge.spread"
#define BJ_TLB_HUGE_PACKED "tlb.huge.packed"
/* Small pages inside few huge ones, which no TLB of huge pages can miss: if they do, what holds them is smaller. */
#define BJ_TLB_INSIDE_SPREAD "tlb.huge.inside.spread"
#define BJ_TLB_INSIDE_PACKED "tlb.huge.inside.packed"

/* Lines that the twin of a walk over so many pages has in each of its own. Few pages are a region prefetcher's to learn
 * when it sees more than two or three lines in one; many come back too late for its memory. */
unsigned bj_tlb_count_per_page(double pages);
/* Pages of that twin. */
double bj_tlb_count_twin_pages(double pages);

#endif
