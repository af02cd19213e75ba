/* From the walks of the TLB probe to its answers. */
#ifndef BJ_PROBES_TLB_TLB_ANSWER_H
#define BJ_PROBES_TLB_TLB_ANSWER_H

#include "probes/probe.h"
#include "probes/tlb/tlb_levels.h"

#define BJ_TLB_REVISION 4u

/* The levels that the twins show so far; none of too few samples. */
bj_status bj_tlb_find_levels(const bj_curves *samples, const char *spread_id, const char *packed_id,
                             bj_tlb_levels *found, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_tlb_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) BJ_WARN_UNUSED;
/* The same from one curve without twins. */
bj_status bj_tlb_analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) BJ_WARN_UNUSED;

#endif
