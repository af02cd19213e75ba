#include "stats/steps.h"

#include <math.h>

/* A mean of equal numbers may differ from them in the last bits; a step must exceed it by more than that. */
#define ROUNDING 1e-9

typedef double (*step_size)(double before, double after);

static double relative_size(double before, double after) {
    return (after - before) / before;
}

static double scaled_size(double before, double after) {
    return (after - before) * before;
}

static bool is_usable(double y) {
    return isfinite(y) && y > 0;
}

/* Moves on to the next pair of usable neighbours at or after `from`. */
static bool next_step(const double *y, size_t count, size_t from, step_size size, bj_step *step) {
    size_t before = from;
    while (before < count && !is_usable(y[before]))
        before++;
    if (before >= count)
        return false;
    size_t after = before + 1;
    while (after < count && !is_usable(y[after]))
        after++;
    if (after >= count)
        return false;
    *step = (bj_step){before, after, size(y[before], y[after])};
    return true;
}

static bool find_biggest(const double *y, size_t count, step_size size, bj_step *biggest) {
    bool found = false;
    bj_step step;
    for (size_t from = 0; next_step(y, count, from, size, &step); from = step.after) {
        if (step.magnitude > 0 && (!found || step.magnitude > biggest->magnitude)) {
            *biggest = step;
            found = true;
        }
    }
    return found;
}

bool bj_stats_find_first_step(const double *y, size_t count, bj_step *step) {
    double sum = 0;
    size_t steps = 0;
    bj_step each;
    for (size_t from = 0; next_step(y, count, from, relative_size, &each); from = each.after) {
        sum += each.magnitude;
        steps++;
    }
    if (steps == 0)
        return false;
    double mean = sum / (double)steps;
    /* A falling curve has a negative mean, and its mildest fall is no step. */
    double threshold = fmax(mean + ROUNDING * fabs(mean), 0);
    for (size_t from = 0; next_step(y, count, from, relative_size, &each); from = each.after) {
        if (each.magnitude > threshold) {
            *step = each;
            return true;
        }
    }
    return false;
}

bool bj_stats_find_biggest_step(const double *y, size_t count, bj_step *step) {
    return find_biggest(y, count, relative_size, step);
}

bool bj_stats_find_scaled_step(const double *y, size_t count, bj_step *step) {
    return find_biggest(y, count, scaled_size, step);
}
