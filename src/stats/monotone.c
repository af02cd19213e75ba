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

void bj_stats_fit_monotone(double *y, size_t count) {
    for (size_t i = 1; i < count; i++) {
        /* What was pooled before has one value. */
        size_t first = i;
        double sum = y[i];
        while (first > 0 && y[first - 1] > sum / (double)(i - first + 1))
            for (double pooled = y[first - 1]; first > 0 && y[first - 1] == pooled; first--)
                sum += pooled;
        for (size_t k = first; first < i && k <= i; k++)
            y[k] = sum / (double)(i - first + 1);
    }
}
