#include "stats/rise.h"

#include <math.h>

size_t bj_stats_find_rise(const double *y, size_t count, double least) {
    double lowest = NAN;
    for (size_t i = 0; i < count; i++) {
        if (y[i] - lowest > least)
            return i;
        lowest = fmin(lowest, y[i]);
    }
    return count;
}
