/* Streams and bouncing lines on the real machine, each cpu with its own pinned thread. */
#ifndef BJ_MACHINE_NATIVE_STREAMS_H
#define BJ_MACHINE_NATIVE_STREAMS_H

#include "machine/machine.h"

/* batch_ns: the shortest batch that the clock can time. */
bj_status bj_native_run_streams(const bj_stream *streams, size_t count, const bj_stream_effort *effort, double batch_ns,
                                double *gbs, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_native_run_bounce(const bj_bounce *bounce, unsigned repetitions, double batch_ns, double *ns,
                               bj_error *error) BJ_WARN_UNUSED;

#endif
