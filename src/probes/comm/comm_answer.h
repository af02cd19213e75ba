#pragma once

#include "probes/probe.h"

/* Servet's way: all pairs, each in the first layer that it is similar to. */
#define BJ_COMM_FIRST_COME "first_come"

/* comm.layers and comm.ranks, from pairs, curves and scaling. */
bj_status bj_comm_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error);
