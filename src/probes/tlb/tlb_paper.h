/* TLBs as the 2012 paper has them: one line on each of n pages, another one on every page (3.2), and clusters of the
 * times (4.2.3). */
#pragma once

#include "probes/probe.h"

#define BJ_TLB_QT_CLUSTER "qt_cluster"
/* ns of an access by pages. */
#define BJ_TLB_PAPER "tlb.pages"

/* On pages of so many bytes. */
bj_status bj_tlb_measure_paper(const bj_measure_request *request, size_t page_bytes, bj_curves *samples,
                               bj_error *error) BJ_WARN_UNUSED;
bj_status bj_tlb_analyse_paper(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) BJ_WARN_UNUSED;
