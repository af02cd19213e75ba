/* From samples to answers. */
#pragma once

#include "probes/probe.h"

/* On the yardstick's curve: every cpu was compared with enough others. */
#define BJ_TOPOLOGY_COMPARED "compared"

bj_status bj_topology_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) BJ_WARN_UNUSED;
