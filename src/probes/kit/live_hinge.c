/* Where stores set the pace, a variable in memory costs one more of them in every sweep: the time per addition is c up
 * to R variables and c + s (1 - R / K) beyond. All points of the curve together tell R to one or two, however noisy
 * each is; the points there tell the rest. */
#include <math.h>

#include "probes/kit/live.h"
#include "probes/kit/live_constants.h"

typedef struct {
    double base, cost; /* c and s */
    double error;      /* mean square */
} hinge;

/* Least squares of y over max(0, 1 - R / x). */
static hinge fit_hinge(const double *x, const double *y, size_t count, double registers) {
    double mean_z = 0, mean_y = 0, of_zz = 0, of_zy = 0, error = 0;
    for (size_t i = 0; i < count; i++) {
        mean_z += fmax(0, 1 - registers / x[i]) / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        double z = fmax(0, 1 - registers / x[i]) - mean_z;
        of_zz += z * z;
        of_zy += z * (y[i] - mean_y);
    }
    double cost = of_zz > 0 ? of_zy / of_zz : 0;
    for (size_t i = 0; i < count; i++) {
        double residual = y[i] - mean_y - cost * (fmax(0, 1 - registers / x[i]) - mean_z);
        error += residual * residual / (double)count;
    }
    return (hinge){mean_y - cost * mean_z, cost, error};
}

/* The first point where additions no longer wait for each other: a third of the variables more than it takes for as
 * many to be under way as the fastest point has. */
static size_t find_unbound(const double *x, const double *y, size_t count) {
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, y[i]);
    for (size_t i = 0; i < count; i++)
        if (floor(x[i] / 2) >= HINGE_UNBOUND * y[0] * floor(x[0] / 2) / least)
            return i;
    return count;
}

double bj_kit_find_spill_hinge(const double *x, const double *y, size_t count, double part) {
    size_t first = find_unbound(x, y, count), best = count;
    hinge fitted = {0};
    for (size_t i = first + HINGE_POINTS; i + HINGE_POINTS < count; i++) {
        hinge tried = fit_hinge(x + first, y + first, count - first, x[i]);
        if (tried.cost > 0 && (best == count || tried.error < fitted.error)) {
            fitted = tried;
            best = i;
        }
    }
    if (best == count || fitted.cost < HINGE_LEAST_COST * fitted.base)
        return NAN;
    size_t last = best + HINGE_NEAR;
    while (last > first && !(y[last] <= fitted.base + part * fitted.cost / x[last]))
        last--;
    return last + HINGE_NEAR >= best ? x[last] : NAN;
}
