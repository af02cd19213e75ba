#include "probes/contexts/delay.h"

#include <math.h>

#include "stats/monotone.h"

/* What rounds on a machine that is not quiet leave of noise in a low quantile. */
#define NOISE 1.06
/* The next smaller number of threads that is told apart: up to eight it is one less. */
#define APART 1.12

static bool is_usable(double y) {
    return isfinite(y) && y > 0;
}

static bool is_delayed(const double *x, const double *y, size_t from, size_t to) {
    return y[to] >= y[from] * fmax(NOISE, cbrt(x[to] / x[from]));
}

/* Of a context, what a clock that falls with the second core, and noise, may take. */
#define SLACK 0.1
/* What gets within this of as much done is not told from as much. */
#define SATURATED 1.04

/* How many contexts there are if the waiting is shared out, from a point where there is some. Relative to the last
 * level, so that a clock that fell does not count; but a level that got as much done as the delayed point was waiting
 * itself, and the one before it is meant. */
static double divide_work(const double *x, const double *y, size_t level, size_t after) {
    size_t lower = level;
    while (lower > 0 && (x[level] < APART * x[lower] || !is_usable(y[lower])))
        lower--;
    bool lower_is_apart = is_usable(y[lower]) && x[level] >= APART * x[lower];
    if (lower_is_apart && x[level] / y[level] <= SATURATED * x[after] / y[after])
        level = lower;
    return x[after] * y[level] / y[after];
}

static bool settle(const double *x, const double *y, size_t level, size_t before, size_t after, bj_delay *delay) {
    double shared = divide_work(x, y, level, after);
    *delay = (bj_delay){.before = before, .after = after};
    /* Shared out, the waiting would have shown at the point before: as much done as here, and less for each. */
    double ramp = y[after] * x[before] / x[after];
    delay->steep = x[before] > shared && ramp > NOISE * y[before];
    /* Half a context more, as a quota may grant, lets nobody through without delay. */
    double whole = floor(shared + fmin(0.5, SLACK * shared));
    delay->contexts = delay->steep ? x[before] : fmax(1, fmin(whole, x[after] - 1));
    return before > 0 || x[before] <= 1;
}

bool bj_contexts_find_first_delay(const double *x, double *y, size_t count, bj_delay *delay) {
    *delay = (bj_delay){0};
    size_t before = count, level = count;
    for (size_t i = 0; i < count; i++)
        y[i] = is_usable(y[i]) ? y[i] : NAN;
    bj_stats_enforce_monotone(y, count);
    for (size_t i = 0, next_level = 0; i < count; i++) {
        if (!is_usable(y[i]))
            continue;
        for (; next_level < i && x[i] >= APART * x[next_level]; next_level++)
            level = is_usable(y[next_level]) ? next_level : level;
        if (level < count && is_delayed(x, y, level, i))
            return settle(x, y, level, before, i, delay);
        if (before < count && is_delayed(x, y, before, i))
            return settle(x, y, before, before, i, delay);
        before = i;
    }
    return false;
}
