/* What a comparison says beside its differences. */
#pragma once

#include "report/compare.h"

/* Where and how the two were measured, as far as that differs: it may explain differences and is none itself. */
bj_status bj_report_note_environment(bj_comparison *comparison, const bj_profile *a, const bj_profile *b,
                                     bj_error *error) BJ_WARN_UNUSED;
