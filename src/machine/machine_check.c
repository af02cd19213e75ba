#include "machine/machine_check.h"

#include <math.h>
#include <stdlib.h>

void bj_machine_clear_samples(double *samples, size_t count) {
    for (size_t i = 0; i < count; i++)
        samples[i] = NAN;
}

void bj_machine_clear_notes(bj_trial_notes *notes) {
    if (notes == NULL)
        return;
    notes->row_hits = NAN;
    bj_machine_clear_samples(notes->counts, BJ_COUNTS);
}

void bj_machine_clear_mix(const bj_mix *mix, double *ns_per_access, double *gbs) {
    if (mix->walk_count > 0)
        bj_machine_clear_samples(ns_per_access, mix->walk_count * mix->walk_effort->repetitions);
    if (mix->stream_count > 0)
        bj_machine_clear_samples(gbs, mix->stream_count * mix->stream_effort->repetitions);
}

bj_status bj_machine_check_mix(const bj_mix *mix, bj_error *error) {
    if (mix->walk_count + mix->stream_count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no walks or streams to run");
    if (mix->walk_count > 0 && mix->stream_count > 0 &&
        mix->walk_effort->repetitions != mix->stream_effort->repetitions)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%u repetitions of walks and %u of streams",
                                 mix->walk_effort->repetitions, mix->stream_effort->repetitions);
    return BJ_OK;
}

static int cpu_of_task(const bj_mix *mix, size_t i) {
    return i < mix->walk_count ? mix->walks[i].cpu : mix->streams[i - mix->walk_count].cpu;
}

bj_status bj_machine_check_cpus(const bj_mix *mix, bj_error *error) {
    for (size_t i = 0; i < mix->walk_count + mix->stream_count; i++)
        for (size_t j = 0; j < i; j++)
            if (cpu_of_task(mix, i) == cpu_of_task(mix, j))
                return bj_base_set_error(error, BJ_ERR_USAGE, "two walks or streams at once on cpu %d",
                                         cpu_of_task(mix, i));
    return BJ_OK;
}

unsigned bj_machine_count_chains(const bj_walk *walk) {
    return walk->chains > 0 ? walk->chains : 1;
}

bj_status bj_machine_check_chains(const bj_walk *walk, bj_error *error) {
    unsigned chains = bj_machine_count_chains(walk);
    if (chains > BJ_WALK_CHAINS_MAX)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%u chains where %u are the most", chains, BJ_WALK_CHAINS_MAX);
    if (walk->count == 0 || walk->count % chains != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a walk of %zu places in %u equal chains", walk->count, chains);
    return BJ_OK;
}

unsigned bj_machine_count_arrays(const bj_stream *stream) {
    return stream->arrays > 0 ? stream->arrays : 1;
}

bj_status bj_machine_check_stream(const bj_stream *stream, uint64_t arena_bytes, bj_error *error) {
    if (stream->bytes == 0 || stream->bytes % BJ_STREAM_MULTIPLE_BYTES != 0 ||
        stream->first_byte % BJ_STREAM_MULTIPLE_BYTES != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a stream of %zu bytes from %zu, not multiples of %u",
                                 stream->bytes, stream->first_byte, BJ_STREAM_MULTIPLE_BYTES);
    unsigned arrays = bj_machine_count_arrays(stream);
    if (arrays > 1 && (stream->kind != BJ_STREAM_UPDATE || arrays > BJ_STREAM_ARRAYS_MAX ||
                       stream->bytes / arrays < BJ_STREAM_ARRAY_LEAST))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%u arrays in a stream of %zu bytes", arrays, stream->bytes);
    if (stream->past_caches && stream->kind == BJ_STREAM_UPDATE)
        return bj_base_set_error(error, BJ_ERR_USAGE, "an update cannot go past the caches");
    if (stream->first_byte > arena_bytes || stream->bytes > arena_bytes - stream->first_byte)
        return bj_base_set_error(error, BJ_ERR_USAGE, "a stream leaves its arena of %llu bytes",
                                 (unsigned long long)arena_bytes);
    return BJ_OK;
}

bj_status bj_machine_check_bounce(const bj_bounce *bounce, uint64_t arena_bytes, bj_error *error) {
    uint64_t words = arena_bytes / BJ_WALK_WORD_BYTES;
    if (bounce->cpu_a == bounce->cpu_b)
        return bj_base_set_error(error, BJ_ERR_USAGE, "cpu %d beside itself", bounce->cpu_a);
    if (bounce->word_a == bounce->word_b || bounce->word_a >= words || bounce->word_b >= words)
        return bj_base_set_error(error, BJ_ERR_USAGE, "words %u and %u of an arena of %llu", bounce->word_a,
                                 bounce->word_b, (unsigned long long)words);
    return BJ_OK;
}

static int cpu_of_side(const bj_exchange *exchanges, size_t side) {
    return side % 2 == 0 ? exchanges[side / 2].cpu_a : exchanges[side / 2].cpu_b;
}

bj_status bj_machine_check_exchanges(const bj_exchange *exchanges, size_t count, bj_error *error) {
    if (count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no blocks to exchange");
    for (size_t i = 0; i < 2 * count; i++) {
        for (size_t j = 0; j < i; j++)
            if (cpu_of_side(exchanges, i) == cpu_of_side(exchanges, j))
                return bj_base_set_error(error, BJ_ERR_USAGE, "cpu %d twice at once", cpu_of_side(exchanges, i));
        size_t bytes = exchanges[i / 2].bytes;
        if (bytes == 0 || bytes % BJ_WALK_WORD_BYTES != 0)
            return bj_base_set_error(error, BJ_ERR_USAGE, "a block of %zu bytes, no multiple of %u", bytes,
                                     BJ_WALK_WORD_BYTES);
    }
    return BJ_OK;
}

bj_status bj_machine_check_messages(const bj_machine *machine, const bj_message *messages, size_t count,
                                    bj_error *error) {
    size_t ranks = machine->facts.rank_count;
    if (count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no messages to send");
    bool *seen = calloc(ranks + 1, sizeof *seen);
    bj_status status = BJ_OK;
    if (seen == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu ranks", ranks);
    for (size_t i = 0; i < 2 * count && status == BJ_OK; i++) {
        const bj_message *message = &messages[i / 2];
        size_t rank = i % 2 == 0 ? message->rank_a : message->rank_b;
        if (message->bytes > BJ_MESSAGE_MOST_BYTES)
            status = bj_base_set_error(error, BJ_ERR_USAGE, "a message of %zu bytes is too long", message->bytes);
        else if (rank >= ranks)
            status = bj_base_set_error(error, BJ_ERR_USAGE, "there is no rank %zu", rank);
        else if (seen[rank])
            status = bj_base_set_error(error, BJ_ERR_USAGE, "rank %zu twice at once", rank);
        else
            seen[rank] = true;
    }
    free(seen);
    return status;
}

bj_status bj_machine_check_crowd(size_t threads, size_t cpu_count, bj_error *error) {
    if (threads == 0 || threads > BJ_CROWD_THREADS_MAX || cpu_count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%zu threads on %zu cpus", threads, cpu_count);
    return BJ_OK;
}

static int cpu_of_copies(const bj_trial *trial, size_t i) {
    for (size_t c = 0; c < trial->copy_count; c++) {
        if (i < trial->copies[c].cpu_count)
            return trial->copies[c].cpus[i];
        i -= trial->copies[c].cpu_count;
    }
    return trial->actors[i].cpu;
}

static bj_status check_actor(const bj_actor *actor, bj_error *error) {
    if (actor->act == BJ_ACT_WALK && actor->bytes < BJ_STREAM_MULTIPLE_BYTES)
        return bj_base_set_error(error, BJ_ERR_USAGE, "an actor that walks through %zu bytes", actor->bytes);
    if (actor->act != BJ_ACT_LINES)
        return BJ_OK;
    if (actor->places < 1 || actor->places > BJ_STREAM_ARRAYS_MAX)
        return bj_base_set_error(error, BJ_ERR_USAGE, "an actor of %u arrays where %u are the most", actor->places,
                                 BJ_STREAM_ARRAYS_MAX);
    if (actor->bytes / actor->places < BJ_STREAM_ARRAY_LEAST)
        return bj_base_set_error(error, BJ_ERR_USAGE, "an actor of %u arrays in %zu bytes", actor->places,
                                 actor->bytes);
    return BJ_OK;
}

bj_status bj_machine_check_trial(const bj_trial *trial, bj_error *error) {
    size_t cpus = trial->actor_count;
    for (size_t i = 0; i < trial->copy_count; i++) {
        if (trial->copies[i].cpu_count == 0)
            return bj_base_set_error(error, BJ_ERR_USAGE, "a copy on no cpu");
        cpus += trial->copies[i].cpu_count;
    }
    for (size_t i = 0; i < trial->actor_count; i++)
        BJ_TRY(check_actor(&trial->actors[i], error));
    if (cpus == 0 || (trial->copy_count == 0 && !(trial->seconds > 0)))
        return bj_base_set_error(error, BJ_ERR_USAGE, "a trial of nothing");
    for (size_t i = 0; i < cpus; i++)
        for (size_t j = 0; j < i; j++)
            if (cpu_of_copies(trial, i) == cpu_of_copies(trial, j))
                return bj_base_set_error(error, BJ_ERR_USAGE, "two copies or actors on cpu %d",
                                         cpu_of_copies(trial, i));
    return BJ_OK;
}
