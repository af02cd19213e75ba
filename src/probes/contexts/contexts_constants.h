/* Constants of the contexts probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* What rounds on a machine that is not quiet leave of noise in a low quantile. */
#define NOISE 1.06
/* The next smaller number of threads that is told apart: up to eight it is one less. */
#define APART 1.12
/* Of a context, what a clock that falls with the second core, and noise, may take. */
#define SLACK 0.1
/* Part of a context, as a quota may grant, lets nobody through without delay. */
#define HALF 0.5
/* What gets within this of as much done is not told from as much. */
#define SATURATED 1.04
/* A number is right within this: up to thirty-three it is the same number. One of more than that is less than what
 * noise leaves of a ramp. */
#define TOLERANCE 0.03
/* Resamples that mostly say something else: the rounds met different machines. */
#define SUPPORT_STABLE 0.5
/* More than this taken by a hypervisor is more than what noise can look like. */
#define STOLEN_MUCH 0.1
/* An interval that reaches further up than this share of the answer says little. */
#define WIDE 0.25

/* Times of a thread alone that differ by more between rounds: others use the cpus, and what delays it delays two as
 * well. Half a thread's time is what a second one on its cpu would take away at least; half of that is doubt enough.
 * 20% off: busy machines are called so a little sooner or later; quiet ones differ by hundredths. */
#define CROWDED_SCATTER 1.25
