/* Whether samples are such as the analysis can take: they may come from anybody's file. */
#ifndef BJ_PROBES_CACHE_CACHE_SAMPLES_H
#define BJ_PROBES_CACHE_CACHE_SAMPLES_H

#include "base/status.h"
#include "data/curve.h"
#include "probes/cache/cache_methods.h"

/* The papers' methods take time that grows with the square of the points and more. */
#define BJ_CACHE_METHOD_POINTS 4096u

bj_status bj_cache_check_samples(const bj_curves *samples, const bj_cache_method *method,
                                 bj_error *error) BJ_WARN_UNUSED;

#endif
