/* Constants of the numa probe's analysis. */
#pragma once

/* Memory that is further by less than the tenth within which a latency is promised is as near as a cpu's own. 20% more
 * or less: the same nodes wherever another node's memory takes a seventh longer, as all of the zoo's do. */
#define AS_NEAR 1.1
/* Medians of a cell's rounds: one that was disturbed does not move them. */
#define OF_ROUNDS 0.5
/* Resamples of the rounds that the support is counted of. */
#define RESAMPLES 100u
/* Rounds that differ by more saw different machines. */
#define STABLE_SCATTER 1.25
