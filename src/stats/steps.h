/* Steps of a curve (blackjackbench-2012, 4.2.1 and 4.2.2): where it jumps, by three definitions.
 *
 * A step has two sides and each caller says which one is its answer: the last x before it (line, ways,
 * registers, contexts, sizes) or the first x after it (page).
 * A point is usable when y is finite and > 0; others are skipped, so a step may span a gap. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t before, after; /* indexes of the two points; neighbours unless unusable ones lie between */
    double magnitude;     /* relative: dY / Y; scaled: dY * Y; Y is that of `before` */
} bj_step;

/* The first rise above the mean relative step: for curves that start flat and get noisy after the first jump.
 * False: no step stands out (fewer than three usable points, flat, falling or steadily growing). */
bool bj_stats_find_first_step(const double *y, size_t count, bj_step *step);
/* The biggest relative rise; of equals the first. False: nothing rises. */
bool bj_stats_find_biggest_step(const double *y, size_t count, bj_step *step);
/* The biggest rise of dY * Y, which favours late steps; of equals the first. False: nothing rises. */
bool bj_stats_find_scaled_step(const double *y, size_t count, bj_step *step);
