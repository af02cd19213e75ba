/* One walk on a simulated machine, step by step: what the verbs that run walks are made of.
 *
 * As on a real machine, the chain is written in visiting order (a lap that warms the caches), short walks go round
 * until laps are alike, then come the timed batches, each going on where the last stopped. */
#pragma once

#include "machine/sim/cold_lap.h"
#include "machine/sim/sim_machine.h"

/* Walks of more places go round no more after the building lap, and are not recorded. */
enum { BJ_SIM_SHORT_WALK = 65536 };
/* Accesses of a walk, or lines of a stream, before the next one that runs at once has its turn. Caches see little
 * difference to one by one, since what meets in a set is chance; the simulator is several times as fast. */
enum { BJ_SIM_TURN = 32 };

/* What all later laps have in common, once the TLBs and the nearest levels have settled. */
typedef struct {
    double *cycles; /* in settled levels and TLBs from the start of the lap to each piece, and to its end; NULL: none */
    size_t settled; /* number of settled levels; memory counts as one */
    /* Places that the settled levels let through, and how many of them come before each piece. */
    uint32_t *passing;
    size_t *passing_before;
} bj_sim_lap_record;

typedef struct {
    const bj_walk *walk;
    const uint32_t *places; /* in visiting order: a step of each chain in turn */
    uint32_t *interleaved;  /* what they are kept in, unless in the walk */
    bj_sim_cpu *cpu;
    const bj_sim_mapping *mapping;
    double memory_cycles; /* local or remote */
    double chains;        /* side by side: what overlaps */
    bj_sim_lap_plan building;
    size_t next;  /* where the next access is */
    size_t meets; /* the first of the walkers that may share a cache with it; set when walks are built */
    bj_sim_lap_record lap;
} bj_sim_walker;

bj_status bj_sim_prepare_walker(bj_sim_machine *self, const bj_walk *walk, bj_sim_walker *who,
                                bj_error *error) BJ_WARN_UNUSED;
/* Meets nobody, so that a long building lap need not be simulated (cold_lap.h). */
void bj_sim_leave_alone(bj_sim_walker *who);
void bj_sim_close_walker(bj_sim_walker *who);
/* Goes on by so many accesses. */
void bj_sim_advance_walker(bj_sim_machine *self, bj_sim_walker *who, size_t accesses);
/* Whether the two may share a cache, or each one with a third. */
bool bj_sim_may_meet(const bj_sim_cpu *a, const bj_sim_cpu *b);
/* The same of all, in turns where they may meet. */
void bj_sim_advance_walkers(bj_sim_machine *self, bj_sim_walker *walkers, size_t count, const size_t *accesses);
/* Writes the chains and warms up; charges the clock. `accesses` and `before` are scratch, one a walk; the latter is
 * left at the start of the last warm lap. */
bj_status bj_sim_build_walks(bj_sim_machine *self, bj_sim_walker *walkers, size_t count, size_t *accesses,
                             bj_sim_counts *before, bj_error *error) BJ_WARN_UNUSED;
/* Cycles of the accesses since `from`, of this kind of cpu; the second: what TLBs add to them. */
double bj_sim_count_cycles(const bj_sim_walker *who, const bj_sim_counts *from);
double bj_sim_count_tlb_cycles(const bj_sim_walker *who, const bj_sim_counts *from);
/* Of an access that hits that level (the number of caches: memory), TLBs aside. */
double bj_sim_cycles_at(const bj_sim_walker *who, size_t level);

/* After the laps of a lone short walk, the counts of the last having begun at `before`: goes round until laps are alike
 * and keeps the record of one. All later laps of such a walk hit alike; where only the nearer levels have settled, the
 * others are simulated for what these let through. */
bj_status bj_sim_record_lap(bj_sim_machine *self, bj_sim_walker *who, const bj_sim_counts *before,
                            bj_error *error) BJ_WARN_UNUSED;
/* Goes on along a recorded lap, simulating what its settled levels let through; returns the cycles of those settled. */
double bj_sim_replay_lap(bj_sim_machine *self, bj_sim_walker *who, size_t accesses);
