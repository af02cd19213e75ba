#include "probes/contexts/delay.h"

#include <math.h>

#include "probes/contexts/contexts_constants.h"
#include "stats/monotone.h"

static bool is_usable(double y) {
    return isfinite(y) && y > 0;
}

static bool is_delayed(const double *x, const double *y, size_t from, size_t to) {
    return y[to] >= y[from] * fmax(NOISE, cbrt(x[to] / x[from]));
}

/* How many contexts there are if the waiting is shared out, from a point where there is some. `flat`, the last point
 * without waiting, tells the time of the work, so that a clock that fell does not count. If as much got done there as
 * at the delayed point, threads waited there already, and the point before it is taken. */
static double divide_work(const double *x, const double *y, size_t flat, size_t after) {
    size_t lower = flat;
    while (lower > 0 && (x[flat] < APART * x[lower] || !is_usable(y[lower])))
        lower--;
    bool lower_is_apart = is_usable(y[lower]) && x[flat] >= APART * x[lower];
    if (lower_is_apart && x[flat] / y[flat] <= SATURATED * x[after] / y[after])
        flat = lower;
    return x[after] * y[flat] / y[after];
}

static bool decide(const double *x, const double *y, size_t flat, size_t before, size_t after, bj_delay *delay) {
    double shared = divide_work(x, y, flat, after);
    *delay = (bj_delay){.before = before, .after = after};
    /* Shared out, the waiting would have shown at the point before: as much done as here, and less for each. */
    double ramp = y[after] * x[before] / x[after];
    delay->steep = x[before] > shared && ramp > NOISE * y[before];
    double whole = floor(shared + fmin(HALF, SLACK * shared));
    delay->contexts = delay->steep ? x[before] : fmax(1, fmin(whole, x[after] - 1));
    return before > 0 || x[before] <= 1;
}

bool bj_contexts_find_first_delay(const double *x, double *y, size_t count, bj_delay *delay) {
    *delay = (bj_delay){0};
    size_t before = count, flat = count;
    for (size_t i = 0; i < count; i++)
        y[i] = is_usable(y[i]) ? y[i] : NAN;
    bj_stats_enforce_monotone(y, count);
    for (size_t i = 0, next_flat = 0; i < count; i++) {
        if (!is_usable(y[i]))
            continue;
        for (; next_flat < i && x[i] >= APART * x[next_flat]; next_flat++)
            flat = is_usable(y[next_flat]) ? next_flat : flat;
        if (flat < count && is_delayed(x, y, flat, i))
            return decide(x, y, flat, before, i, delay);
        if (before < count && is_delayed(x, y, before, i))
            return decide(x, y, before, before, i, delay);
        before = i;
    }
    return false;
}
