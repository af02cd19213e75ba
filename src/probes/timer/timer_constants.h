/* Constants of the timer probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Rounds that differ by more than this met other machines: a host that answers the clock by a trap now and then. */
#define STABLE_SCATTER 1.25
/* What is left of the loop and of disturbance in the cost of a read. */
#define SYSTEMATIC 0.02
/* Costs and resolutions are right within a tenth. */
#define TOLERANCE 0.1
