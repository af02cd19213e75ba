/* Constants of the analysis of live variables. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Of what one spilled variable costs if all cost alike. The first ones are often cheaper, since a memory operand hides
 * in an addition; ripples of a core that packs some numbers of additions better than others stay below. As seen with
 * gcc and clang on two cores: first spills 0.47 to 6 times that cost, ripples at most 0.27. */
#define PART 0.35
/* The answer that these give as well is sure. */
#define PART_LOW 0.3
#define PART_HIGH 0.42
/* A curve that rises less in all has no spills that could be told from ripples. */
#define LEAST_RISE 1.1
/* Where the time stands still to this before it rises, something else than registers sets the pace (the adders, say),
 * and the first spills may hide behind it: as seen with AVX-512, 33 to 37 variables in 32 registers took the same time.
 */
#define STANDSTILL 1.01
/* Looked at are the points from this part of the variables at the onset up to it. */
#define STANDSTILL_FROM 0.6
/* There must be so many of them for a median, and with noise they differ by no more than this. */
#define STANDSTILL_POINTS 4u
#define STANDSTILL_SCATTER 1.02
#define LOW_OF_POINTS 0.1
#define HIGH_OF_POINTS 0.9
/* Of the rounds. Each is a low quantile of its visits already, so little below the median is enough. */
#define LOW_OF_ROUNDS 0.4

/* The hinge of loops that store each sum. Additions wait for each other until so many times as many variables as they
 * need are there. */
#define HINGE_UNBOUND 1.5
/* On either side of the bend there must be a line. */
#define HINGE_POINTS 3u
/* A spill costs a store beside the one of every addition: as much as the addition does. One that costs less than a
 * tenth of that is none. */
#define HINGE_LEAST_COST 0.1
/* The fit is right to so many variables: costs of spills are not quite a line. */
#define HINGE_NEAR 2u
/* Half of what a spill costs tells none from one; the answer that these give as well is sure. */
#define HINGE_PART 0.5
#define HINGE_PART_LOW 0.35
#define HINGE_PART_HIGH 0.65
