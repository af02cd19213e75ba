/* Every constant of the TLB probe's analysis, with the reason for its value. Those of the measuring plan are in
 * probe_tlb.c. */
#pragma once

#define BJ_TLB_LEVELS_MAX 4u
#define BJ_TLB_POINTS_MAX 512u

/* ---- Twins (tlb_twins.c) */

/* Lines that the packed twin has in a page: few pages are a region prefetcher's to learn when it sees more than two or
 * three lines in one; many come back too late for its memory. */
#define BJ_TLB_LINES_A_PAGE 2u
#define BJ_TLB_LINES_A_PAGE_OF_MANY 8u
#define BJ_TLB_MANY_PAGES 256
/* Rounds are summed up low, since disturbance only adds time; not at the bottom, since frames can be lucky too. */
#define BJ_TLB_LOW_OF_ROUNDS 0.25
/* As long as the lines fit the first cache frames have no part in it, but a program on the core's other thread takes
 * entries of the first TLB: only the quietest rounds show all of it. Fits: the packed twin takes hardly longer than its
 * least. */
#define BJ_TLB_LOWEST_OF_ROUNDS 0.1
#define BJ_TLB_FITS_FIRST 1.1
/* One round has no error to compare with. */
#define BJ_TLB_ROUNDS_LEAST 2u
/* The error of a point, as a share of its time: no clock is better than the least, and where no point has two rounds,
 * as in a run that was cut short, the other is a guess. */
#define BJ_TLB_ERROR_LEAST 0.002
#define BJ_TLB_ERROR_UNKNOWN 0.05

/* ---- Levels (tlb_levels.c) */

/* Two unknowns of a level, and a point to check them by. */
#define BJ_TLB_LEVEL_POINTS_LEAST 3u
/* A level stands out by so many standard errors: the best of some thousand candidates in pure noise reaches four. */
#define BJ_TLB_SIGMAS_LEAST 7.0
/* Of the access time: caches that fill up by chance make the twins differ by less. */
#define BJ_TLB_COST_LEAST 0.05
/* Of the access time, for a rise as wide as the ramp of one way: a lower one may be anything that fills up, such as the
 * caches with page tables, which the zoo's machines do not have. */
#define BJ_TLB_WIDE_COST_LEAST 0.25
/* Of what the packed twin slows down by around the edge: frames that chance chose do not load the caches of both quite
 * alike. */
#define BJ_TLB_OF_CACHES_LEAST 0.08
/* Of what missing a nearer level costs: farther ones are slower, page walks most of all. Much less is what a nearer
 * level's own edge leaves, or the caches. */
#define BJ_TLB_OF_NEARER_LEAST 0.5
/* Two levels closer than this are one: no machine has a further level for so few entries more. */
#define BJ_TLB_LEAST_APART 1.6
/* The points around an edge that tell how well it fits: what is amiss farther away (page tables that leave a cache, a
 * neighbour's burst) says nothing of this level. */
#define BJ_TLB_AROUND_EDGE 1.5
/* An adjusted level stays within this factor; three iterations settle levels that far apart. */
#define BJ_TLB_ADJUST_RANGE 1.3
#define BJ_TLB_ADJUST_ITERATIONS 3u
/* Ramps: the ways that TLBs have been built with; their sets are a power of two, or three times one, up to 3 · 2^14. */
#define BJ_TLB_WAYS_TRIED 1, 2, 3, 4, 5, 6, 8, 12, 16, 24
#define BJ_TLB_SETS_OCTAVES 15u

/* ---- How sure the answers are (tlb_answer.c) */

/* Enough for the moved-out percentiles of a dozen rounds. */
#define BJ_TLB_RESAMPLES 200u
/* Entries are right within a share or so many, whichever is more (so many: below 34 entries, of which few points can
 * tell one); a cost within a tenth. */
#define BJ_TLB_ENTRIES_TOLERANCE 0.06
#define BJ_TLB_ENTRIES_RIGHT 2.0
#define BJ_TLB_COST_TOLERANCE 0.1
/* A ramp as wide as that of so few ways may be something else that fills up slowly, such as the caches with the page
 * tables, or a level that a hypervisor's own look-ups share. */
#define BJ_TLB_FEW_WAYS 2
/* A model that is off by this many standard errors around the edge does not explain it. */
#define BJ_TLB_POOR_FIT 5.0
/* Around an edge: where the ramp of a level of three ways and more lies. */
#define BJ_TLB_RAMP 1.4
/* What is left of disturbance in the quietest rounds, and of the caches in the difference of the twins. */
#define BJ_TLB_SYSTEMATIC 0.02
/* Second levels are seen from so many pages on. */
#define BJ_TLB_LOOKED_FAR 4096.0
/* Of what a miss costs with base pages: more than this inside few huge pages, and they are not held as such, as where a
 * hypervisor backs them with base pages. */
#define BJ_TLB_INSIDE_MOST 0.3

/* ---- The 2012 paper's walk (tlb_paper_answer.c) */

/* Of eight numbers of pages to an octave: clusters of fewer are parts of a ramp, as of few ways. */
#define BJ_TLB_PAPER_POINTS 4u
/* Different numbers of pages that a table may have for this method: clustering takes the square of them, in each
 * resample. The probe asks for 120; 500 took two seconds on a busy machine, 1000 nine. */
#define BJ_TLB_PAPER_POINTS_MOST 500u
/* A cluster that ends within this factor of a cache's lines, with a rise of less than so many times what missing that
 * cache costs, is the cache's: an eighth is how well its size is known, and page tables that leave it cost as well. */
#define BJ_TLB_PAPER_NEAR 1.25
#define BJ_TLB_PAPER_OVER 1.5

/* ---- Somebody's table (tlb_table.c, tlb_table_answer.c) */

#define BJ_TLB_TABLE_LEVELS_MAX 8u
#define BJ_TLB_TABLE_PAGE_BYTES 4096.0
/* A TLB's step is at least this share of the time before it: page tables that leave the caches make later rises of some
 * six hundredths a point. */
#define BJ_TLB_TABLE_RISE_LEAST 0.07
/* A rise of this share is plain to see; still, there is no twin to tell what it is. */
#define BJ_TLB_TABLE_RISE_PLAIN 0.25
/* Less than this is flat, and ends a run of rises. */
#define BJ_TLB_TABLE_FLAT 0.03
/* Times in whole cycles (in any unit): both ends are rounded, and the clock is not the core's. So many different times
 * that are all multiples of one, but for rounding, are no coincidence. */
#define BJ_TLB_TABLE_QUANTA_LEAST 2.5
#define BJ_TLB_TABLE_DISTINCT_LEAST 6u
#define BJ_TLB_TABLE_ROUNDING 1e-6
/* Nobody builds a TLB of so few entries, but first-level caches have these ways; nor one of more: later rises are those
 * of page tables, which leave the caches then. */
#define BJ_TLB_TABLE_PAGES_LEAST 13.0
#define BJ_TLB_TABLE_PAGES_MOST 8192.0
/* Of the pages that fill a cache: where its own rise ends at least, where it begins at most, and where its first misses
 * may show when frames are random. Those rises grow towards the edge, each to at least twice the one before. */
#define BJ_TLB_TABLE_CACHE_END 0.79
#define BJ_TLB_TABLE_CACHE_BEGIN 1.1
#define BJ_TLB_TABLE_CACHE_FIRST 0.6
#define BJ_TLB_TABLE_CACHE_GROWTH 2.0
