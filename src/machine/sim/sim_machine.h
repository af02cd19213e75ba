/* The simulated machine's own state, shared by the files that implement its verbs (and by tests that count misses). */
#ifndef BJ_MACHINE_SIM_SIM_MACHINE_H
#define BJ_MACHINE_SIM_SIM_MACHINE_H

#include "machine/machine.h"
#include "machine/sim/hierarchy.h"
#include "machine/sim/noise.h"

typedef struct {
    bj_sim_spec *spec;
    bj_sim_space space;
    bj_sim_hierarchy hierarchy;
    bj_sim_noise noise;
    uint64_t seed;
    uint64_t arenas_opened;
    uint64_t mapped_bytes;
    unsigned wraps_seen;
    double clock_s;            /* virtual */
    int cpus[BJ_SIM_MAX_CPUS]; /* OS numbers, ascending */
    char where[BJ_SIM_NAME_ROOM + 8];
} bj_sim_machine;

/* Where the bytes of a lone stream come from, once its caches have settled. */
typedef struct {
    size_t position, first_byte, bytes; /* which stream: bytes 0 if none */
    double from[BJ_SIM_MAX_CACHES + 1]; /* bytes of a pass by level; the one after the last cache: memory */
} bj_sim_stream_sources;

enum { BJ_SIM_STREAMS_KNOWN = 8 };

struct bj_arena {
    bj_sim_mapping *mapping;
    uint64_t bytes;
    size_t node; /* whose memory it is: that of the cpu which touched it */
    bj_sim_stream_sources known[BJ_SIM_STREAMS_KNOWN];
    size_t known_next;
};

/* The tree position of an OS cpu number; false: there is no such cpu. */
bool bj_sim_find_position(const bj_sim_spec *spec, int cpu, size_t *position);
size_t bj_sim_node_of(const bj_sim_spec *spec, size_t position);

/* The machine that the spec describes, which it takes over and frees, also on failure. */
bj_status bj_sim_open_machine(bj_sim_spec *spec, uint64_t seed, bj_machine **machine, bj_error *error) BJ_WARN_UNUSED;
/* The verb run_walks. */
bj_status bj_sim_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort,
                           double *ns_per_access, bj_error *error);
/* The verb run_streams. */
bj_status bj_sim_run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                             const bj_stream_effort *effort, double *gbs, bj_error *error);
/* The verb run_bounce. */
bj_status bj_sim_run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                            bj_error *error);
/* The verb run_chains. */
bj_status bj_sim_run_chains(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions,
                            double *ns_per_step, bj_error *error);
/* The verb run_live. */
bj_status bj_sim_run_live(bj_machine *machine, const bj_live *lives, size_t count, unsigned repetitions,
                          double *ns_per_addition, bj_error *error);
/* The verb run_crowd. */
bj_status bj_sim_run_crowd(bj_machine *machine, const bj_crowd *crowd, double *ns, bj_taken *taken, bj_error *error);
/* The verb run_watch. */
bj_status bj_sim_run_watch(bj_machine *machine, const bj_watch *watch, double *gaps_ns, size_t *gap_counts,
                           bj_taken *taken, bj_error *error);
/* The verb read_claim. */
bool bj_sim_read_claim(bj_machine *machine, const char *key, int cpu, double *value);

#endif
