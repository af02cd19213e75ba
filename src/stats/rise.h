/* Where a curve that is flat at first begins to rise: for walks whose cost of one more miss is known beforehand. */
#pragma once

#include <stddef.h>

/* The first point that lies more than `least` above the lowest before it; count: none. NaN points are passed over. */
size_t bj_stats_find_rise(const double *y, size_t count, double least);
