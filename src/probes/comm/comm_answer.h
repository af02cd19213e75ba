#pragma once

#include "probes/probe.h"

/* comm.layers and comm.ranks, from pairs, curves and scaling. */
bj_status bj_comm_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error);
