/* Two profiles beside each other: what differs by more than measuring twice would, and what only may.
 *
 * An answer counts as different when the intervals are apart, by more than so many comparisons give by chance, and by
 * more than two runs on one machine differ anyway; how much that is depends on the confidence. Levels are matched by
 * size, so that one which vanished does not make all after it look different. Claims are not looked at. */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"

typedef enum {
    BJ_DIFFERENCE_VALUE,      /* both answer, differently */
    BJ_DIFFERENCE_STATUS,     /* only one of them answers, or one moves */
    BJ_DIFFERENCE_LEVEL_GONE, /* in the first alone */
    BJ_DIFFERENCE_LEVEL_NEW   /* in the second alone */
} bj_difference_kind;

typedef struct {
    bj_difference_kind kind;
    char key[64];           /* of a level: "cache.L2" */
    const bj_answer *a, *b; /* of a level that one side has: its size there, if any; else NULL */
    double ratio;           /* b over a; NaN: there is none */
    bool certain;           /* counts; otherwise it is only mentioned */
    double weight;          /* how much it matters: octaves between the two */
} bj_difference;

typedef struct {
    bj_difference *items; /* certain ones first, what matters most first */
    size_t count, certain_count, room;
    size_t compared;  /* pairs of values that were held against each other */
    bj_strings notes; /* environment, what was not compared */
} bj_comparison;

/* The comparison points into both profiles. */
bj_status bj_report_compare(const bj_profile *a, const bj_profile *b, bj_comparison *comparison,
                            bj_error *error) BJ_WARN_UNUSED;
void bj_report_free_comparison(bj_comparison *comparison);
