#include "probes/slot/gap_mode.h"

#include <math.h>
#include <stdbool.h>

#include "probes/slot/slot_constants.h"
#include "stats/quantile.h"

static size_t keep_positive(double *gaps, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(gaps[i]) && gaps[i] > 0)
            gaps[kept++] = gaps[i];
    return bj_stats_sort_samples(gaps, kept);
}

/* A window of the sorted gaps around one of them, and the time that it holds. */
typedef struct {
    size_t first, end;
    double time;
} window;

static void move_window(const double *gaps, size_t count, size_t centre, window *w) {
    for (; w->end < count && gaps[w->end] <= HALF_WIDTH * gaps[centre]; w->end++)
        w->time += gaps[w->end];
    for (; gaps[w->first] * HALF_WIDTH < gaps[centre]; w->first++)
        w->time -= gaps[w->first];
}

static bool is_peak(const window *w, double largest, double total) {
    return w->time >= NOT_SMALL * largest && w->time >= LEAST_SHARE * total && w->end - w->first >= LEAST_COUNT;
}

/* Among windows that begin inside the first that counts, the one with the most time: its top. */
static window climb(const double *gaps, size_t count, size_t centre, window start) {
    window best = start, w = start;
    double limit = gaps[centre] * HALF_WIDTH;
    for (size_t i = centre + 1; i < count && gaps[i] <= limit; i++) {
        move_window(gaps, count, i, &w);
        if (w.time > best.time) {
            best = w;
            limit = gaps[i] * HALF_WIDTH;
        }
    }
    return best;
}

double bj_slot_find_gap_mode(double *gaps, size_t count) {
    double total = 0, largest = 0;
    count = keep_positive(gaps, count);
    for (size_t i = 0; i < count; i++)
        total += gaps[i];
    window w = {0};
    for (size_t i = 0; i < count; i++) {
        move_window(gaps, count, i, &w);
        largest = fmax(largest, w.time);
    }
    w = (window){0};
    for (size_t i = 0; i < count; i++) {
        move_window(gaps, count, i, &w);
        if (!is_peak(&w, largest, total))
            continue;
        window top = climb(gaps, count, i, w);
        return bj_stats_quantile_sorted(gaps + top.first, top.end - top.first, 0.5);
    }
    return NAN;
}

double bj_slot_find_plain_mode(double *gaps, size_t count, double bin_width) {
    double mode = NAN;
    size_t most = 0;
    count = keep_positive(gaps, count);
    for (size_t first = 0, end; first < count; first = end) {
        double bin = floor(gaps[first] / bin_width);
        for (end = first; end < count && floor(gaps[end] / bin_width) == bin;)
            end++;
        if (end - first <= most)
            continue;
        most = end - first;
        mode = (bin + 0.5) * bin_width;
    }
    return mode;
}
