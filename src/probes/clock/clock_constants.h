/* Constants of the clock probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Rounds that differ by more than this have run at different clocks (turbo, a busy sibling, a throttled cpu): steps of
 * a clock are some hundredths, noise of a quiet round is below one. */
#define STABLE_SCATTER 1.05
/* Of the repetitions of a round: low, since disturbance adds time. Not the lowest: a repetition is a difference of two
 * times, and a disturbance of the first makes it too small. */
#define LOW_OF_ROUND 0.25
/* What is left of disturbance in the quietest samples: they are never faster than the truth, and may be slower by this.
 */
#define SYSTEMATIC 0.01
/* A clock is right within this. */
#define TOLERANCE 0.01
