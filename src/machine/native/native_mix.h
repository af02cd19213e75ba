/* Walks and streams as jobs of one experiment. */
#pragma once

#include "machine/machine.h"
#include "machine/native/native_threads.h"

/* A job in memory of at least so many bytes; the walk or stream outlives it. Samples go where the pointer points. */
size_t bj_native_walk_job_bytes(void);
bj_status bj_native_make_walk_job(bj_native_job *job, const bj_walk *walk, const bj_walk_effort *effort,
                                  double batch_ns, double *ns_per_access, bj_error *error) BJ_WARN_UNUSED;
size_t bj_native_stream_job_bytes(void);
bj_status bj_native_make_stream_job(bj_native_job *job, const bj_stream *stream, const bj_stream_effort *effort,
                                    double batch_ns, double *gbs, bj_error *error) BJ_WARN_UNUSED;
