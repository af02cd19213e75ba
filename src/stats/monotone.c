#include "stats/monotone.h"

#include <math.h>

void bj_stats_enforce_monotone(double *y, size_t count) {
    double least = INFINITY;
    for (size_t i = count; i-- > 0;) {
        if (isnan(y[i]))
            continue;
        if (y[i] < least)
            least = y[i];
        y[i] = least;
    }
}
