/* One side of a comparison: a profile, or what several of one machine say together. */
#pragma once

#include "profile/profile.h"

typedef struct {
    const bj_profile *items;
    size_t count;
} bj_profile_set;

typedef struct {
    bj_answers answers;
    double *freedom;      /* of each answer: degrees of freedom of its interval */
    size_t profile_count; /* that were gathered */
} bj_compared;

/* Of several profiles, an answer is the median of those that have one, if more than half do. Its interval has the
 * spread between the profiles in it, or what the single intervals say where that is more. Confidence and status are
 * those that half of the profiles reach at least; from as many profiles as an interval needs rounds, `unstable` becomes
 * `ok`, since how far it moves is in the interval then. Levels are those of the profile whose numbers of levels most
 * others share; those of others are matched by size. Keeps nothing of the profiles; there is at least one. */
bj_status bj_report_gather(bj_profile_set set, bj_compared *compared, bj_error *error) BJ_WARN_UNUSED;
void bj_report_free_compared(bj_compared *compared);
