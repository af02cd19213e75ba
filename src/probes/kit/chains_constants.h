/* Constants of the analysis of chains. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Cost by the time of the longer loop, where operations were kept. The loop around a chain costs a cycle or two beside
 * six at the least. A compiler that leaves operations out makes twice as many cost no more, and the difference next to
 * nothing; half lies far from both. */
#define KEPT_LEAST 0.5
#define KEPT_MOST 1.5
/* A chain more beyond what fits adds a twentieth at the least; half of that is still no rise. */
#define STILL_FLAT 1.025
/* The same of the paper's inflection: of what one chain too many adds, this part is no rise yet. */
#define HALF_A_CHAIN 0.5
/* Chains of different length leave the loop at different moments; some hundredths of a cycle remain. */
#define SYSTEMATIC 0.01
/* Rounds that differ by more have met different machines (a neighbour on the sibling thread, say). */
#define STABLE_SCATTER 1.25
#define LOW_OF_ROUNDS 0.1
#define HIGH_OF_ROUNDS 0.9
