/* Constants of the bandwidth probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* A pass leaves little in a nearer level that is a quarter of the buffer, whatever its replacement: at random, a line
 * survives with probability h = exp(-4 (1 - h)), one in fifty; of a third, one in seventeen: sure enough. At half it
 * is one in five, but none under LRU: no better than medium. */
#define OVER_NEARER_SURE 3.0
#define OVER_NEARER_LEAST 1.8
#define OVER_LAST 4.0
/* Measured buffers are whole grains and pages, a little less than planned. */
#define CUT 0.9
/* What is sustained is what half of the rounds reach; the best is what one in ten still exceeds: not the greatest,
 * which is a single sample that a clock's slip would own. */
#define SUSTAINED_QUANTILE 0.5
#define BEST_QUANTILE (1 - BJ_LOW_QUANTILE)
/* Rounds that differ by more than this saw different machines: neighbours that come and go. */
#define STABLE_SCATTER 1.25
/* What is left of disturbance in the middle of the samples: two thirds of one-sided noise of three in a hundred. */
#define SYSTEMATIC 0.02
/* A rate is right within a tenth. */
#define TOLERANCE 0.1
