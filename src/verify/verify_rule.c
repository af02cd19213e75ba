#include "verify/verify_rule.h"

#include <math.h>
#include <string.h>

#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/student.h"

/* The greatest median of a spell. Spells are in one piece each. */
static double find_worst_spell(const double *values, const unsigned *spells, size_t count) {
    double worst = -INFINITY;
    for (size_t first = 0, last; first < count; first = last) {
        double part[64];
        size_t taken = 0;
        for (last = first; last < count && spells[last] == spells[first]; last++)
            if (taken < sizeof part / sizeof part[0])
                part[taken++] = values[last];
        /* Of one or two rounds a disturbance would be the median. */
        if (taken >= BJ_VERIFY_ROUNDS_LEAST)
            worst = fmax(worst, bj_stats_median(part, taken));
    }
    return worst;
}

bool bj_verify_describe(double *values, const unsigned *spells, size_t count, double allowance,
                        bj_verify_reference *reference) {
    *reference = (bj_verify_reference){.rounds = count, .allowance = allowance};
    if (count < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return false;
    double worst = find_worst_spell(values, spells, count);
    reference->spread = bj_stats_estimate_inner_spread(values, count, &reference->centre, NULL);
    reference->allowance += fmax(0, worst - reference->centre);
    return true;
}

/* With a spread from so many rounds, Student's t of one degree of freedom less holds for a single further round to
 * within a third of the chance, from 6 rounds to 30 and down to 1e-5 (tests/unit/test_verify_rule.c). */
double bj_verify_find_limit(const bj_verify_reference *reference, size_t rounds, size_t numbers) {
    double look = (double)(rounds - BJ_VERIFY_ROUNDS_LEAST + 1), of = (double)reference->rounds;
    double chance = BJ_VERIFY_FALSE_ALARM / (double)(numbers > 0 ? numbers : 1) / (look * (look + 1));
    double reach = bj_stats_student_reach(2 * chance, of - 1); /* of one side */
    return reference->centre + reference->allowance + reach * reference->spread * sqrt(1 + 1 / of);
}

double bj_verify_find_quartile(const double *values, size_t count) {
    double sorted[BJ_VERIFY_ROUNDS_MOST];
    memcpy(sorted, values, count * sizeof *sorted);
    size_t valid = bj_stats_sort_samples(sorted, count);
    return valid > 0 ? sorted[(valid - 1) / 4] : NAN;
}

bj_verify_state bj_verify_judge(const bj_verify_reference *reference, const double *values, size_t count,
                                size_t numbers) {
    if (count < BJ_VERIFY_ROUNDS_LEAST)
        return BJ_VERIFY_UNMEASURED;
    double quartile = bj_verify_find_quartile(values, count);
    if (quartile > bj_verify_find_limit(reference, count, numbers))
        return BJ_VERIFY_BEYOND;
    return quartile > reference->centre + reference->allowance ? BJ_VERIFY_UNSURE : BJ_VERIFY_SAME;
}
