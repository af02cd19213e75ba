/* Constants of the analysis of regions, each with its reason. */
#pragma once

/* Begin and end may add so much to a call before its time is refused: the paper looks for losses of a fifth to a third
 * and for oscillations of some percent, and what the recorder adds must stay below them. 20% more or less moves the
 * shortest region that is accepted by as much. */
#define MOST_ADDED 0.10
/* Fewer cells than this tell neither a start from the rest nor an interval: ten stretches of two. */
#define LEAST_CELLS 20u
/* Stretches of the settled part whose means give the interval; neighbours in time are alike, so cells alone would make
 * it too narrow. Ten is the usual choice of the method of batch means. */
#define STRETCHES 10u
/* Threads whose numbers of calls differ more than this do different work: the same call number means nothing. */
#define LEAST_CALLS_SHARE 0.9
/* At so many call numbers the threads are compared. */
#define SKEW_POINTS 32u
/* Numbers of calls that differ by less are the same: a program may stop by the clock. */
#define SAME_CALLS 0.01
