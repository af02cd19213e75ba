/* Every constant of the tuning model, with its reason. */
#pragma once

/* Registers that a tile needs besides its sums and a column of A: one broadcast element of B. */
#define BJ_TUNE_SPARE_FUSED 1u
/* Without a multiply-add the product needs a register of its own. */
#define BJ_TUNE_SPARE_UNFUSED 2u
/* One register in so many stays free: with 31 of 32 in use gcc 12 reads A again for each use of it and copies sums,
 * which took 9% more time than a tile of 29. */
#define BJ_TUNE_FREE_ONE_IN 10u
/* Cycles that a tile costs besides its arithmetic where its loads and stores of C overlap with other tiles: its loop's
 * beginning and end. A Zen 5 took 5 to 10 for tiles of 8 to 16 sums with 32 registers; from 18 sums on 20 to 36, which
 * is what their loads and stores take alone. 20% off moves no choice on the machines of the tests. */
#define BJ_TUNE_TILE_CYCLES 8.0
/* Where arithmetic is the limit, loads and lines still cost this share of their own time: some are late. Breaks ties
 * between tiles of equal arithmetic; anything from 0.02 to 0.07 breaks them alike. */
#define BJ_TUNE_LOAD_SHARE 0.05
/* Lines that come from the next cache at once, columns of A being too far apart to be fetched ahead: tiles of 1 to 4
 * columns took 1.9 to 2.3 cycles a line on a Zen 5 where that cache's latency is 14. */
#define BJ_TUNE_LINES_AT_ONCE 6.0
/* Multiply-adds in the body of a loop over k: what hides the loop's own instructions, some six of them, on a core that
 * starts four or more in a cycle. More gains nothing, and compilers move loads ahead of their use until registers
 * spill: tiles of 15 sums lost 2% with 120 in the body. */
#define BJ_TUNE_BODY_LEAST 24u
#define BJ_TUNE_UNROLL_MOST 8u
/* Share of a cache that one operand's panel may take: the rest is for what streams past it. */
#define BJ_TUNE_CACHE_SHARE 0.5
/* Where answers on the next cache are missing, a block of A is so many times what the first holds. */
#define BJ_TUNE_L2_BY_L1 8u
