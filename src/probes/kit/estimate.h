/* Answers from rounds: value, interval and confidence, by one rule for all probes.
 *
 * The rule: an answer is right within its tolerance. Resampling the rounds shows how often other rounds would have said
 * the same within it (the support): `high` wants 99 in 100, `medium` 90. Fewer rounds than an interval needs: `low`. An
 * interval wider than the tolerance: `medium` at most. What a probe knows besides (a curve that has no clear step, a
 * level in doubt) can only lower that. */
#pragma once

#include "probes/probe.h"
#include "stats/bootstrap.h"

#define BJ_SUPPORT_HIGH 0.99
#define BJ_SUPPORT_MEDIUM 0.9
/* Enough for the moved-out percentiles of six rounds to leave out a replicate (stats/bootstrap.h). */
#define BJ_KIT_RESAMPLES 400u

/* What single rounds say by themselves. */
enum { BJ_SINGLE_LEAST, BJ_SINGLE_LOW, BJ_SINGLE_HIGH, BJ_SINGLE_GREATEST, BJ_SINGLE_COUNT };

typedef struct {
    double value; /* NaN: no answer */
    double interval[2];
    double support;   /* share of the resamples that say the same as all rounds */
    double tolerance; /* that was asked for */
    size_t rounds;
    double single[BJ_SINGLE_COUNT]; /* least, tenth and nine tenths, greatest; NaN: no round answers alone */
    bool unsteady;                  /* spells differ by more than the tolerance (kit/spells.h): */
    double of_spells[2];            /* the least and the greatest that one of them says */
} bj_estimate;

typedef struct {
    size_t rounds;
    size_t resamples; /* 0: BJ_KIT_RESAMPLES */
    uint64_t seed;
    double tolerance; /* as a share of the value; 0: the same number */
    bool whole;       /* it counts something: resamples that round to the same number agree, whatever the tolerance */
    bj_bootstrap_statistic statistic;
    void *context;
    const bj_curve *curve;  /* that the rounds are of, for its spells; NULL: one spell */
    const size_t *round_of; /* of that curve, for each of the rounds; NULL: its first ones */
} bj_estimate_request;

/* Resamples where each looks at so many samples: fewer for large tables, which would take minutes. */
size_t bj_kit_afford_resamples(size_t samples);
/* The statistic of all rounds, and of resamples of them. The interval holds the value. */
bj_status bj_kit_estimate(const bj_estimate_request *request, bj_estimate *estimate, bj_error *error) BJ_WARN_UNUSED;
/* A quantile of values, one a round. */
bj_status bj_kit_estimate_values(const double *of_round, size_t count, double quantile, double tolerance, uint64_t seed,
                                 bj_estimate *estimate, bj_error *error) BJ_WARN_UNUSED;
/* The same of the rounds that have one point of a curve. */
bj_status bj_kit_estimate_point(const bj_curve *curve, size_t point, double quantile, double tolerance, uint64_t seed,
                                bj_estimate *estimate, bj_error *error) BJ_WARN_UNUSED;
/* A quantile over rounds of what each says by itself: a quantile of its points (0: the least), as of repetitions. */
bj_status bj_kit_estimate_rounds(const bj_curve *curve, double quantile_of_round, double quantile, double tolerance,
                                 uint64_t seed, bj_estimate *estimate, bj_error *error) BJ_WARN_UNUSED;
/* For a resample that answers several questions at once: interval and support of estimate->value, from the replicates
 * that the caller gathered of so many resamples. Sorts them. */
void bj_kit_take_replicates(bj_estimate *estimate, double *replicates, size_t count, size_t resamples);
/* Moves the ends of the interval out by shares of themselves: what is left of disturbance in the quietest samples. */
void bj_kit_widen(bj_estimate *estimate, double low_share, double high_share);

/* The rule; `most` is the highest confidence that the probe allows, for what it knows besides. */
bj_confidence bj_kit_judge(const bj_estimate *estimate, bj_confidence most);
/* The confidence that a share of agreement earns by itself. */
bj_confidence bj_kit_judge_support(double support);
bj_confidence bj_kit_least(bj_confidence a, bj_confidence b);

/* Value, interval and confidence by the rule; the status stays ok. */
void bj_kit_fill_answer(bj_answer *answer, const bj_estimate *estimate, bj_confidence most);
/* The rounds differ: the answer stands, but `medium` at most. */
void bj_kit_call_unstable(bj_answer *answer, const char *reason, ...) BJ_PRINTF(2, 3);
/* No value, and why. */
void bj_kit_refuse(bj_answer *answer, bj_answer_status status, const char *reason, ...) BJ_PRINTF(3, 4);
/* An answer of which the key is made as by printf. */
bj_status bj_kit_put_answer(bj_answers *answers, const char *unit, bj_answer **answer, bj_error *error, const char *key,
                            ...) BJ_WARN_UNUSED BJ_PRINTF(5, 6);
/* The number of an earlier answer, of which the key is made as by printf; NaN: there is none. */
double bj_kit_find_number(const bj_answers *earlier, const char *key, ...) BJ_PRINTF(2, 3);

/* A quantile of the rounds of a point; `index` chooses rounds (NULL: the first `count`). `scratch` has room for them.
 */
double bj_kit_quantile_of_point(const bj_curve *curve, size_t point, const size_t *index, size_t count, double quantile,
                                double *scratch);
/* The same of every point of a curve. */
typedef struct {
    const bj_curve *curve;
    double *of_point;   /* NaN: the rounds lack that point */
    double least, most; /* of the points */
    double *scratch;
} bj_point_summary;

bj_status bj_kit_open_summary(bj_point_summary *summary, const bj_curve *curve, bj_error *error) BJ_WARN_UNUSED;
void bj_kit_close_summary(bj_point_summary *summary);
void bj_kit_summarise(bj_point_summary *summary, const size_t *index, size_t count, double quantile);
/* The rounds that have the point, in `values`; how many. */
size_t bj_kit_list_point(const bj_curve *curve, size_t point, double *values);
