/* Streams and bouncing lines on the real machine, each cpu with its own pinned thread. */
#include <stdlib.h>

#include "kernels/kernels.h"
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_mix.h"
#include "platform/clock.h"

/* A batch lasts at least this long: some passes over a small cache, and so short that an interrupt falls into few of
 * them. */
#define MIN_BATCH_NS 100000.0
/* One pass over so much takes longer than any clock needs, and there is nothing to be brought into a cache first. */
#define LONG_PASS_BYTES (64u << 20)
/* After its own batch a stream goes on in pieces of this until the slowest is done. */
#define PIECE_BYTES (256u * 1024u)
/* Not zero, which some processors write faster. */
#define FILLER 0x0123456789abcdefu
#define MIN_BOUNCE_NS 500000.0
#define FIRST_INCREMENTS 1024u

typedef struct {
    bj_native_job job;
    const bj_stream *stream;
    const bj_stream_effort *effort;
    const bj_stream_kernels *kernels;
    double batch_ns;
    double *gbs;
    size_t passes;                      /* of a batch */
    size_t piece_at;                    /* where what goes on after a batch has come to */
    char *arrays[BJ_STREAM_ARRAYS_MAX]; /* of an update */
    size_t array_bytes;
} streamer;

/* Arrays that begin at multiples of a large power of two would meet in the same few sets of every cache, and what is
 * seen then is conflicts: they are an odd number of pages apart, and each begins three lines further into its page. */
static void lay_arrays(streamer *who) {
    const size_t page = 4096, step = 3 * BJ_KERNEL_ARRAY_LINE;
    const bj_stream *stream = who->stream;
    char *memory = stream->arena->mapping.memory + stream->first_byte;
    unsigned count = bj_machine_count_arrays(stream);
    size_t apart = count > 1 ? ((stream->bytes / count / page - 1) | 1) * page : 0;
    apart -= count > 1 && apart * count > stream->bytes ? 2 * page : 0;
    who->array_bytes = count > 1 ? apart - page : stream->bytes;
    for (unsigned i = 0; i < count; i++)
        who->arrays[i] = memory + i * apart + (count > 1 ? i * step % page : 0);
}

/* Bytes of a pass: what is left free between arrays is not passed. */
static size_t pass_bytes(const streamer *who) {
    return who->stream->kind == BJ_STREAM_UPDATE ? who->array_bytes * bj_machine_count_arrays(who->stream)
                                                 : who->stream->bytes;
}

/* As many bytes of all arrays together, whole lines. */
static void update(const streamer *who, size_t at, size_t bytes, size_t passes) {
    size_t count = bj_machine_count_arrays(who->stream), line = BJ_KERNEL_ARRAY_LINE;
    size_t from = at / count / line * line, each = bytes / count / line * line;
    if (from + each > who->array_bytes)
        each = who->array_bytes - from;
    for (size_t pass = 0; pass < passes; pass++)
        bj_kernel_update_arrays(who->arrays, count, from, each);
}

/* Moves `bytes` (of a copy: a half of them each way) from `at` bytes into the stream's range. */
static void move(const streamer *who, size_t at, size_t bytes, size_t passes) {
    const bj_stream *stream = who->stream;
    const bj_stream_kernels *kernels = who->kernels;
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
    case BJ_STREAM_UPDATE:
        update(who, at, bytes, passes);
        break;
    }
}

static void move_batch(bj_native_job *job) {
    streamer *who = (streamer *)job;
    move(who, 0, pass_bytes(who), who->passes);
}

static void move_piece(bj_native_job *job) {
    streamer *who = (streamer *)job;
    size_t range = pass_bytes(who), piece = range < PIECE_BYTES ? range : PIECE_BYTES;
    if (who->piece_at + piece > range)
        who->piece_at = 0;
    move(who, who->piece_at, piece, 1);
    who->piece_at += piece;
}

/* From timed tries that also bring the range into its caches. */
static size_t choose_passes(const streamer *who) {
    size_t range = pass_bytes(who), passes = who->effort->min_bytes / range;
    passes += passes * range < who->effort->min_bytes || passes == 0;
    double least_ns = who->batch_ns > MIN_BATCH_NS ? who->batch_ns : MIN_BATCH_NS;
    while (range < LONG_PASS_BYTES) {
        uint64_t start = bj_platform_read_ns();
        move(who, 0, range, passes);
        double took = (double)(bj_platform_read_ns() - start);
        if (took >= least_ns)
            break;
        /* A try that was too short for the clock says little: at most so many times more. */
        double factor = took > 0 ? 1.2 * least_ns / took : 64;
        passes = (size_t)((double)passes * (factor < 64 ? factor : 64)) + 1;
    }
    return passes;
}

static bj_status stream_on_thread(bj_native_job *job, bj_error *error) {
    streamer *who = (streamer *)job;
    who->kernels = bj_kernel_pick_streams();
    lay_arrays(who);
    who->passes = choose_passes(who);
    /* An update reads its bytes and writes them. */
    double moved = (double)pass_bytes(who) * (who->stream->kind == BJ_STREAM_UPDATE ? 2 : 1);
    bj_native_batch batch = {move_batch, move_piece, moved * (double)who->passes};
    bj_status status = bj_native_time_batches(job, &batch, who->effort->repetitions, who->gbs, error);
    for (unsigned i = 0; status == BJ_OK && i < who->effort->repetitions; i++)
        who->gbs[i] = 1 / who->gbs[i]; /* from ns a byte */
    return status;
}

size_t bj_native_stream_job_bytes(void) {
    return sizeof(streamer);
}

bj_status bj_native_make_stream_job(bj_native_job *job, const bj_stream *stream, const bj_stream_effort *effort,
                                    double batch_ns, double *gbs, bj_error *error) {
    BJ_TRY(bj_machine_check_stream(stream, stream->arena->mapping.bytes, error));
    if (stream->past_caches && bj_kernel_pick_streams()->write_past == NULL)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no stores that pass by the caches are known here");
    *(streamer *)job = (streamer){.job = {.cpu = stream->cpu, .work = stream_on_thread},
                                  .stream = stream,
                                  .effort = effort,
                                  .batch_ns = batch_ns,
                                  .gbs = gbs};
    return BJ_OK;
}

/* One of two cpus that count up words of their own. */
typedef struct {
    bj_native_job job;
    _Atomic uint64_t *word;
    unsigned repetitions;
    size_t increments; /* of a batch; the same for both cpus */
    double *ns;
} counter;

static void count_batch(bj_native_job *job) {
    const counter *who = (counter *)job;
    bj_kernel_count_up(who->word, who->increments);
}

static void count_on(bj_native_job *job) {
    bj_kernel_count_up(((counter *)job)->word, 16);
}

static bj_status count_on_thread(bj_native_job *job, bj_error *error) {
    const counter *who = (counter *)job;
    bj_native_batch batch = {count_batch, count_on, (double)who->increments};
    return bj_native_time_batches(job, &batch, who->repetitions, who->ns, error);
}

static bj_status bounce_once(const bj_bounce *bounce, unsigned repetitions, size_t increments, double *both,
                             bj_error *error) {
    _Atomic uint64_t *words = (_Atomic uint64_t *)bounce->arena->mapping.memory;
    counter counters[2];
    for (unsigned i = 0; i < 2; i++)
        counters[i] = (counter){.job = {.cpu = i == 0 ? bounce->cpu_a : bounce->cpu_b, .work = count_on_thread},
                                .word = words + (i == 0 ? bounce->word_a : bounce->word_b),
                                .repetitions = repetitions,
                                .increments = increments,
                                .ns = both + (size_t)i * repetitions};
    return bj_native_run_jobs(counters, sizeof counters[0], 2, error);
}

bj_status bj_native_run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                               bj_error *error) {
    bj_machine_clear_samples(ns, repetitions);
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
