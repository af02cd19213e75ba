/* Associativity as the 2012 paper measures it (3.1.3) and reads it off (4.2.2): lines one cache size apart. */
#pragma once

#include "probes/probe.h"

#define BJ_ASSOCIATIVITY_BIGGEST_STEP "biggest_step"
/* ns of an access by lines of a set, of each level from 1. */
#define BJ_ASSOCIATIVITY_PAPER "associativity.paper.L%zu"

bj_status bj_associativity_measure_paper(const bj_measure_request *request, bj_curves *samples,
                                         bj_error *error) BJ_WARN_UNUSED;
bj_status bj_associativity_analyse_paper(const bj_curves *samples, const bj_analyse_request *request,
                                         bj_answers *answers, bj_error *error) BJ_WARN_UNUSED;
