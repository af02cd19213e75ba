/* Constants of diagnosing, each with its reason. */
#pragma once

#include <stddef.h>

/* ---- what is measured */

/* Rounds in which the program's own rate is looked for: the median of five survives two that were disturbed. */
#define EXPLORING_ROUNDS 5u
/* Of a program that takes up to so many times the least that can be timed, the least of so many tries tells its length:
 * a process that starts on a busy machine may wait for tens of milliseconds, but hardly five times in a row. */
#define FIRST_TRIES 5u
#define SHORT_TIMES 10.0
/* Arrays of scattered lines: more than any controller that we know keeps rows open (32 in a node of the paper's). */
#define SCATTERED_PLACES 64u
/* What lines go through: each of the arrays twice the least that the seam takes. Stores past the caches need no more.
 */
#define LINES_BYTES ((size_t)SCATTERED_PLACES * 131072u)
/* The reference walk takes three quarters of the cache: it fits alone, and what others take beyond the last quarter is
 * seen, also where each core has caches of its own besides. */
#define REFERENCE_SHARE 0.75
/* A trial of references alone lasts so long: a thousand times the chunks that actors work in. */
#define REFERENCE_SECONDS 0.05
/* Twins of a program that hardly uses memory: less than this share of all there is disturbs nobody. */
#define LEAST_TWIN_SHARE 0.001
/* Of the memory limit, for the walks of all antagonists. */
#define WALKS_MEMORY_SHARE 0.25
/* The smallest walk of an antagonist. */
#define LEAST_WALK_BYTES 16384.0

/* Walks like the copies are looked for between these, in times of the cache: less leaves even a program that fills the
 * cache nearly all of it, and more than so often the cache holds hardly anything of it. So many halvings of the
 * logarithm leave 3% either way. */
#define LEAST_TWIN_WALKS 0.05
#define MOST_TWIN_WALKS 8.0
#define TWIN_HALVINGS 7u

/* ---- what is concluded */

/* What a verdict must lead by, and the least loss that is one: slowdowns below 5% come and go between compilations of
 * one source (multicore 3.1.3 has up to 40% between compilers), and nobody would act on them. A logarithm. */
#define LEAD 0.04879
/* Memory is full where actors lose so much of their rate by one more on it: three times the jitter of a good machine.
 */
#define FULL_DROP 0.03
/* What stands for a resource must slow a reference down by so much (a logarithm) to be a gauge of its pressure. */
#define GAUGE_LEAST 0.03
/* Of the times and efficiencies of densities, as of slowdowns: the tolerance that their confidence is judged by. */
#define TIME_TOLERANCE 0.05
#define RESAMPLES 200u
