/* The analysis of the cache probe: from curves to answers. */
#ifndef BJ_PROBES_CACHE_CACHE_ANSWER_H
#define BJ_PROBES_CACHE_CACHE_ANSWER_H

#include "probes/probe.h"

bj_status bj_cache_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) BJ_WARN_UNUSED;

#endif
