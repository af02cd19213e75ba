/* The sequential rule of `verify`: has a number become worse than the baseline's own rounds explain?
 *
 * Values are logarithms, signed so that more is worse. The baseline gives a centre, a spread and an allowance; the new
 * run is judged after three rounds and after each further one. What is judged is its lower quartile, since
 * disturbance only adds: one quiet round in four must be worse as well. It is held against single members of the
 * baseline, however many new rounds there are: rounds of a few seconds may all share one disturbance, so that their
 * number proves nothing. A member is a round, or, where that tells more, a triple of the baseline: the quartile
 * of three rounds after one another.
 *
 * Numbers and judgements share the chance of a false alarm (alpha spending by Bonferroni, 1 / (j (j + 1)) of a number's
 * share for its judgement j, which add up to 1): whatever depends on whatever, all of a run together stay below
 * BJ_VERIFY_FALSE_ALARM.
 *
 * What a neighbour does for a second would be beyond chance, too, and is no property of the machine: so a number that
 * is beyond its limit is measured on for BJ_VERIFY_LASTS of the time that there is, or as long as there is time and
 * rounds, and these rounds by themselves, one at least, must be beyond the same limit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* By design, of a whole run. A fifth more or less moves the limit of a number by half a hundredth of its distance. */
#define BJ_VERIFY_FALSE_ALARM 0.001
/* The quartile of three is the least of them: a lone disturbed round never decides, nor do two. */
#define BJ_VERIFY_ROUNDS_LEAST 3u
#define BJ_VERIFY_ROUNDS_MOST 24u
/* Of the budget: two seconds of five. A fifth less or more: bursts of so much less or more are taken for the machine.
 */
#define BJ_VERIFY_LASTS 0.4
/* Less than this nobody looks for, whatever a key promises: it is what most keys call right. */
#define BJ_VERIFY_ALLOWANCE 0.1

/* Before it is known how many numbers share the chance of a false alarm: about so many. */
#define BJ_VERIFY_NUMBERS_EXPECTED 12

typedef struct {
    double centre, spread;
    double allowance; /* so much more is no worse */
    size_t members;   /* that they are from */
    unsigned choices; /* kinds of members that this one was chosen from: they share the chance; 0 means 1 */
} bj_verify_norm;

typedef enum {
    BJ_VERIFY_UNMEASURED, /* fewer rounds than a judgement takes */
    BJ_VERIFY_SAME,       /* within the allowance */
    BJ_VERIFY_UNSURE,     /* beyond it, but not beyond chance */
    BJ_VERIFY_BEYOND,     /* beyond chance, and to be seen whether it lasts */
    BJ_VERIFY_WORSE
} bj_verify_state;

/* From the baseline's rounds and the spell of each; `allowance` is the key's. Where a spell by itself is worse than all
 * together, the allowance grows by that much: the machine did so while it was the baseline. False: too few rounds for
 * an interval. Overwrites values. */
bool bj_verify_describe(double *values, const unsigned *spells, size_t count, double allowance, bj_verify_norm *norm);
/* What the lower quartile must exceed after so many rounds (BJ_VERIFY_ROUNDS_LEAST or more) of one of so many numbers.
 */
double bj_verify_find_limit(const bj_verify_norm *norm, size_t rounds, size_t numbers);
/* The lower quartile, an order statistic; sorts a copy. `count` is BJ_VERIFY_ROUNDS_MOST at most. */
double bj_verify_find_quartile(const double *values, size_t count);
/* The judgement after the last of these rounds: worse is BJ_VERIFY_BEYOND. */
bj_verify_state bj_verify_judge(const bj_verify_norm *norm, const double *values, size_t count, size_t numbers);
/* Of a number that went beyond `limit` after `beyond` of its rounds. `is_last`: enough time has passed since, or there
 * will be no further round. Worse only by rounds of its own after it went beyond; UNSURE where they say otherwise, or
 * where there are none and will be none; BEYOND: measure on. */
bj_verify_state bj_verify_confirm(const double *values, size_t count, size_t beyond, double limit, bool is_last);
