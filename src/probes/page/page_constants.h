/* Constants of the page probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Rounds are summed up low, since disturbance only adds time; not at the bottom, since frames can be lucky too. */
#define LOW_OF_ROUNDS 0.25
/* A step of less than this share is noise: rounds of one machine differ by about a hundredth. */
#define LEAST_SHARE 0.03
/* Fewer resamples than half that see the step at the same distance: there is none. */
#define SUPPORT_LEAST 0.5
/* A second rise of more than these shares of the first leaves doubt about both, or no step at all: partners that share
 * a page half of the time make a rise of half before the page. */
#define SECOND_SHARE 0.5
#define SECOND_SHARE_MOST 0.75
