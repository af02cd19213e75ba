/* Is this still the machine that the baseline was measured on?
 *
 * Not the probes are run again but single points of the baseline's own curves, by the probes themselves (rounds more of
 * curves that hold nothing but these points), and each is held against the baseline's rounds of the same point. Which
 * points is decided from the baseline alone (verify_plan.c): those where a level of half the size, a latency a quarter
 * longer or a rate a fifth lower would show most for its cost. When enough is known is in verify_rule.h. */
#pragma once

#include <stdio.h>

#include "machine/machine.h"
#include "profile/profile.h"
#include "verify/verify_rule.h"

#define BJ_VERIFY_FORMAT "blackjack-verification/1"
enum { BJ_VERIFY_CHECKS_MOST = 32 };

/* What is measured at once; each has a probe. In the order in which they are measured: cheap ones first. */
typedef enum {
    BJ_VERIFY_CLOCK,
    BJ_VERIFY_CROWD,
    BJ_VERIFY_WALKS,
    BJ_VERIFY_STREAMS,
    BJ_VERIFY_MEMORY,
    BJ_VERIFY_PARTS
} bj_verify_part;

typedef struct {
    char key[64];     /* of the answer that the point tells most about */
    char meaning[64]; /* "all 2 cpus at once" where the key does not say it; else empty */
    char unit[16];    /* of the point */
    char curve[48];
    double x;         /* 0: the least over all x of a round */
    double x_nearest; /* of other profiles, points so near count as the same: at most this factor */
    bj_verify_part part;
    bool is_rate;        /* less is worse */
    double times_longer; /* the point is measured so many times as long as in the baseline */
    double contrast;     /* logarithm of what the change that it is for would do */
    bj_verify_norm norm;
    double values[BJ_VERIFY_ROUNDS_MOST]; /* logarithms, more is worse */
    size_t count;
    bj_verify_state state;
    /* Once it is beyond its limit: the limit, when that was, and after how many rounds (0: it is not, or was not when
     * it was judged last). */
    double limit, beyond_s;
    size_t beyond;
} bj_verify_check;

typedef struct {
    bj_verify_check checks[BJ_VERIFY_CHECKS_MOST];
    size_t count;
    const bj_verify_check *worst; /* NULL: none is worse */
    size_t worse_count;
    double seconds; /* by the machine's clock */
    int cpu;
    size_t untold;        /* numbers that the baseline is too poor for; the notes say which */
    size_t profile_count; /* of the baseline, that were used */
    bj_strings notes;     /* what cannot be told, and why */
} bj_verification;

typedef struct {
    bj_machine *machine;
    const bj_profile *here;     /* the machine as the head of a profile has it */
    const bj_profile *profiles; /* the baseline: of one machine or of several that are alike; the first one leads */
    size_t profile_count;
    double budget_s;
    uint64_t seed;
    bool (*is_stopped)(void *context); /* may be NULL */
    void *context;
} bj_verify_request;

/* Whether the baseline can be of a machine like this one: both native or the same simulated one, and the processor's
 * name. */
bool bj_verify_is_alike(const bj_profile *baseline, const bj_profile *here);
/* Plans, measures and judges. BJ_ERR_INPUT: the baseline cannot be used, or is of another machine; BJ_ERR_FAILED: too
 * little could be measured. The caller frees, in any case. */
bj_status bj_verify_run(const bj_verify_request *request, bj_verification *verification,
                        bj_error *error) BJ_WARN_UNUSED;
void bj_verify_free(bj_verification *verification);

/* How far the new rounds are above the centre, as a logarithm, more is worse; NaN: not measured. */
double bj_verify_find_shift(const bj_verify_check *check);
/* The least change that would be found, as a factor above 1, at the first judgement. */
double bj_verify_find_least_change(const bj_verification *verification, const bj_verify_check *check);
/* One line. */
void bj_verify_print(FILE *out, const bj_verification *verification);
/* *text is the caller's to free. */
bj_status bj_verify_to_json(const bj_verification *verification, char **text, bj_error *error) BJ_WARN_UNUSED;
