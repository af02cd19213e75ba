/* How long a unit of work takes that computes, uses a working set again and streams, while others do the same beside
 * it.
 *
 * Shares of a cache: a line stays until it was not used for longer than a certain age, which is the same for all who
 * share the cache, and just so long that what was used since fills it (Che, Tung and Wang 2002). So who brings in lines
 * faster holds more of it, and a stream pushes out what others would use again. Levels that hold what nearer ones do
 * not (exclusive) add to them. Bandwidth and rows: machine/sim/domains.h. All of it depends on how fast each is, so it
 * is worked out in turn until nothing moves.
 *
 * Compute, accesses and streams of one unit follow each other; address translation costs nothing. */
#pragma once

#include "machine/sim/domains.h"
#include "machine/sim/sim_machine.h"

typedef struct {
    size_t position;
    const bj_sim_cpu *cpu;
    /* One unit of work. */
    double compute_ns;
    double reuse_bytes, accesses;
    double stream_bytes, arrays;
    bool past_caches; /* of the stream: it leaves no lines behind */
    double most_gbs;  /* of the stream, alone; INFINITY: as it comes */
    /* What comes out. */
    double unit_ns;
    double access_ns;                 /* of the working set */
    double held[BJ_SIM_MAX_CACHES];   /* share of its accesses that this level or a nearer one answers */
    double age_ns[BJ_SIM_MAX_CACHES]; /* after which its level's lines are gone */
} bj_sim_worker;

/* row_hits: over all that goes to memory, by traffic; NaN where nothing does. */
bj_status bj_sim_time_workers(bj_sim_machine *self, bj_sim_worker *workers, size_t count, double *row_hits,
                              bj_error *error) BJ_WARN_UNUSED;
