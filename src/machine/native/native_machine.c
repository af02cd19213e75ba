/* The machine we run on: verbs of the seam over the platform and the kernels. */
#include <stdlib.h>

#include "machine/machine.h"
#include "machine/native/native_crowd.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_streams.h"
#include "machine/native/native_walk.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/limits.h"
#include "platform/topology.h"

/* Clocks ramp up within some tens of milliseconds of load. */
#define WARM_UP_SECONDS 0.1
/* What a batch lasts at least, even where the clock is cheap: shorter ones would be mostly thread start-up noise
 * in the caches. */
#define MIN_BATCH_NS 50000.0

typedef struct {
    uint64_t opened_ns;
    double batch_ns;
    int *cpus;
    int warmed_cpu; /* -1: none yet */
    bj_topology *topology;
    bool topology_tried;
    bj_native_kernels *kernels;
} native_machine;

static void close_machine(bj_machine *machine) {
    native_machine *self = machine->self;
    bj_platform_free_topology(self->topology);
    bj_native_close_kernels(self->kernels);
    free(self->cpus);
    free(self);
    free(machine);
}

static double read_clock(bj_machine *machine) {
    const native_machine *self = machine->self;
    return (double)(bj_platform_read_ns() - self->opened_ns) * 1e-9;
}

static bj_status open_arena(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                            bj_error *error) {
    (void)machine;
    return bj_native_open_arena(bytes, pages, cpu, arena, error);
}

static void close_arena(bj_machine *machine, bj_arena *arena) {
    (void)machine;
    if (arena == NULL)
        return;
    bj_platform_unmap_pages(&arena->mapping);
    free(arena);
}

static bj_status warm_first(native_machine *self, int cpu, bj_error *error) {
    if (self->batch_ns <= 0) {
        self->batch_ns = bj_platform_measure_batch_ns();
        if (self->batch_ns < MIN_BATCH_NS)
            self->batch_ns = MIN_BATCH_NS;
    }
    if (self->warmed_cpu == cpu)
        return BJ_OK;
    self->warmed_cpu = cpu;
    return bj_native_warm_cpu(cpu, WARM_UP_SECONDS, error);
}

static bj_status run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count, const bj_walk_effort *effort,
                           double *ns_per_access, bj_error *error) {
    native_machine *self = machine->self;
    bj_status status = warm_first(self, walks[0].cpu, error);
    if (status != BJ_OK)
        return status;
    return bj_native_run_walks(walks, walk_count, effort, self->batch_ns, ns_per_access, error);
}

static bj_status run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                             const bj_stream_effort *effort, double *gbs, bj_error *error) {
    native_machine *self = machine->self;
    bj_status status = warm_first(self, streams[0].cpu, error);
    if (status != BJ_OK)
        return status;
    return bj_native_run_streams(streams, count, effort, self->batch_ns, gbs, error);
}

static bj_status run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                            bj_error *error) {
    native_machine *self = machine->self;
    bj_status status = warm_first(self, bounce->cpu_a, error);
    if (status != BJ_OK)
        return status;
    return bj_native_run_bounce(bounce, repetitions, self->batch_ns, ns, error);
}

static bj_status run_chains(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions,
                            double *ns_per_step, bj_error *error) {
    native_machine *self = machine->self;
    bj_status status = warm_first(self, chains[0].cpu, error);
    if (status != BJ_OK)
        return status;
    return bj_native_run_chains(self->kernels, chains, count, repetitions, self->batch_ns, ns_per_step, error);
}

static bj_status run_live(bj_machine *machine, const bj_live *lives, size_t count, unsigned repetitions,
                          double *ns_per_addition, bj_error *error) {
    native_machine *self = machine->self;
    bj_status status = warm_first(self, lives[0].cpu, error);
    if (status != BJ_OK)
        return status;
    return bj_native_run_live(self->kernels, lives, count, repetitions, self->batch_ns, ns_per_addition, error);
}

void bj_native_replace_kernels(bj_machine *machine, bj_native_kernels *kernels) {
    native_machine *self = machine->self;
    bj_native_close_kernels(self->kernels);
    self->kernels = kernels;
}

static bj_status run_crowd(bj_machine *machine, const bj_crowd *crowd, double *ns, bj_taken *taken, bj_error *error) {
    (void)machine; /* its threads warm up by themselves, wherever they are */
    return bj_native_run_crowd(crowd, ns, taken, error);
}

static bj_status run_watch(bj_machine *machine, const bj_watch *watch, double *gaps_ns, size_t *gap_counts,
                           bj_taken *taken, bj_error *error) {
    (void)machine;
    return bj_native_run_watch(watch, gaps_ns, gap_counts, taken, error);
}

static bool read_claim(bj_machine *machine, const char *key, int cpu, double *value) {
    native_machine *self = machine->self;
    /* Loading a topology takes long on large machines: only when a claim is asked for. */
    if (!self->topology_tried) {
        self->topology_tried = true;
        self->topology = bj_platform_load_topology();
    }
    return self->topology != NULL && bj_platform_read_claim(self->topology, key, cpu, value);
}

static const bj_machine_verbs native_verbs = {
    .close = close_machine,
    .read_clock = read_clock,
    .open_arena = open_arena,
    .close_arena = close_arena,
    .run_walks = run_walks,
    .run_streams = run_streams,
    .run_bounce = run_bounce,
    .run_chains = run_chains,
    .run_live = run_live,
    .run_crowd = run_crowd,
    .run_watch = run_watch,
    .read_claim = read_claim,
};

bj_status bj_machine_open_native(uint64_t seed, bj_machine **machine, bj_error *error) {
    (void)seed; /* nothing random on this side: the hardware draws its own */
    bj_machine *opened = calloc(1, sizeof *opened);
    native_machine *self = calloc(1, sizeof *self);
    bj_status status = BJ_OK;
    if (opened == NULL || self == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a machine");
        goto fail;
    }
    size_t cpu_count = 0;
    status = bj_native_open_kernels(bj_generated_units, NULL, &self->kernels, error);
    if (status == BJ_OK)
        status = bj_platform_list_cpus(&self->cpus, &cpu_count, error);
    if (status != BJ_OK)
        goto fail;
    self->opened_ns = bj_platform_read_ns();
    self->warmed_cpu = -1;
    opened->verbs = &native_verbs;
    opened->self = self;
    opened->facts = (bj_machine_facts){
        .name = "native",
        .where = "native",
        .cpus = self->cpus,
        .cpu_count = cpu_count,
        .page_bytes = bj_platform_page_bytes(),
        .huge_bytes = bj_platform_huge_bytes(),
        .memory_limit_bytes = bj_platform_memory_limit_bytes(""),
    };
    *machine = opened;
    return BJ_OK;
fail:
    if (self != NULL)
        bj_native_close_kernels(self->kernels);
    free(self);
    free(opened);
    return status;
}
