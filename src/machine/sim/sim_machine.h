/* The simulated machine's own state, shared by the files that implement its verbs (and by tests that count misses). */
#pragma once

#include "machine/machine.h"
#include "machine/sim/load_file.h"
#include "machine/sim/memory_system.h"
#include "machine/sim/noise.h"

typedef struct {
    bj_sim_spec *spec;
    bj_sim_space space;
    bj_sim_memory_system memory;
    bj_sim_noise noise;
    uint64_t seed;
    uint64_t arenas_opened;
    uint64_t mapped_bytes;
    unsigned wraps_seen;
    double clock_s;            /* virtual */
    int cpus[BJ_SIM_MAX_CPUS]; /* OS numbers, ascending */
    char where[BJ_SIM_NAME_ROOM + 8];
    bj_rank *ranks;     /* by number; NULL: no messages */
    uint32_t *place_of; /* of each rank: where it sits */
    uint32_t *at_once;  /* scratch of run_messages: messages inside each group of a layer */
    bj_sim_load load;   /* that trials run copies of */
    bool has_load;
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

/* The tree position of an OS cpu number. */
bj_status bj_sim_find_cpu(const bj_sim_machine *self, int cpu, size_t *position, bj_error *error) BJ_WARN_UNUSED;
size_t bj_sim_node_of(const bj_sim_spec *spec, size_t position);
/* What the noisy neighbour holds now of the last cache. */
void bj_sim_update_neighbour(bj_sim_machine *self);

/* Who sits where, for messages; nothing where the spec has none. */
bj_status bj_sim_open_ranks(bj_sim_machine *self, bj_error *error) BJ_WARN_UNUSED;
void bj_sim_close_ranks(bj_sim_machine *self);

/* The machine that the spec describes, which it takes over and frees, also on failure. */
bj_status bj_sim_open_machine(bj_sim_spec *spec, uint64_t seed, bj_machine **machine, bj_error *error) BJ_WARN_UNUSED;

/* The verbs, each in a file of its own or beside its like: bj_sim_run_walks and so on. */
#define BJ_SIM_VERB(name) bj_verb_##name bj_sim_##name;
BJ_MACHINE_VERBS(BJ_SIM_VERB)
#undef BJ_SIM_VERB
