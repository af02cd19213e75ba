/* From streams and walks to the answers of the contention probe. */
#pragma once

#include "probes/probe.h"

bj_status bj_contention_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                bj_error *error);
/* The keys of full density (contention_full_answer.c). */
bj_status bj_contention_answer_full(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                    bj_error *error);
