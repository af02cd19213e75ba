/* The native machine's own state, its verbs, and what the files that implement them share. */
#pragma once

#include "codegen/generated.h"
#include "machine/machine.h"
#include "platform/pages.h"
#include "platform/topology.h"

/* Generated kernels: chains of operations and live variables, checked before they are timed. */
typedef struct bj_native_kernels bj_native_kernels;

typedef struct {
    uint64_t opened_ns;
    double batch_ns; /* 0: not measured yet */
    int *cpus;
    size_t cpu_count;
    bj_command command; /* that trials run copies of; words NULL: none */
    char no_counters[120];
    int warmed_cpu; /* -1: none yet */
    bj_topology *topology;
    bool topology_tried;
    bj_native_kernels *kernels;
} bj_native_machine;

struct bj_arena {
    bj_mapping mapping;
};

/* The verbs: bj_native_run_walks and so on. */
#define BJ_NATIVE_VERB(name) bj_verb_##name bj_native_##name;
BJ_MACHINE_VERBS(BJ_NATIVE_VERB)
#undef BJ_NATIVE_VERB

/* For a verb that times something on `cpu`: its clock has ramped up, and *batch_ns is the shortest batch that can be
 * timed. */
bj_status bj_native_warm_up(bj_machine *machine, int cpu, double *batch_ns, bj_error *error) BJ_WARN_UNUSED;

/* `units` is the program's own table, or that of a library which another compiler built. `library` is what dlopen()
 * gave, NULL for the program's own; it is closed with the kernels, also on failure. */
bj_status bj_native_open_kernels(const bj_generated_family *units, void *library, bj_native_kernels **kernels,
                                 bj_error *error) BJ_WARN_UNUSED;
void bj_native_close_kernels(bj_native_kernels *kernels);
