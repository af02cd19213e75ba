/* Constants of the contention probe's analysis. */
#pragma once

/* Rates closer than this are the same rate, whatever the noise: what alignment and refresh make of a rate. 20% either
 * way: the same levels on all machines of the zoo, whose nearest rates are 5% apart. */
#define LEAST_GAP 0.025
/* And closer than so many robust standard deviations of a median of the rounds. 20% less: one level too many in some
 * runs of a noisy machine; more: rates 5% apart are one from 0.8% of noise on. */
#define NOISE_SIGMAS 5.0
/* Standard error of a median, in standard deviations over the root of the number of samples: of normal noise. */
#define MEDIAN_ERROR 1.2533
/* Where a fall of a quarter would go unseen, that none was seen says nothing. 20% off: an answer is refused a little
 * sooner or later. */
#define BLIND_GAP 0.25
/* Rates are sorted into bins of this width first: far below LEAST_GAP, and few. */
#define BIN 0.002
/* A stream must find nothing of its last pass in any cache: bandwidth's four times, and what a measured capacity may be
 * too small. 20% less: caches that replace at random keep one line in thirty; more: only time. */
#define OVER_CACHE 4.5
/* Of the largest total, a total this near to it is as good: cpus beyond are of no use. */
#define AS_GOOD 0.03
/* Rates and latencies at full density are right within a tenth, sizes within a seventh: their points are as far apart.
 */
#define TOLERANCE 0.1
#define SIZE_TOLERANCE 0.15
/* Rounds that differ by more saw different machines. */
#define STABLE_SCATTER 1.25
/* As the profile defines a size: a tenth of the way to the next level. */
#define MARGIN 0.1
/* Half of what all parts would give in the halves of a branch, relative to what the whole gives: less is a sign of
 * groups inside that the tree does not know. */
#define HALF_LEAST 0.9
/* Pairs inside a group that do not collide: single ones are disturbed, more say that the group is none. As in
 * stats/nested_groups.c: a twelfth or an eighth would do as well, since what is no group has half of them astray. */
#define MOST_ASTRAY 0.1
/* Two parts of a branch are not together inside where they differ in more than MOST_ASTRAY of the draws that have both
 * and tell anything; of fewer draws than this nothing is said. Two of different groups differ in about half of them. */
#define COMMON_LEAST 2u
/* Whichever of two groups has more of its cpus in a draw is the slower one: each must have been it in a tenth of the
 * draws that tell them apart. One that always is has a longer way, or the bus is not fair.
 * With some ten such draws one is enough, also with a fifth more or less. */
#define TURNS_LEAST 0.1
/* Groups are sought among so many parts at most, for the time it takes grows with their third power. */
#define HIDDEN_PARTS_MOST 64u
/* Servet's figure 6: "similar" bandwidths; the paper gives no number. */
#define SERVET_SIMILAR 0.1
#define RESAMPLES 100u
