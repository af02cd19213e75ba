/* Monotonicity enforcement (blackjackbench-2012, 4.1): curves that can only rise in truth are made to. */
#pragma once

#include <stddef.h>

/* In place: y[i] becomes the least of y[i], y[i + 1], …. NaN points stay NaN and lower nobody. */
void bj_stats_enforce_monotone(double *y, size_t count);

/* In place: the rising curve that is nearest to y (least squares, by pooling neighbours that fall). For noise that goes
 * both ways, where the least of what follows would be too low. No NaN. */
void bj_stats_fit_monotone(double *y, size_t count);
