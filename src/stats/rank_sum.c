#include "stats/rank_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

double bj_stats_log_choices(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static int compare_values(const void *a, const void *b) {
    const bj_ranked_value *left = a, *right = b;
    return left->value < right->value ? -1 : left->value > right->value;
}

/* ln of the normal distribution's upper tail, also where the tail itself is no number any more. */
static double log_tail(double z) {
    static const double FAR = 30, TWO_PI = 6.283185307179586;
    if (z > FAR)
        return -z * z / 2 - log(z * sqrt(TWO_PI));
    return log(erfc(z / sqrt(2.0)) / 2);
}

double bj_stats_find_rank_chance(bj_ranked_value *values, size_t count) {
    double ranks = 0, upper = 0, ties = 0;
    bool overlap = false, seen = false;
    qsort(values, count, sizeof *values, compare_values);
    for (size_t i = 0, next = 0; i < count; i = next) {
        bool lower_here = false;
        double of_upper = 0;
        while (next < count && values[next].value == values[i].value) {
            of_upper += (double)values[next].lot;
            lower_here = lower_here || values[next].lot == 0;
            next++;
        }
        double alike = (double)(next - i);
        overlap = overlap || (lower_here && (seen || of_upper > 0));
        seen = seen || of_upper > 0;
        ranks += of_upper * (double)(i + next + 1) / 2;
        upper += of_upper;
        ties += alike * alike * alike - alike;
    }
    double n = (double)count, lower = n - upper;
    if (upper == 0 || lower == 0)
        return 0;
    if (!overlap)
        return -bj_stats_log_choices(n, upper);
    double above = ranks - upper * (upper + 1) / 2; /* pairs of values of which the upper lot's is the higher */
    double variance = upper * lower / 12 * (n + 1 - ties / (n * (n - 1)));
    return variance > 0 ? log_tail((above - upper * lower / 2) / sqrt(variance)) : 0;
}
