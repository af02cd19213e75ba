/* What the files of this room share. */
#pragma once

#include "verify/verify.h"

/* What a check is for: half of a level; a latency a quarter longer, a rate a fifth lower. */
#define BJ_VERIFY_QUARTER 0.22314355131420976 /* log 1.25, which is -log 0.8 as well */

/* Fills in the checks from the baseline, best known first within a part, and notes what cannot be told. */
bj_status bj_verify_plan(const bj_verify_request *request, bj_verification *verification,
                         bj_error *error) BJ_WARN_UNUSED;
/* Curves that hold the points of the part's open checks and one round, so that the probe takes what it is asked for as
 * rounds more of them. */
bj_status bj_verify_thin_curves(const bj_verification *verification, const bj_profile *lead, size_t huge_bytes,
                                bj_verify_part part, bj_curves *thin, bj_error *error) BJ_WARN_UNUSED;
/* Whether the check is worth a further round. */
bool bj_verify_is_open(const bj_verify_check *check);
/* Value of a point in a round of its curve; NaN: none. */
double bj_verify_read_point(const bj_curve *curve, size_t round, double x, double nearest);
extern const char *const bj_verify_probes[BJ_VERIFY_PARTS];
