/* Two answers to one question: could one machine have given both?
 *
 * On a logarithmic scale each has a standard error, from the side of its 95% interval that faces the other (half of the
 * whole interval where that is more: the value of a skewed one may sit at its end). The distance over both together is
 * Student's t with the degrees of freedom that Welch's rule gives for the rounds behind each. How sure an answer is
 * does not enter: what lowers a confidence beside a narrow interval (a level in doubt) is alike in both. But a number
 * that is right or wrong, as the ways of a cache, has an interval without width; there `medium`, wrong one time in ten,
 * is not sure enough to count. */
#pragma once

#include "report/compare.h"

typedef struct {
    const bj_answer *answer;
    double freedom;
} bj_judged;

typedef struct {
    double p;         /* chance of a distance like this one, on one machine */
    bool beyond;      /* what is within the tolerance of one answer is outside the other's */
    bool sure_enough; /* to count */
} bj_judgement;

/* Both have a number. */
bj_judgement bj_report_judge(bj_judged a, bj_judged b, bj_tolerance tolerance);
/* What rounds an answer rests on allow: those of the curves that are its evidence, less one. */
double bj_report_find_freedom(const bj_profile *profile, const bj_answer *answer);
/* How many standard errors half of a 95% interval is, of so many degrees of freedom. */
double bj_report_find_interval_reach(double freedom);
/* Standard error of an answer on the scale of logarithms, by its whole interval, half of which is so many; 0: it has
 * none. */
double bj_report_find_log_error(const bj_answer *answer, double reach);
/* Holm's rule: marks as certain, in place, the differences that may count and are beyond chance; `countable` numbers
 * were compared. Chance that any is marked wrongly: BJ_FALSE_ALARM at most. */
void bj_report_mark_certain(bj_comparison *comparison);
