/* Constants of the clock probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Rounds that differ by more than this have run at different clocks (turbo, a throttled cpu): steps of a clock are some
 * hundredths, noise of a quiet round is below one. */
#define STABLE_SCATTER 1.05
/* What is left of disturbance in the quietest batches: they are never faster than the truth, and may be slower by this.
 * Half of the tolerance, as far as four additions lie from the latency of a first level that takes four cycles. */
#define SYSTEMATIC 0.005
/* A clock is right within this. */
#define TOLERANCE 0.01
