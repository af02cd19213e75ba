/* Streams on a simulated machine: where the bytes of a pass come from, and how fast each source gives them.
 *
 * A pass visits the range line by line until one pass is like the last. Its time is the sum over the sources of bytes
 * by rate: of a level its gbs, of memory cpu_gbs, less where a domain's gbs has to be shared. Stores past the caches
 * visit none and go to memory. Apart from that reading, writing and copying cost the same, and address translation
 * nothing: the rates of a file are what streams reach, with prefetchers and all, so that prefetchers play no part in
 * the visits. */
#include <math.h>
#include <stdlib.h>

#include "machine/machine_check.h"
#include "machine/sim/cold_lap.h"
#include "machine/sim/streamer.h"

enum { CHUNK = 512, WARM_PASSES_MAX = 8 };
/* A batch on a real machine lasts as long, which is what the virtual clock is charged. */
static const double BATCH_NS = 100000;
/* Bytes a cycle of a first level that does not say: two loads of 16 bytes. */
static const double FIRST_LEVEL_BYTES = 32;

/* What the level gives one cpu: what the file says, else half of the nearer one, but no less than memory. */
static double level_gbs(const bj_sim_spec *spec, size_t level) {
    if (spec->caches[level].gbs > 0)
        return spec->caches[level].gbs;
    double usual = level == 0 ? FIRST_LEVEL_BYTES * spec->clock_ghz : level_gbs(spec, level - 1) / 2;
    return fmax(usual, spec->memory_cpu_gbs);
}

void bj_sim_visit_stream(bj_sim_machine *self, const bj_sim_streamer *who, size_t from_line, size_t count) {
    uint32_t places[CHUNK];
    uint64_t line_bytes = self->spec->caches[0].line_bytes;
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t now = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < now; i++)
            places[i] =
                (uint32_t)((who->stream->first_byte + (from_line + done + i) * line_bytes) / BJ_WALK_WORD_BYTES);
        bj_sim_visit_places(&self->memory, who->cpu, who->stream->arena->mapping, places, now, NULL);
    }
}

size_t bj_sim_count_visited_lines(const bj_sim_machine *self, const bj_sim_streamer *who) {
    uint64_t line_bytes = self->spec->caches[0].line_bytes;
    return (who->visited_bytes + line_bytes - 1) / line_bytes;
}

/* All streams make one pass, in turns where there are several; shorter ones go round until the longest is through. */
static void make_pass(bj_sim_machine *self, const bj_sim_streamer *streamers, size_t count) {
    if (count == 1) {
        bj_sim_visit_stream(self, streamers, 0, bj_sim_count_visited_lines(self, streamers));
        return;
    }
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = bj_sim_count_visited_lines(self, &streamers[i]) > most ? bj_sim_count_visited_lines(self, &streamers[i])
                                                                      : most;
    for (size_t line = 0; line < most; line++)
        for (size_t i = 0; i < count; i++)
            if (bj_sim_count_visited_lines(self, &streamers[i]) > 0)
                bj_sim_visit_stream(self, &streamers[i], line % bj_sim_count_visited_lines(self, &streamers[i]), 1);
}

/* A visit that missed all levels nearer than `level` brought a line of the nearest of those: so many bytes came from
 * there or beyond. What came from the level itself is the difference to the next. */
static void count_sources(const bj_sim_spec *spec, bj_sim_streamer *who, const bj_sim_counts *before) {
    const bj_sim_counts *after = &who->cpu->counts;
    double beyond = 0, bytes_beyond = 0, all = 0;
    for (size_t level = spec->cache_count + 1; level-- > 0;) {
        double visits = (double)(after->hits[level] - before->hits[level]);
        beyond += visits;
        all = beyond * (double)spec->caches[level > 0 ? level - 1 : 0].line_bytes;
        who->sources.from[level] = fmax(all - bytes_beyond, 0);
        bytes_beyond = fmax(all, bytes_beyond);
    }
    /* Several streams: shorter ones made more than a pass. */
    for (size_t level = 0; all > 0 && level <= spec->cache_count; level++)
        who->sources.from[level] *= (double)who->visited_bytes / all;
}

/* Whether a pass finds nothing of the last one in any cache: what streams through an instance is its own range and
 * those of the others who share it, all at one pace. */
static bool outruns_caches(const bj_sim_streamer *streamers, size_t count, size_t index) {
    const bj_sim_streamer *who = &streamers[index];
    const bj_sim_spec *spec = who->cpu->spec;
    for (size_t i = 0; who->visited_bytes > 0 && i < spec->cache_count; i++) {
        double bytes = 0;
        for (size_t j = 0; j < count; j++)
            if (streamers[j].cpu->caches[i] == who->cpu->caches[i])
                bytes += (double)streamers[j].visited_bytes;
        if (bytes < bj_sim_lines_to_wash_out(spec, i) * (double)spec->caches[i].line_bytes)
            return false;
    }
    return true;
}

static bool is_alike(const bj_sim_streamer *who, const double *last, size_t levels) {
    double changed = 0;
    for (size_t i = 0; i <= levels; i++)
        changed += fabs(who->sources.from[i] - last[i]);
    return changed <= 0.01 * (double)who->visited_bytes;
}

/* Passes until those of the first stream are alike; the caches must see the range twice before one can be. */
static void settle(bj_sim_machine *self, bj_sim_streamer *streamers, size_t count, bj_sim_counts *before) {
    bj_sim_spec *spec = self->spec;
    unsigned prefetchers = spec->prefetchers;
    spec->prefetchers = 0;
    make_pass(self, streamers, count);
    double last[BJ_SIM_MAX_CACHES + 1] = {0};
    for (unsigned pass = 0; pass < WARM_PASSES_MAX; pass++) {
        for (size_t i = 0; i < count; i++)
            before[i] = streamers[i].cpu->counts;
        make_pass(self, streamers, count);
        for (size_t i = 0; i < count; i++)
            count_sources(spec, &streamers[i], &before[i]);
        if ((pass > 0 && is_alike(streamers, last, spec->cache_count)) || (pass == 0 && self->memory.simple))
            break;
        for (size_t i = 0; i <= spec->cache_count; i++)
            last[i] = streamers[0].sources.from[i];
    }
    spec->prefetchers = prefetchers;
}

static const bj_sim_stream_sources *find_known(const bj_sim_streamer *who) {
    const bj_arena *arena = who->stream->arena;
    for (size_t i = 0; i < BJ_SIM_STREAMS_KNOWN; i++)
        if (arena->known[i].bytes == who->visited_bytes && arena->known[i].first_byte == who->stream->first_byte &&
            arena->known[i].position == who->position)
            return &arena->known[i];
    return NULL;
}

void bj_sim_find_sources(bj_sim_machine *self, bj_sim_streamer *streamers, size_t count, bj_sim_counts *before) {
    bool all_outrun = true;
    for (size_t i = 0; i < count; i++)
        all_outrun = all_outrun && outruns_caches(streamers, count, i);
    bj_arena *arena = streamers[0].stream->arena;
    /* Reading, writing and copying visit a range alike, so a stream alone is visited once a mapping. */
    bool alone = count == 1 && self->spec->neighbour == 0 && streamers[0].visited_bytes > 0;
    const bj_sim_stream_sources *known = alone ? find_known(streamers) : NULL;
    if (known != NULL) {
        streamers[0].sources = *known;
    } else if (all_outrun) {
        for (size_t i = 0; i < count; i++)
            streamers[i].sources.from[self->spec->cache_count] = (double)streamers[i].visited_bytes;
    } else {
        settle(self, streamers, count, before);
        if (alone)
            arena->known[arena->known_next++ % BJ_SIM_STREAMS_KNOWN] = streamers[0].sources;
    }
}

/* Bytes that a pass moves to or from memory. */
static double count_traffic(const bj_sim_streamer *who) {
    return who->sources.from[who->cpu->spec->cache_count] + (double)(who->stream->bytes - who->visited_bytes);
}

/* What one cpu can draw from the memory of the arena's node by itself. */
static double own_memory_gbs(const bj_sim_spec *spec, const bj_sim_streamer *who) {
    bool local = bj_sim_node_of(spec, who->position) == who->stream->arena->node;
    return local ? spec->memory_cpu_gbs
                 : spec->memory_cpu_gbs * spec->memory_latency_cycles / spec->memory_remote_latency_cycles;
}

bj_sim_demand bj_sim_demand_of_stream(const bj_sim_streamer *who) {
    return (bj_sim_demand){.position = who->position,
                           .places = bj_machine_count_arrays(who->stream),
                           .wanted_gbs = count_traffic(who) > 0 ? own_memory_gbs(who->cpu->spec, who) : 0};
}

static bj_status share_memory(bj_sim_machine *self, bj_sim_streamer *streamers, bj_sim_demand *demands, size_t count,
                              bj_error *error) {
    for (size_t i = 0; i < count; i++)
        demands[i] = bj_sim_demand_of_stream(&streamers[i]);
    BJ_TRY(bj_sim_share_domains(self->spec, demands, count, error));
    for (size_t i = 0; i < count; i++)
        streamers[i].memory_gbs = demands[i].gbs;
    return BJ_OK;
}

double bj_sim_time_pass(const bj_sim_streamer *who) {
    const bj_sim_spec *spec = who->cpu->spec;
    double ns = 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        ns += who->sources.from[i] / level_gbs(spec, i);
    double traffic = count_traffic(who);
    return traffic > 0 ? ns + traffic / who->memory_gbs : ns;
}

/* Of a copy the first half is read, through the caches whatever the stores. */
static size_t count_visited(const bj_stream *stream) {
    if (!stream->past_caches || stream->kind == BJ_STREAM_READ || stream->kind == BJ_STREAM_UPDATE)
        return stream->bytes;
    return stream->kind == BJ_STREAM_COPY ? stream->bytes / 2 : 0;
}

bj_status bj_sim_prepare_streams(bj_sim_machine *self, const bj_stream *streams, size_t count,
                                 bj_sim_streamer *streamers, bj_error *error) {
    for (size_t i = 0; i < count; i++) {
        bj_sim_streamer *who = &streamers[i];
        *who = (bj_sim_streamer){.stream = &streams[i], .visited_bytes = count_visited(&streams[i])};
        BJ_TRY(bj_sim_find_cpu(self, streams[i].cpu, &who->position, error));
        BJ_TRY(bj_machine_check_stream(&streams[i], streams[i].arena->bytes, error));
        BJ_TRY(bj_sim_get_cpu(&self->memory, who->position, &who->cpu, error));
        who->sources.position = who->position;
        who->sources.first_byte = streams[i].first_byte;
        who->sources.bytes = who->visited_bytes;
    }
    return BJ_OK;
}

/* The samples, repetition by repetition as they would come; charges the clock. */
static void take_samples(bj_sim_machine *self, const bj_sim_streamer *streamers, size_t count,
                         const bj_stream_effort *effort, double *gbs) {
    for (unsigned r = 0; r < effort->repetitions; r++) {
        double longest_ns = 0;
        for (size_t i = 0; i < count; i++) {
            double bytes = (double)streamers[i].stream->bytes;
            double ns = bj_sim_add_noise(&self->noise, bj_sim_time_pass(&streamers[i]), self->clock_s);
            gbs[i * effort->repetitions + r] = bytes / ns;
            ns *= streamers[i].stream->kind == BJ_STREAM_UPDATE ? 2 : 1; /* there and back; counted twice as well */
            double passes = fmax(ceil((double)effort->min_bytes / bytes), 1);
            longest_ns = fmax(longest_ns, fmax(ns * passes, BATCH_NS));
        }
        self->clock_s += longest_ns * 1e-9;
    }
}

bj_status bj_sim_run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                             const bj_stream_effort *effort, double *gbs, bj_error *error) {
    const bj_mix mix = {.streams = streams, .stream_count = count, .stream_effort = effort};
    bj_machine_clear_mix(&mix, NULL, gbs);
    BJ_TRY(bj_machine_check_mix(&mix, error));
    BJ_TRY(bj_machine_check_cpus(&mix, error));
    bj_sim_machine *self = machine->self;
    bj_sim_streamer *streamers = calloc(count, sizeof *streamers);
    bj_sim_counts *before = calloc(count, sizeof *before);
    bj_sim_demand *demands = calloc(count, sizeof *demands);
    bj_status status = BJ_OK;
    if (streamers == NULL || before == NULL || demands == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu streams", count);
    if (status == BJ_OK)
        status = bj_sim_prepare_streams(self, streams, count, streamers, error);
    if (status == BJ_OK) {
        bj_sim_update_neighbour(self);
        bj_sim_find_sources(self, streamers, count, before);
        status = share_memory(self, streamers, demands, count, error);
    }
    if (status == BJ_OK)
        take_samples(self, streamers, count, effort, gbs);
    free(demands);
    free(before);
    free(streamers);
    return status;
}
