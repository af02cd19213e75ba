/* Profiles beside each other: what differs by more than measuring again would, and what only may.
 *
 * A number counts as different when it is beyond chance (report/compare_judge.h: Student's t from both intervals, by
 * Holm's rule over all numbers that are compared) and beyond what both answers promise (the tolerance of its key).
 * Either side may be several profiles of one machine (report/compare_sets.h). Levels are matched by size, so that one
 * which vanished does not make all after it look different. Claims are not looked at. */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "report/compare_sets.h"

/* How far from the truth an answer may be and still be right: a share of its value, or so much in its unit where that
 * is more. All zero: nobody knows the key. */
typedef struct {
    double share, least;
    bool compares_cpus; /* holds for where several cpus are, which a hypervisor may change */
} bj_tolerance;
/* Of the key in the profile. The descriptors of the probes have it, which this room does not see. */
typedef bj_tolerance (*bj_find_tolerance)(const char *key);

typedef enum {
    BJ_DIFFERENCE_VALUE,      /* both answer, differently */
    BJ_DIFFERENCE_STATUS,     /* only one of them answers */
    BJ_DIFFERENCE_LEVEL_GONE, /* in the first alone */
    BJ_DIFFERENCE_LEVEL_NEW   /* in the second alone */
} bj_difference_kind;

typedef struct {
    bj_difference_kind kind;
    char key[64];           /* of a level: "cache.L2" */
    const bj_answer *a, *b; /* of a level that one side has: its size there, if any; else NULL */
    double ratio;           /* b over a; NaN: there is none */
    double p;               /* chance of so much on one machine, by both intervals; NaN: it is no number */
    bool may_count;         /* both answers are sure enough */
    bool certain;           /* counts; otherwise it is only mentioned */
    bool follows_clock;     /* the clock differs as well, by as much: one cause */
    double weight;          /* how much it matters: octaves between the two */
} bj_difference;

typedef struct {
    bj_compared a, b;
    bj_difference *items; /* certain ones first, what matters most first */
    size_t count, certain_count, room;
    size_t compared;    /* pairs of values that were held against each other */
    size_t countable;   /* of them, numbers that are sure enough to count */
    bool other_machine; /* most numbers differ, or the number of caches: no change of one machine */
    char summary[160];  /* then: why */
    bj_strings notes;   /* environment, what was not compared */
} bj_comparison;

/* find_tolerance may be NULL. The comparison keeps what it needs of the profiles. */
bj_status bj_report_compare(bj_profile_set a, bj_profile_set b, bj_find_tolerance find_tolerance,
                            bj_comparison *comparison, bj_error *error) BJ_WARN_UNUSED;
void bj_report_free_comparison(bj_comparison *comparison);
