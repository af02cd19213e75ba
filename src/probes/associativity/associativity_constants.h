/* Constants of the associativity probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Lines fit up to this share of what a miss costs: under random replacement one line too many misses once in ten
 * visits, so half of that. */
#define RISE_SHARE 0.05
/* And the latency of a hit is known to some hundredths. */
#define LATENCY_ERROR 0.03
/* Most lines are missing: half of what a miss costs. */
#define MISSES_SHARE 0.5
/* Rounds that may miss clearly where the others fit: one in six is a neighbour, more are other sets of a hashed index.
 */
#define CLEAR_MISSES 0.2
/* Of fewer rounds no quantile is low. */
#define LEAST_ROUNDS 3u
/* Of the resamples: where most do not show these ways, other rounds would have said something else. */
#define SUPPORT_LEAST 0.5
/* Ways times stride is the capacity. The cache probe knows that to some eighth; beyond the second bound it is another
 * cache, since ways and strides nearly always differ by more. */
#define CAPACITY_CLOSE 1.18
#define CAPACITY_FAR 1.4
/* The shortest stride that is tried may be several times the way size. */
#define LEAST_STRIDE_BYTES 4096u
/* Others hold part of a level whose capacity moves more than this between rounds: a capacity that stays is found
 * within a sixth up and down. */
#define STEADY_CAPACITY 1.35
/* Of a table: the rise that counts, as a share of the whole, and the least whole. One curve has no rounds to tell noise
 * by: several times what a quiet machine scatters. */
#define TABLE_RISE 0.1
#define TABLE_CONTRAST 1.15
