/* The walks of the papers as they are printed: page by page with a stride of one line (2012, 3.1.2), and Servet's
 * mcalibrator (figure 1). */
#pragma once

#include "probes/cache/cache_samples.h"

/* The line that the 2012 paper's walks stride by: its own pairs (probes/kit/paper_pairs.h), measured beforehand. */
#define BJ_CACHE_LINE_PAIRS "cache.line_pairs"

bj_status bj_cache_measure_printed(const bj_measure_request *request, const bj_cache_method *method, bj_curves *samples,
                                   bj_error *error) BJ_WARN_UNUSED;
