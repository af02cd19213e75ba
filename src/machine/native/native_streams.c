/* Streams and bouncing lines on the real machine, each cpu with its own pinned thread. */
#include <stdlib.h>

#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"

/* A batch lasts at least this long: some passes over a small cache, while an interrupt is a hundredth of it. */
#define MIN_BATCH_NS 500000.0
/* One pass over so much takes longer than any clock needs, and there is nothing to be brought into a cache first. */
#define LONG_PASS_BYTES (64u << 20)
/* After its own batch a stream goes on in pieces of this until the slowest is done. */
#define PIECE_BYTES (256u * 1024u)
/* Not zero, which some processors write faster. */
#define FILLER 0x0123456789abcdefu
#define MIN_BOUNCE_NS 500000.0
#define FIRST_INCREMENTS 1024u

typedef struct {
    const bj_stream *stream;
    const bj_stream_effort *effort;
    double batch_ns;
    double *gbs;
    bj_native_meeting *meeting;
} stream_job;

/* What a batch is: a part of the range, each going on where the last stopped, or whole passes. */
typedef struct {
    size_t bytes; /* of the part; the whole range for passes */
    size_t passes;
    size_t at; /* where the next part begins */
} batch_plan;

/* Moves `bytes` (of a copy: a half of them each way) from `at` bytes into the stream's range. */
static void move(const bj_stream_kernels *kernels, const bj_stream *stream, size_t at, size_t bytes, size_t passes) {
    char *memory = stream->arena->mapping.memory + stream->first_byte;
    switch (stream->kind) {
    case BJ_STREAM_READ:
        kernels->read(memory + at, bytes, passes);
        break;
    case BJ_STREAM_WRITE:
        (stream->past_caches ? kernels->write_past : kernels->write)(memory + at, bytes, passes, FILLER);
        break;
    case BJ_STREAM_COPY:
        (stream->past_caches ? kernels->copy_past : kernels->copy)(memory + stream->bytes / 2 + at / 2, memory + at / 2,
                                                                   bytes / 2, passes);
        break;
    }
}

/* Parts do not cross the end of the range: what is left there is passed over. */
static void move_batch(const bj_stream_kernels *kernels, const bj_stream *stream, batch_plan *plan) {
    if (plan->at + plan->bytes > stream->bytes)
        plan->at = 0;
    move(kernels, stream, plan->at, plan->bytes, plan->passes);
    plan->at += plan->bytes;
}

static size_t round_up_to_grain(size_t bytes) {
    return (bytes + BJ_STREAM_GRAIN_BYTES - 1) / BJ_STREAM_GRAIN_BYTES * BJ_STREAM_GRAIN_BYTES;
}

/* From timed tries that also bring the range into its caches. */
static batch_plan plan_batch(const stream_job *job, const bj_stream_kernels *kernels) {
    const bj_stream *stream = job->stream;
    double least_ns = job->batch_ns > MIN_BATCH_NS ? job->batch_ns : MIN_BATCH_NS;
    batch_plan plan = {.bytes = stream->bytes, .passes = 1};
    if (job->effort->min_bytes >= stream->bytes)
        plan.passes = (job->effort->min_bytes + stream->bytes - 1) / stream->bytes;
    double ns_of_byte = 0;
    while (stream->bytes < LONG_PASS_BYTES) {
        uint64_t start = bj_platform_read_ns();
        move(kernels, stream, 0, stream->bytes, plan.passes);
        double took = (double)(bj_platform_read_ns() - start);
        ns_of_byte = took / ((double)stream->bytes * (double)plan.passes);
        if (took >= least_ns)
            break;
        /* A try that was too short for the clock says little: at most so many times more. */
        double factor = took > 0 ? 1.2 * least_ns / took : 64;
        plan.passes = (size_t)((double)plan.passes * (factor < 64 ? factor : 64)) + 1;
    }
    size_t part = round_up_to_grain(job->effort->min_bytes);
    if (part > 0 && part < stream->bytes && plan.passes == 1 &&
        (ns_of_byte == 0 || (double)part * ns_of_byte >= least_ns))
        plan.bytes = part;
    return plan;
}

static void go_on_until_all_finish(const stream_job *job, const bj_stream_kernels *kernels, unsigned rounds) {
    size_t piece = job->stream->bytes < PIECE_BYTES ? job->stream->bytes : PIECE_BYTES;
    batch_plan plan = {.bytes = piece, .passes = 1};
    while (!bj_native_all_finished(job->meeting, rounds))
        move_batch(kernels, job->stream, &plan);
}

static bj_status stream_on_thread(void *argument, bj_error *error) {
    const stream_job *job = argument;
    const bj_stream_kernels *kernels = bj_kernel_pick_streams();
    batch_plan plan = plan_batch(job, kernels);
    double bytes = (double)plan.bytes * (double)plan.passes;
    for (unsigned i = 0; i < job->effort->repetitions; i++) {
        if (!bj_native_meet(job->meeting, i + 1))
            return bj_base_set_error(error, BJ_ERR_FAILED, "a stream did not start with the others");
        uint64_t start = bj_platform_read_ns();
        move_batch(kernels, job->stream, &plan);
        uint64_t stop = bj_platform_read_ns();
        job->gbs[i] = bytes / (double)(stop - start);
        bj_native_finish(job->meeting);
        go_on_until_all_finish(job, kernels, i + 1);
    }
    return BJ_OK;
}

bj_status bj_native_run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                                const bj_stream_effort *effort, double *gbs, bj_error *error) {
    double batch_ns;
    bj_status status = bj_native_warm_up(machine, streams[0].cpu, &batch_ns, error);
    if (status != BJ_OK)
        return status;
    bj_native_meeting meeting = {.parties = (unsigned)count};
    stream_job *stream_jobs = calloc(count, sizeof *stream_jobs);
    bj_native_job *jobs = calloc(count, sizeof *jobs);
    if (stream_jobs == NULL || jobs == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu streams", count);
    for (size_t i = 0; status == BJ_OK && i < count; i++) {
        status = bj_machine_check_stream(&streams[i], streams[i].arena->mapping.bytes, error);
        if (status == BJ_OK && streams[i].past_caches && bj_kernel_pick_streams()->write_past == NULL)
            status = bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no stores that pass by the caches are known here");
        stream_jobs[i] = (stream_job){.stream = &streams[i],
                                      .effort = effort,
                                      .batch_ns = batch_ns,
                                      .gbs = gbs + i * effort->repetitions,
                                      .meeting = &meeting};
        jobs[i] = (bj_native_job){.cpu = streams[i].cpu, .work = stream_on_thread, .argument = &stream_jobs[i]};
    }
    if (status == BJ_OK)
        status = bj_native_run_jobs(jobs, count, &meeting, error);
    free(jobs);
    free(stream_jobs);
    return status;
}

typedef struct {
    _Atomic uint64_t *word;
    unsigned repetitions;
    size_t increments; /* of a batch; the same for both cpus */
    double *ns;
    bj_native_meeting *meeting;
} bounce_job;

static bj_status bounce_on_thread(void *argument, bj_error *error) {
    const bounce_job *job = argument;
    for (unsigned i = 0; i < job->repetitions; i++) {
        if (!bj_native_meet(job->meeting, i + 1))
            return bj_base_set_error(error, BJ_ERR_FAILED, "the other cpu did not start");
        uint64_t start = bj_platform_read_ns();
        bj_kernel_count_up(job->word, job->increments);
        uint64_t stop = bj_platform_read_ns();
        job->ns[i] = (double)(stop - start) / (double)job->increments;
        bj_native_finish(job->meeting);
        while (!bj_native_all_finished(job->meeting, i + 1))
            bj_kernel_count_up(job->word, 16);
    }
    return BJ_OK;
}

static bj_status bounce_once(const bj_bounce *bounce, unsigned repetitions, size_t increments, double *both,
                             bj_error *error) {
    bj_native_meeting meeting = {.parties = 2};
    bounce_job bounces[2];
    bj_native_job jobs[2];
    for (unsigned i = 0; i < 2; i++) {
        size_t word = i == 0 ? bounce->word_a : bounce->word_b;
        bounces[i] =
            (bounce_job){.word = (_Atomic uint64_t *)(bounce->arena->mapping.memory + word * BJ_WALK_WORD_BYTES),
                         .repetitions = repetitions,
                         .increments = increments,
                         .ns = both + (size_t)i * repetitions,
                         .meeting = &meeting};
        jobs[i] = (bj_native_job){
            .cpu = i == 0 ? bounce->cpu_a : bounce->cpu_b, .work = bounce_on_thread, .argument = &bounces[i]};
    }
    return bj_native_run_jobs(jobs, 2, &meeting, error);
}

bj_status bj_native_run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                               bj_error *error) {
    double batch_ns;
    bj_status status = bj_machine_check_bounce(bounce, bounce->arena->mapping.bytes, error);
    if (status == BJ_OK)
        status = bj_native_warm_up(machine, bounce->cpu_a, &batch_ns, error);
    if (status != BJ_OK)
        return status;
    double *both = malloc(2 * ((size_t)repetitions + 1) * sizeof *both);
    if (both == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %u samples", repetitions);
    /* Both cpus must count equally far, so that they try out together how far that is. */
    status = bounce_once(bounce, 1, FIRST_INCREMENTS, both, error);
    if (status == BJ_OK) {
        double each = both[0] > both[1] ? both[1] : both[0];
        double least_ns = batch_ns > MIN_BOUNCE_NS ? batch_ns : MIN_BOUNCE_NS;
        size_t increments = (size_t)(least_ns / (each > 0.1 ? each : 0.1)) + FIRST_INCREMENTS;
        status = bounce_once(bounce, repetitions, increments, both, error);
    }
    for (unsigned i = 0; status == BJ_OK && i < repetitions; i++)
        ns[i] = (both[i] + both[repetitions + i]) / 2;
    free(both);
    return status;
}
