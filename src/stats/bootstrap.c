#include "stats/bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "stats/quantile.h"

#define NORMAL_975 1.959963984540054

/* The 97.5% point of Student's t. The expansion in 1/df is wrong in the first decimals for few degrees of freedom,
 * which is where it matters most: a table up to ten. */
static double student_975(size_t degrees_of_freedom) {
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
    if (degrees_of_freedom <= sizeof table / sizeof table[0])
        return table[degrees_of_freedom - 1];
    double df = (double)degrees_of_freedom, z = NORMAL_975;
    double z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df);
}

double bj_stats_expand_percentile(size_t round_count) {
    if (round_count < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return 0;
    double n = (double)round_count;
    double deviations = sqrt(n / (n - 1)) * student_975(round_count - 1);
    return 0.5 * erfc(deviations * M_SQRT1_2);
}

static void set_interval(size_t round_count, bj_bootstrap *result) {
    result->low = result->high = NAN;
    if (round_count < 2 || result->replicate_count == 0)
        return;
    size_t highest = result->replicate_count - 1;
    size_t cut = (size_t)floor(bj_stats_expand_percentile(round_count) * (double)highest);
    result->low = result->replicates[cut];
    result->high = result->replicates[highest - cut];
}

bj_status bj_stats_bootstrap_rounds(size_t round_count, size_t resample_count, uint64_t seed,
                                    bj_bootstrap_statistic statistic, void *context, bj_bootstrap *result,
                                    bj_error *error) {
    *result = (bj_bootstrap){.low = NAN, .high = NAN};
    if (round_count == 0 || resample_count == 0)
        return BJ_OK;
    size_t *drawn = malloc(round_count * sizeof *drawn);
    double *replicates = malloc(resample_count * sizeof *replicates);
    if (!drawn || !replicates) {
        free(drawn);
        free(replicates);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu resamples of %zu rounds", resample_count,
                                 round_count);
    }
    bj_random random;
    bj_random_seed(&random, seed);
    for (size_t i = 0; i < resample_count; i++) {
        for (size_t j = 0; j < round_count; j++)
            drawn[j] = (size_t)bj_random_below(&random, round_count);
        replicates[i] = statistic(context, drawn, round_count);
    }
    free(drawn);
    result->replicates = replicates;
    result->replicate_count = bj_stats_sort_samples(replicates, resample_count);
    set_interval(round_count, result);
    return BJ_OK;
}

void bj_stats_free_bootstrap(bj_bootstrap *result) {
    free(result->replicates);
    *result = (bj_bootstrap){.low = NAN, .high = NAN};
}
