/* The page as the 2012 paper measures it (3.2): a large array, walked with growing strides. */
#pragma once

#include "probes/probe.h"

#define BJ_PAGE_STRIDES "strides"
/* ns of an access by stride. */
#define BJ_PAGE_PAPER "page.strides"

bj_status bj_page_measure_strides(const bj_measure_request *request, bj_curves *samples,
                                  bj_error *error) BJ_WARN_UNUSED;
