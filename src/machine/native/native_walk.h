/* Walks on the real machine, each on its own pinned thread. */
#ifndef BJ_MACHINE_NATIVE_WALK_H
#define BJ_MACHINE_NATIVE_WALK_H

#include "machine/machine.h"
#include "platform/pages.h"

struct bj_arena {
    bj_mapping mapping;
};

bj_status bj_native_open_arena(size_t bytes, bj_pages pages, int cpu, bj_arena **arena, bj_error *error);
/* batch_ns: the shortest batch that the clock can time. */
bj_status bj_native_run_walks(const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort, double batch_ns,
                              double *ns_per_access, bj_error *error);
/* Keeps `cpu` busy for about that long, so that its clock has ramped up before the first sample. */
bj_status bj_native_warm_cpu(int cpu, double seconds, bj_error *error);

#endif
