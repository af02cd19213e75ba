/* The line as the 2012 paper measures it (3.1.1) and reads it off (4.2.2): probes/kit/paper_pairs.h. */
#pragma once

#include "probes/probe.h"

#define BJ_LINE_BIGGEST_STEP "biggest_step"
/* ns of an access by extent. */
#define BJ_LINE_PAPER "line.paper"

bj_status bj_line_measure_paper(const bj_measure_request *request, bj_curves *samples, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_line_analyse_paper(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                bj_error *error) BJ_WARN_UNUSED;
