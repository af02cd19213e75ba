/* The machine we run on: verbs of the seam over the platform and the kernels. */
#include <stdlib.h>

#include "kernels/kernels.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/limits.h"

/* Clocks ramp up within some tens of milliseconds of load. */
#define WARM_UP_NS 100000000u
/* Of 64 additions each: some seconds on any processor. */
#define WARM_UP_TURNS 100000000ul
/* What a batch lasts at least, even where the clock is cheap: shorter ones would be mostly thread start-up noise
 * in the caches. */
#define MIN_BATCH_NS 50000.0

void bj_native_close(bj_machine *machine) {
    bj_native_machine *self = machine->self;
    bj_platform_free_topology(self->topology);
    bj_native_close_kernels(self->kernels);
    free(self->cpus);
    free(self);
    free(machine);
}

double bj_native_read_clock(bj_machine *machine) {
    const bj_native_machine *self = machine->self;
    return (double)(bj_platform_read_ns() - self->opened_ns) * 1e-9;
}

typedef struct {
    bj_native_job job;
    size_t bytes;
    bj_pages pages;
    bj_arena *arena;
} arena_job;

static bj_status map_on_cpu(bj_native_job *job, bj_error *error) {
    const arena_job *self = (arena_job *)job;
    return bj_platform_map_pages(self->bytes, self->pages == BJ_PAGES_HUGE, &self->arena->mapping, error);
}

bj_status bj_native_open_arena(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                               bj_error *error) {
    (void)machine;
    bj_arena *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for an arena");
    /* Touched from the cpu that will walk it: memory comes from the node that touches it first. */
    arena_job job = {.job = {.cpu = cpu, .work = map_on_cpu}, .bytes = bytes, .pages = pages, .arena = opened};
    bj_status status = bj_native_run_jobs(&job, sizeof job, 1, error);
    if (status != BJ_OK) {
        free(opened);
        return status;
    }
    *arena = opened;
    return BJ_OK;
}

void bj_native_close_arena(bj_machine *machine, bj_arena *arena) {
    (void)machine;
    if (arena == NULL)
        return;
    bj_platform_unmap_pages(&arena->mapping);
    free(arena);
}

static bj_status spin_on_cpu(bj_native_job *job, bj_error *error) {
    (void)job;
    (void)error;
    uint64_t until = bj_platform_read_ns() + WARM_UP_NS;
    volatile uint32_t sum = 1;
    /* By count as well: a clock may stop. */
    for (unsigned long turns = 0; bj_platform_read_ns() < until && turns < WARM_UP_TURNS; turns++)
        sum = bj_kernel_add_int32(sum, sum, 64);
    return BJ_OK;
}

bj_status bj_native_warm_up(bj_machine *machine, int cpu, double *batch_ns, bj_error *error) {
    bj_native_machine *self = machine->self;
    if (self->batch_ns <= 0) {
        self->batch_ns = bj_platform_measure_batch_ns();
        if (self->batch_ns < MIN_BATCH_NS)
            self->batch_ns = MIN_BATCH_NS;
    }
    *batch_ns = self->batch_ns;
    if (self->warmed_cpu == cpu)
        return BJ_OK;
    self->warmed_cpu = cpu;
    bj_native_job job = {.cpu = cpu, .work = spin_on_cpu};
    return bj_native_run_jobs(&job, sizeof job, 1, error);
}

bool bj_native_read_claim(bj_machine *machine, const char *key, int cpu, double *value) {
    bj_native_machine *self = machine->self;
    /* Loading a topology takes long on large machines: only when a claim is asked for. */
    if (!self->topology_tried) {
        self->topology_tried = true;
        self->topology = bj_platform_load_topology();
    }
    return bj_platform_read_claim(self->topology, key, cpu, value);
}

#define VERB(name) .name = bj_native_##name,
static const bj_machine_verbs verbs = {BJ_MACHINE_VERBS(VERB)};

bj_status bj_machine_open_native(uint64_t seed, bj_machine **machine, bj_error *error) {
    (void)seed; /* nothing random on this side: the hardware draws its own */
    bj_machine *opened = calloc(1, sizeof *opened);
    bj_native_machine *self = calloc(1, sizeof *self);
    bj_status status = BJ_OK;
    if (opened == NULL || self == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a machine");
        goto fail;
    }
    size_t cpu_count = 0;
    status = bj_platform_check_clock(error);
    if (status != BJ_OK)
        goto fail;
    status = bj_native_open_kernels(bj_generated_families, NULL, &self->kernels, error);
    if (status == BJ_OK)
        status = bj_platform_list_cpus(&self->cpus, &cpu_count, error);
    if (status != BJ_OK)
        goto fail;
    self->cpu_count = cpu_count;
    self->opened_ns = bj_platform_read_ns();
    self->warmed_cpu = -1;
    opened->verbs = &verbs;
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
