/* Constants of the sharing probe's analysis. */
#pragma once

/* Servet III-B: two walks of 2/3 of the capacity do not fit together, and each fits alone with room for bad frames. 20%
 * less: together they just fit, and nothing is seen; 20% more: bad frames push a walk out of the cache alone. */
#define OF_CAPACITY (2.0 / 3.0)
/* A walk must not fit a nearer level, or it would see that one's sharing: at this many times the nearer capacity less
 * than one line in fifteen is left there, whatever the replacement. 20% less: one in ten; more: fewer levels told. */
#define OVER_NEARER 1.3
/* A tenth of the way to the next level is a real penalty, as of the size of a level. Who shares loses more: of 4/3 of a
 * capacity a cache that replaces at random keeps 54 lines in 100, LRU none; prefetchers of whole regions bring some
 * back. 20% less or more: the same answers on all machines of the zoo. */
#define LEAST_RISE 0.1
/* Of the times of cpus alone the one that stands for the slower ones, from which the way to the next level is reckoned:
 * where kinds of cpus differ the slow ones are mostly a quarter at least, and a single one that was disturbed does not
 * count. 20% more: one such in ten cpus would move every threshold; less: the same answers on all machines of the zoo.
 */
#define SLOWER 0.75
/* A walk alone that no other cpu's is as near to may have been disturbed, and is walked again. Cpus of one kind are
 * within some hundredths, kinds a fifth and more apart. */
#define LONELY 0.1
/* Where the next level's latency is not known, so many times the level's own: the least between neighbouring levels of
 * the zoo. 20% more: pairs that lose less than an eighth are apart; less: one in twelve. */
#define UNKNOWN_NEXT 2.0
/* And beyond the noise of walks alone, in robust standard deviations of their spread: a false alarm in a million. 20%
 * less: one in ten thousand. */
#define NOISE_SIGMAS 5.0
/* Who shares goes at least so far towards the next level: three fifths of what a cache that replaces at random loses
 * (LEAST_RISE). Where the threshold lies beyond, nobody was seen to share because nobody could be. 20% less: an answer
 * of a noisy machine is low a little sooner; more: later. */
#define SEEN_RISE 0.3
/* Servet's own rule. */
#define SERVET_RATIO 2.0
/* Resamples of the rounds that the support is counted of. */
#define RESAMPLES 100u
/* Shares of samples that contradict the groups, beyond which an answer is low, or none: a spike in a hundred samples is
 * common, one in twenty says that the groups are wrong. */
#define FEW_CONTRADICTIONS 0.02
#define MANY_CONTRADICTIONS 0.2
