#include "stats/student.h"

#include <math.h>

/* The continued fraction converges in less than a hundred steps for all that is asked here. */
enum { STEPS_MOST = 500, HALVINGS = 200 };
#define TINY 1e-300
#define PRECISION 1e-14
/* More degrees of freedom are the normal distribution as far as anyone can see. */
#define FREEDOM_MOST 1e6

static double keep_from_zero(double value) {
    return fabs(value) < TINY ? TINY : value;
}

/* Lentz's way to evaluate the continued fraction of the incomplete beta function. */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / keep_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
    for (int m = 1; m <= STEPS_MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / keep_from_zero(1 + even * d);
        c = keep_from_zero(1 + even / c);
        fraction *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / keep_from_zero(1 + odd * d);
        c = keep_from_zero(1 + odd / c);
        fraction *= d * c;
        if (fabs(d * c - 1) < PRECISION)
            break;
    }
    return fraction;
}

/* The regularised incomplete beta function. */
static double beta_share(double a, double b, double x) {
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    /* The fraction converges quickly on one side of the mean; the other follows by symmetry. */
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double bj_stats_student_tail(double t, double freedom) {
    if (isinf(t))
        return 0;
    if (freedom >= FREEDOM_MOST)
        return erfc(fabs(t) * M_SQRT1_2);
    return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double bj_stats_student_reach(double tail, double freedom) {
    double low = 0, high = 1;
    while (bj_stats_student_tail(high, freedom) > tail && high < 1e300)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > PRECISION * high; i++) {
        double middle = low + (high - low) / 2;
        if (bj_stats_student_tail(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}
