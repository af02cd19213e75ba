/* Chains of operations and live variables, natively: generated kernels, each compared once with a plain computation of
 * what it should return, then timed in batches. A kernel whose result differs (contracted, folded, built with fast
 * arithmetic) is an error, never a sample. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"
#include "platform/processor.h"

_Static_assert(BJ_CODEGEN_ABREAST == BJ_CHAIN_ABREAST_MAX, "the seam asks for as many streams as are generated");
_Static_assert(BJ_CODEGEN_SPARSE == BJ_CHAIN_SPARSE, "and of vectors for those that are");
_Static_assert(BJ_CODEGEN_LIVE_LEAST == BJ_LIVE_LEAST && BJ_CODEGEN_LIVE_MOST == BJ_LIVE_MOST &&
                   BJ_CODEGEN_LIVE_VECTORS_MOST == BJ_LIVE_VECTORS_MOST,
               "the seam asks for as many variables as are generated");
_Static_assert(BJ_CODEGEN_CHAIN_VALUES <= BJ_LIVE_MOST &&
                   BJ_CODEGEN_LIVE_VECTORS_MOST + BJ_CODEGEN_PLACES <= BJ_LIVE_MOST,
               "the workspace has room for what loads and stores touch");

/* Passes of a batch at most, for a clock that stops. */
#define MOST_PASSES ((size_t)1 << 26)
enum { KERNELS_PER_UNIT = BJ_LIVE_MOST - BJ_LIVE_LEAST + 1, CHECK_PASSES = 3, WARM_PASSES = 16, LENGTH_TRIES = 3 };

typedef struct {
    size_t passes; /* of a batch; 0: not known yet */
    bool is_checked;
} kernel_state;

struct bj_native_kernels {
    const bj_generated_family *units;
    void *library;
    kernel_state *states;    /* KERNELS_PER_UNIT a unit */
    size_t yardstick_blocks; /* of a batch of once the work; 0: not known yet */
};

/* One kernel of one unit, ready to run. */
typedef struct {
    bj_codegen_family unit;
    bj_generated_kernel run;
    kernel_state *state;
    unsigned abreast; /* chains, or variables */
    size_t steps;     /* of a pass: steps of a stream, or sweeps */
} kernel;

typedef struct {
    _Alignas(64) unsigned char values[BJ_LIVE_MOST * BJ_CODEGEN_WIDEST];
    _Alignas(64) unsigned char starts[BJ_LIVE_MOST * BJ_CODEGEN_WIDEST];
    _Alignas(64) unsigned char operands[BJ_CODEGEN_OPERANDS * BJ_CODEGEN_WIDEST];
} workspace;

bj_status bj_native_open_kernels(const bj_generated_family *units, void *library, bj_native_kernels **kernels,
                                 bj_error *error) {
    bj_native_kernels *opened = calloc(1, sizeof *opened);
    kernel_state *states = calloc(bj_codegen_count_familys() * KERNELS_PER_UNIT, sizeof *states);
    if (opened == NULL || states == NULL) {
        free(opened);
        free(states);
        if (library != NULL)
            dlclose(library);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the kernels");
    }
    opened->units = units;
    opened->library = library;
    opened->states = states;
    *kernels = opened;
    return BJ_OK;
}

void bj_native_close_kernels(bj_native_kernels *kernels) {
    if (kernels == NULL)
        return;
    if (kernels->library != NULL)
        dlclose(kernels->library);
    free(kernels->states);
    free(kernels);
}

/* The unit of that number, or the first of its variants that this processor has. */
static bj_status find_supported(const bj_native_kernels *kernels, size_t *number, bj_error *error) {
    char name[48] = "";
    bj_codegen_family wanted = bj_codegen_family_at(*number);
    for (; *number < bj_codegen_count_familys(); ++*number) {
        bj_codegen_family unit = bj_codegen_family_at(*number);
        const bj_generated_family *table = &kernels->units[*number];
        if (!bj_codegen_is_variant(&wanted, &unit))
            break;
        bj_codegen_name_family(&unit, name, sizeof name);
        if (table->name == NULL || strcmp(table->name, name) != 0)
            return bj_base_set_error(error, BJ_ERR_FAILED, "the kernels of %s are not where they should be", name);
        if (table->is_supported(bj_platform_has_instructions))
            return BJ_OK;
    }
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "this processor has no instruction for %s", name);
}

/* `index`: which of the unit's kernels. */
static bj_status find_kernel(const bj_native_kernels *kernels, size_t number, size_t index, kernel *found,
                             bj_error *error) {
    BJ_TRY(find_supported(kernels, &number, error));
    found->unit = bj_codegen_family_at(number);
    found->run = kernels->units[number].kernels[index];
    found->state = &kernels->states[number * KERNELS_PER_UNIT + index];
    return BJ_OK;
}

/* What the values are before a batch is timed. Live variables are zero, which stays zero: anything else would grow out
 * of range. */
static void fill_starts(const kernel *kernel, workspace *space) {
    memset(space->starts, 0, sizeof space->starts);
    if (kernel->unit.kind == BJ_CODEGEN_CHAINS)
        bj_codegen_fill_operands(&kernel->unit, space->starts, space->operands);
}

static void fill_check_starts(const kernel *kernel, workspace *space) {
    fill_starts(kernel, space);
    if (kernel->unit.kind != BJ_CODEGEN_LIVE)
        return;
    const bj_codegen_type *type = kernel->unit.type;
    size_t bytes = type->bytes / type->lanes;
    for (size_t i = 0; i < kernel->abreast * type->lanes; i++) {
        float narrow = (float)(1 + 0.37 * (double)i);
        double wide = 1 + 0.37 * (double)i;
        uint32_t word = (uint32_t)(3 + 7 * i);
        uint64_t quad = 3 + 7 * i;
        const void *source = type->is_float ? (bytes == 4 ? (void *)&narrow : (void *)&wide)
                                            : (bytes == 4 ? (void *)&word : (void *)&quad);
        memcpy(space->starts + i * bytes, source, bytes);
    }
}

static bj_status check_kernel(const kernel *kernel, workspace *space, bj_error *error) {
    if (kernel->state->is_checked)
        return BJ_OK;
    /* One pass of live variables: further ones would leave the range of a float. */
    size_t passes = kernel->unit.kind == BJ_CODEGEN_LIVE ? 1 : CHECK_PASSES;
    size_t bytes = bj_codegen_count_values(&kernel->unit, kernel->abreast) * kernel->unit.type->bytes;
    fill_check_starts(kernel, space);
    memcpy(space->values, space->starts, sizeof space->values);
    kernel->run(space->values, space->operands, passes);
    bj_codegen_compute_result(&kernel->unit, kernel->abreast, passes * kernel->steps, space->operands, space->starts);
    if (memcmp(space->values, space->starts, bytes) != 0) {
        char name[48];
        bj_codegen_name_family(&kernel->unit, name, sizeof name);
        return bj_base_set_error(error, BJ_ERR_FAILED, "the kernel of %s with %u values returns a wrong result", name,
                                 kernel->abreast);
    }
    kernel->state->is_checked = true;
    return BJ_OK;
}

static double time_batch(const kernel *kernel, workspace *space, size_t passes) {
    memcpy(space->values, space->starts, sizeof space->values);
    uint64_t begin = bj_platform_read_ns();
    kernel->run(space->values, space->operands, passes);
    return (double)(bj_platform_read_ns() - begin);
}

/* ns per step (or per addition of all variables). */
static bj_status time_kernel(const kernel *kernel, workspace *space, unsigned repetitions, double batch_ns, double *ns,
                             bj_error *error) {
    BJ_TRY(check_kernel(kernel, space, error));
    fill_starts(kernel, space);
    kernel_state *state = kernel->state;
    if (state->passes == 0) {
        size_t passes = 16;
        while (passes < MOST_PASSES && time_batch(kernel, space, passes) < batch_ns)
            passes *= 2;
        state->passes = passes;
    }
    /* The code is not in the cache after others ran. */
    (void)time_batch(kernel, space, WARM_PASSES);
    for (unsigned i = 0; i < repetitions; i++)
        ns[i] = time_batch(kernel, space, state->passes) / ((double)state->passes * (double)kernel->steps);
    return BJ_OK;
}

static double time_additions(size_t blocks) {
    volatile uint32_t sum = 1, addend = 3;
    uint64_t begin = bj_platform_read_ns();
    sum = bj_kernel_add_int32(sum, addend, blocks);
    return (double)(bj_platform_read_ns() - begin);
}

/* The hand-written chain of the yardstick, which does not depend on another compiler. All batches of a machine have the
 * same two lengths, chosen by the least of some: a disturbed one would make them too short. */
static void time_yardstick(bj_native_kernels *kernels, const bj_chain *chain, unsigned repetitions, double batch_ns,
                           double *ns_per_step) {
    for (size_t blocks = 64; kernels->yardstick_blocks == 0; blocks *= 2) {
        double least = INFINITY;
        for (int i = 0; i < LENGTH_TRIES; i++)
            least = fmin(least, time_additions(blocks));
        kernels->yardstick_blocks = least >= batch_ns ? blocks : 0;
    }
    size_t blocks = kernels->yardstick_blocks * (chain->unroll == BJ_WORK_TWICE ? 2 : 1);
    for (unsigned i = 0; i < repetitions; i++)
        ns_per_step[i] = time_additions(blocks) / ((double)blocks * BJ_KERNEL_ADD_BLOCK);
}

typedef struct {
    bj_native_job job;
    bj_native_kernels *kernels;
    const bj_chain *chains;
    const bj_live *lives;
    size_t count;
    unsigned repetitions;
    double batch_ns;
    double *ns;
} kernels_job;

static bool is_yardstick(const bj_chain *chain) {
    return chain->unroll <= BJ_WORK_TWICE && chain->abreast == 1 && chain->then == NULL &&
           strcmp(chain->type, "int32") == 0 && strcmp(chain->operation, "add") == 0;
}

static bj_status run_chain(const kernels_job *job, const bj_chain *chain, workspace *space, double *ns,
                           bj_error *error) {
    if (is_yardstick(chain)) {
        time_yardstick(job->kernels, chain, job->repetitions, job->batch_ns, ns);
        return BJ_OK;
    }
    size_t number;
    bool is_known = bj_codegen_find_family(BJ_CODEGEN_CHAINS, chain->type, chain->operation, chain->then, &number);
    bj_codegen_family unit = bj_codegen_family_at(is_known ? number : 0);
    if (!is_known || chain->unroll <= BJ_WORK_TWICE || !bj_codegen_has_abreast(&unit, chain->abreast))
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no kernel for %u streams of %.20s %.20s%s%.20s",
                                 chain->abreast, chain->type, chain->operation, chain->then != NULL ? " and " : "",
                                 chain->then != NULL ? chain->then : "");
    bool twice = chain->unroll == BJ_UNROLL_TWICE;
    kernel kernel = {.abreast = chain->abreast, .steps = bj_codegen_count_steps(chain->abreast, twice)};
    BJ_TRY(find_kernel(job->kernels, number, 2 * (chain->abreast - 1) + twice, &kernel, error));
    return time_kernel(&kernel, space, job->repetitions, job->batch_ns, ns, error);
}

static bj_status run_live(const kernels_job *job, const bj_live *live, workspace *space, double *ns, bj_error *error) {
    size_t number;
    if (!bj_codegen_find_family(BJ_CODEGEN_LIVE, live->type, "", NULL, &number) || live->variables < BJ_LIVE_LEAST ||
        live->variables > bj_codegen_most_live(bj_codegen_family_at(number).type))
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no kernel for %u live variables of type %.20s",
                                 live->variables, live->type);
    kernel kernel = {.abreast = live->variables, .steps = bj_codegen_count_sweeps(live->variables)};
    bj_status status = find_kernel(job->kernels, number, live->variables - BJ_LIVE_LEAST, &kernel, error);
    if (status == BJ_OK)
        status = time_kernel(&kernel, space, job->repetitions, job->batch_ns, ns, error);
    for (unsigned i = 0; i < job->repetitions && status == BJ_OK; i++)
        ns[i] /= live->variables;
    return status;
}

static bj_status run_on_cpu(bj_native_job *thread, bj_error *error) {
    const kernels_job *job = (kernels_job *)thread;
    workspace space;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < job->count && status == BJ_OK; i++) {
        double *ns = job->ns + i * job->repetitions;
        status = job->chains != NULL ? run_chain(job, &job->chains[i], &space, ns, error)
                                     : run_live(job, &job->lives[i], &space, ns, error);
    }
    return status;
}

/* Runs the job on that cpu, with the machine's kernels and batch length. */
static bj_status run_job(bj_machine *machine, int cpu, kernels_job *job, bj_error *error) {
    job->job = (bj_native_job){.cpu = cpu, .work = run_on_cpu};
    job->kernels = ((bj_native_machine *)machine->self)->kernels;
    BJ_TRY(bj_native_warm_up(machine, cpu, &job->batch_ns, error));
    return bj_native_run_jobs(job, sizeof *job, 1, error);
}

bj_status bj_native_run_chains(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions,
                               double *ns_per_step, bj_error *error) {
    bj_machine_clear_samples(ns_per_step, count * repetitions);
    kernels_job job = {.chains = chains, .count = count, .repetitions = repetitions, .ns = ns_per_step};
    return run_job(machine, chains[0].cpu, &job, error);
}

bj_status bj_native_run_live(bj_machine *machine, const bj_live *lives, size_t count, unsigned repetitions,
                             double *ns_per_addition, bj_error *error) {
    bj_machine_clear_samples(ns_per_addition, count * repetitions);
    kernels_job job = {.lives = lives, .count = count, .repetitions = repetitions, .ns = ns_per_addition};
    return run_job(machine, lives[0].cpu, &job, error);
}
