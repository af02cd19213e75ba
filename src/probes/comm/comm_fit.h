/* Times of messages by size as straight lines: one (Hockney's), or one for each protocol. Pure. */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "probes/comm/comm_constants.h"

typedef struct {
    size_t first, count;    /* of the points */
    double us, us_per_byte; /* time = us + bytes * us_per_byte */
} bj_comm_segment;

typedef struct {
    bj_comm_segment segments[SEGMENTS_MOST];
    size_t count;
    double error; /* the most that a point is off, as a share of its time */
} bj_comm_fit;

/* One line through all, by least squares of relative errors; neither part below zero. */
void bj_comm_fit_line(const double *bytes, const double *us, size_t count, bj_comm_fit *fit);
/* As many lines as the scatter of the times justifies (Bayes' criterion), at best places: dynamic programming. */
void bj_comm_fit_segments(const double *bytes, const double *us, size_t count, double scatter, bj_comm_fit *fit);
double bj_comm_predict(const bj_comm_segment *segment, double bytes);
