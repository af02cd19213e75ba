/* Constants of the comparison of profiles. The rest follows from the intervals and tolerances of the answers. */
#pragma once

/* Chance that any number of a comparison is wrongly called different: what docs/compare.md promises. A fifth more or
 * less moves the limit of a single number by 1%. */
#define BJ_FALSE_ALARM 0.01
/* Chance of a single number beyond which it is not even mentioned: some comparisons would mention one for nothing, were
 * it not for the tolerance. A fifth more or less mentions one doubtful number more or less in a hundred. */
#define BJ_WORTH_MENTIONING 0.01
/* Intervals hold the truth 95 times in 100. */
#define BJ_INTERVAL_TAIL 0.05
/* Degrees of freedom where nobody tells how many rounds there were: of the fewest for which an interval is promised
 * (six). Four or six would move the limit of such a number by a fifth. */
#define BJ_FREEDOM_UNKNOWN 5.0
/* Tolerance of a key that no probe of this version describes: that of most times and rates. */
#define BJ_TOLERANCE_UNKNOWN 0.1
/* Tolerances below are of numbers that are right or wrong. Real ones are a hundredth at least. */
#define BJ_TOLERANCE_EXACT 1e-6
/* A set of so many profiles says by itself how far an answer moves: as many as an interval needs rounds
 * (stats/bootstrap.h). */
#define BJ_SET_TELLS_SPREAD 6
/* Variance of a median beside that of a mean, of normal values: pi / 2. */
#define BJ_MEDIAN_VARIANCE 1.5707963267948966
/* What leaving a level without a partner costs, in octaves of size. Two that are left alone weigh as much as a pair of
 * which one is 16 times the other: a shared cache may effectively be an eighth of what it was, and is the same one. A
 * fifth more or less matters to levels that are 11 to 28 times as large. */
#define BJ_LEVEL_ALONE_OCTAVES 2.0
/* Weights, in octaves, of a level that one side lacks and of an answer that one side lacks: more than most changes of a
 * number. They decide about the order only. */
#define BJ_WEIGHT_LEVEL 3.0
#define BJ_WEIGHT_STATUS 2.0
/* More than this share of the numbers differ: another machine. A fifth more or less changes one line of the page. */
#define BJ_OTHER_MACHINE_SHARE 0.5
/* Of at least so many numbers: one probe says too little of a whole machine. Likewise one line of the page. */
#define BJ_OTHER_MACHINE_LEAST 10
/* Launches of one program on the same ranks differ by some per cent, on busy networks by more (Hunold and
 * Carpen-Amarie, on reproducible MPI benchmarking): layers whose times differ by less than this factor are the same. A
 * fifth more or less changes whether a link that lost a quarter of its speed is told. */
#define BJ_LAUNCHES_ALIKE 1.25
