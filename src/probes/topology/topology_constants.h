/* Constants of the topology probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Latencies of pairs are right within this, and what differs by less is the same: published matrices scatter by some
 * hundredths within a level, and levels are at least an eighth apart. Less: levels of noise; more: sockets that are
 * near each other are taken for one. */
#define SAME_LATENCY 0.1
/* Rounds of one pair that differ by more, from the tenth to nine tenths: the cpus were moved or disturbed. Quiet rounds
 * stay within 1.1, a hypervisor that moves cpus makes 2 and more. */
#define STABLE_SCATTER 1.5
/* Or single rounds of any pair that are so far from the pair's median: in so large a share of all, the machine was
 * disturbed while it was measured, and what it is like undisturbed is a guess. Quiet machines have none (each sample is
 * the least of three), one round in twenty is left to chance. Of two cpus one round of less than twenty is more. */
#define MOST_DISTURBED 0.05
/* Confirming pairs on the wrong side of a level: single ones are disturbed, more are no tree. As in
 * stats/nested_groups.c. */
#define MOST_ASTRAY 0.1
/* Chance of so many astray where no more than that are: a level is given up only beyond it. */
#define ASTRAY_CHANCE 0.02
/* Pairs across the outermost groups that differ by more, from the tenth to nine tenths: hops, not a clique. Cores on
 * one chip or behind one link stay within 1.4, two hops cost 1.5 times one and more. Less: large chips are called no
 * tree; more: short rings are called one clique. */
#define CLIQUE_SPREAD 1.5
/* And by so many times what rounds of one pair differ. */
#define OVER_NOISE 2.0
/* Resamples of the rounds. Fewer of many cpus, since each takes the square of their number: 256 take half a second. */
#define RESAMPLES_MOST 200.0
#define RESAMPLES_LEAST 20.0
#define RESAMPLE_CELLS 2e7
/* Pairs whose latency is estimated to judge all of them. */
#define JUDGED_PAIRS 64u
/* Of those, so many may be less sure than the answer says. */
#define JUDGED_SHARE 0.1

/* Cpus whose yardstick or walks differ by less are of one kind: cores of a kind run within some hundredths of each
 * other, kinds differ by a fifth and more in clock or in the latency of a miss. */
#define SAME_KIND 0.1
/* A walk fits where its time is at most this part of the rise from the first level to what is behind it: the same tenth
 * as of the cache probe's size. */
#define FITS_RISE 0.1
