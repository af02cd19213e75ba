/* One stream on a simulated machine: what the verbs that run streams are made of. */
#pragma once

#include "machine/sim/domains.h"
#include "machine/sim/sim_machine.h"

typedef struct {
    const bj_stream *stream;
    bj_sim_cpu *cpu;
    size_t position;      /* of the cpu, in tree order */
    size_t visited_bytes; /* the first so many of the range go through the caches */
    bj_sim_stream_sources sources;
    double memory_gbs; /* its share */
} bj_sim_streamer;

bj_status bj_sim_prepare_streams(bj_sim_machine *self, const bj_stream *streams, size_t count,
                                 bj_sim_streamer *streamers, bj_error *error) BJ_WARN_UNUSED;
/* Passes of all in turns until where their bytes come from has settled; `before` is scratch, one a stream. */
void bj_sim_find_sources(bj_sim_machine *self, bj_sim_streamer *streamers, size_t count, bj_sim_counts *before);
bj_sim_demand bj_sim_demand_of_stream(const bj_sim_streamer *who);
/* ns of one pass at its share of memory. */
double bj_sim_time_pass(const bj_sim_streamer *who);
/* Lines of the first level that a pass visits; some of them, from one of the pass on. */
size_t bj_sim_count_visited_lines(const bj_sim_machine *self, const bj_sim_streamer *who);
void bj_sim_visit_stream(bj_sim_machine *self, const bj_sim_streamer *who, size_t from_line, size_t count);
