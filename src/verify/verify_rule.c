#include "verify/verify_rule.h"

#include <math.h>
#include <string.h>

#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/student.h"

/* Triples of the baseline; more say nothing more. */
enum { TRIPLES_MOST = 512 };

/* The greatest median of a spell. Spells are in one piece each. */
static double find_worst_spell(const double *values, const unsigned *spells, size_t count, size_t least) {
    double worst = -INFINITY;
    for (size_t first = 0, last; first < count; first = last) {
        double part[64];
        size_t taken = 0;
        for (last = first; last < count && spells[last] == spells[first]; last++)
            if (taken < sizeof part / sizeof part[0])
                part[taken++] = values[last];
        if (taken >= least)
            worst = fmax(worst, bj_stats_median(part, taken));
    }
    return worst;
}

/* `least`: members that a spell must have to say something by itself. */
static bool describe_members(double *values, const unsigned *spells, size_t count, size_t least, double allowance,
                             bj_verify_norm *norm) {
    *norm = (bj_verify_norm){.members = count, .allowance = allowance};
    if (count < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return false;
    double worst = find_worst_spell(values, spells, count, least);
    norm->spread = bj_stats_estimate_inner_spread(values, count, &norm->centre, NULL);
    norm->allowance += fmax(0, worst - norm->centre);
    return true;
}

/* Three rounds of the baseline after one another, of one spell, as verify judges three of its own first. */
static size_t list_triples(const double *values, const unsigned *spells, size_t count, double *triples,
                           unsigned *triple_spells) {
    size_t listed = 0;
    for (size_t i = 0; i + BJ_VERIFY_ROUNDS_LEAST <= count && listed < TRIPLES_MOST;) {
        if (spells[i + BJ_VERIFY_ROUNDS_LEAST - 1] != spells[i]) {
            i++;
            continue;
        }
        triple_spells[listed] = spells[i];
        triples[listed++] = bj_verify_find_quartile(values + i, BJ_VERIFY_ROUNDS_LEAST);
        i += BJ_VERIFY_ROUNDS_LEAST;
    }
    return listed;
}

static double find_least_change(const bj_verify_norm *norm) {
    return bj_verify_find_limit(norm, BJ_VERIFY_ROUNDS_LEAST, BJ_VERIFY_NUMBERS_EXPECTED) - norm->centre;
}

bool bj_verify_describe(double *values, const unsigned *spells, size_t count, double allowance, bj_verify_norm *norm) {
    double triples[TRIPLES_MOST];
    unsigned triple_spells[TRIPLES_MOST];
    bj_verify_norm by_triples;
    size_t listed = list_triples(values, spells, count, triples, triple_spells);
    /* Of one or two rounds a disturbance would be the median. */
    if (!describe_members(values, spells, count, BJ_VERIFY_ROUNDS_LEAST, allowance, norm))
        return false;
    if (!describe_members(triples, triple_spells, listed, 1, allowance, &by_triples))
        return true;
    norm->choices = by_triples.choices = 2;
    if (find_least_change(&by_triples) < find_least_change(norm))
        *norm = by_triples;
    return true;
}

/* With a spread from so many members, Student's t of one degree of freedom less holds for a single further one to
 * within a third of the chance, from 6 rounds to 30 and down to 1e-5 (tests/unit/test_verify_rule.c). */
double bj_verify_find_limit(const bj_verify_norm *norm, size_t rounds, size_t numbers) {
    double judgement = (double)(rounds - BJ_VERIFY_ROUNDS_LEAST + 1), of = (double)norm->members;
    double chance = BJ_VERIFY_FALSE_ALARM / (double)(numbers > 0 ? numbers : 1) / (judgement * (judgement + 1)) /
                    (double)(norm->choices > 1 ? norm->choices : 1);
    double reach = bj_stats_student_reach(2 * chance, of - 1); /* of one side */
    return norm->centre + norm->allowance + reach * norm->spread * sqrt(1 + 1 / of);
}

double bj_verify_find_quartile(const double *values, size_t count) {
    double sorted[BJ_VERIFY_ROUNDS_MOST];
    memcpy(sorted, values, count * sizeof *sorted);
    size_t valid = bj_stats_sort_samples(sorted, count);
    return valid > 0 ? sorted[(valid - 1) / 4] : NAN;
}

bj_verify_state bj_verify_judge(const bj_verify_norm *norm, const double *values, size_t count, size_t numbers) {
    if (count < BJ_VERIFY_ROUNDS_LEAST)
        return BJ_VERIFY_UNMEASURED;
    double quartile = bj_verify_find_quartile(values, count);
    if (quartile > bj_verify_find_limit(norm, count, numbers))
        return BJ_VERIFY_BEYOND;
    return quartile > norm->centre + norm->allowance ? BJ_VERIFY_UNSURE : BJ_VERIFY_SAME;
}

bj_verify_state bj_verify_confirm(const double *values, size_t count, size_t beyond, double limit, bool is_last) {
    size_t since = count - beyond;
    if (since > 0 && !(bj_verify_find_quartile(values + beyond, since) > limit))
        return BJ_VERIFY_UNSURE;
    if (!is_last)
        return BJ_VERIFY_BEYOND;
    return since > 0 ? BJ_VERIFY_WORSE : BJ_VERIFY_UNSURE;
}
