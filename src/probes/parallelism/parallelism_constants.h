/* Constants of the parallelism probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* More chains than the most may still be faster if so large a share of it is in flight. */
#define STILL_FALLING 0.85
/* Rounds whose answers differ by more saw different machines. */
#define STABLE_SCATTER 1.25
/* What is left of disturbance in the time of one chain, and of hits in that of many. */
#define SYSTEMATIC 0.02
/* The number is right within a tenth. */
#define TOLERANCE 0.1
