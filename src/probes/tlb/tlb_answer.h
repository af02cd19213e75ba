/* From the walks of the TLB probe to its answers. */
#pragma once

#include "probes/probe.h"

#define BJ_TLB_REVISION 7u

bj_status bj_tlb_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) BJ_WARN_UNUSED;
/* The same from one curve without twins. */
bj_status bj_tlb_analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) BJ_WARN_UNUSED;
