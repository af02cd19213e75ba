/* How many bytes a second can one core read, write and copy, from each cache and from memory?
 *
 * Sequential passes over a buffer that lies well inside a level and well outside the nearer ones, as the cache probe
 * found them; over one of six times the last level for memory. Bytes are counted as STREAM does (McCalpin 1995): what
 * the program reads plus what it writes. Memory is written and copied with ordinary stores, and again with stores past
 * the caches. A pass is the whole buffer once, a batch of passes where one is too short to be timed; what is sustained
 * is the median of the passes of a round, and of the rounds. Rounds are interleaved, each in a fresh arena, levels and
 * kinds in random order. */
#include <math.h>

#include "probes/bandwidth/bandwidth_constants.h"
#include "probes/bandwidth/bandwidth_samples.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"
#include "stats/quantile.h"

#define RANDOM_PURPOSE 0x62616e64u
#define MIB 1048576.0

/* Of the nearer level; see bandwidth_constants.h. */
#define OVER_NEARER 4.0
/* Frames of base pages overfill some sets of a cache long before it is full. */
#define OF_LEVEL 0.5
#define OF_LEVEL_MOST 0.85
/* Of the last level, for memory. Of a copy past the caches half of the buffer goes through them: half of this is still
 * OVER_NEARER_SURE. */
#define OVER_LAST_PLANNED 6.0
#define POINTS_MAX (BJ_KNOWN_CACHES_MAX + 1)
/* Passes of a round: many of short ones, so that a disturbance spoils the few that the median leaves out. */
#define PASSES_LEAST 3.0
#define PASSES_MOST 15u
#define PASSES_BYTES (64 * MIB)

typedef struct {
    unsigned rounds;
    double seconds; /* after which no round begins, once there are enough for an interval */
    double least_memory_bytes;
} effort_plan;

/* Memory buffers begin where last levels end that the cache probe may have missed. */
static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 1.5, 64 * MIB}, {10, 3.5, 128 * MIB}, {30, 20, 256 * MIB}};

const bj_bandwidth_kind bj_bandwidth_kinds[BJ_BANDWIDTH_KINDS] = {
    {"read", BJ_STREAM_READ, false, "bandwidth.read", "bandwidth.read_best"},
    {"write", BJ_STREAM_WRITE, false, "bandwidth.write", "bandwidth.write_best"},
    {"copy", BJ_STREAM_COPY, false, "bandwidth.copy", "bandwidth.copy_best"},
    {"write_past", BJ_STREAM_WRITE, true, "bandwidth.write_past", "bandwidth.write_past_best"},
    {"copy_past", BJ_STREAM_COPY, true, "bandwidth.copy_past", "bandwidth.copy_past_best"}};
/* Every round has it. */
#define FIRST_CURVE bj_bandwidth_kinds[0].median_id

static double round_to_multiple(double bytes) {
    return floor(bytes / BJ_STREAM_MULTIPLE_BYTES) * BJ_STREAM_MULTIPLE_BYTES;
}

/* The buffer of a level (from 0); 0: none lies inside it and outside the nearer ones. */
static double choose_buffer(const bj_known_caches *caches, size_t level) {
    double nearer = bj_known_caches_find_nearer(caches, level), fits = caches->fits_bytes[level];
    double least = ceil(OVER_NEARER_LEAST * nearer / BJ_STREAM_MULTIPLE_BYTES) * BJ_STREAM_MULTIPLE_BYTES;
    double bytes = level == 0 ? OF_LEVEL * fits : fmin(OVER_NEARER * nearer, OF_LEVEL * fits);
    bytes = round_to_multiple(fmax(bytes, BJ_STREAM_MULTIPLE_BYTES));
    if (bytes >= least)
        return bytes;
    return least <= OF_LEVEL_MOST * fits ? least : 0;
}

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    double buffers[POINTS_MAX]; /* the last is memory's, and has the whole of the arena */
    size_t buffer_count;
} bandwidth_run;

static bj_status open_curve(bandwidth_run *run, const char *id, bj_curve **curve, bj_error *error) {
    const bj_curve_axes axes = {id, "working_set", "bytes", "bandwidth", "GB/s"};
    return bj_kit_open_curve(&run->rounds, &axes, curve, error);
}

static bj_status record(bandwidth_run *run, const char *id, double bytes, double gbs, bj_error *error) {
    bj_curve *curve;
    BJ_TRY(open_curve(run, id, &curve, error));
    BJ_TRY(bj_kit_keep_arena(&run->rounds, curve, error));
    return bj_data_record_sample(curve, bytes, run->rounds.round, gbs, error);
}

static bj_status record_unsupported(bandwidth_run *run, const char *id, bj_error *error) {
    bj_curve *curve;
    BJ_TRY(open_curve(run, id, &curve, error));
    return bj_kit_keep_outcome(curve, BJ_ERR_UNSUPPORTED, NULL, error);
}

/* Rounds more are of the kinds that there are samples of: whoever asks for them may have left some out. */
static bool is_wanted(const bandwidth_run *run, const bj_bandwidth_kind *kind) {
    return run->rounds.request->more_rounds == 0 || bj_data_find_curve(run->rounds.samples, kind->median_id) != NULL;
}

/* A point is one kind of stream over one buffer. */
static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    bandwidth_run *run = context;
    bj_machine *machine = run->rounds.request->machine;
    size_t buffer = *points / BJ_BANDWIDTH_KINDS;
    const bj_bandwidth_kind *kind = &bj_bandwidth_kinds[*points % BJ_BANDWIDTH_KINDS];
    double bytes = run->buffers[buffer], gbs[PASSES_MOST];
    (void)count;
    if (bytes > (double)run->rounds.arena_bytes || (kind->past_caches && buffer + 1 < run->buffer_count) ||
        !is_wanted(run, kind))
        return BJ_OK;
    bj_stream stream = {.arena = run->rounds.arena,
                        .cpu = run->rounds.request->cpu,
                        .kind = kind->stream,
                        .past_caches = kind->past_caches,
                        .first_byte = bj_kit_choose_first_byte(&run->rounds, bytes),
                        .bytes = (size_t)bytes};
    bj_stream_effort effort = {.repetitions = (unsigned)fmin(fmax(PASSES_BYTES / bytes, PASSES_LEAST), PASSES_MOST)};
    bj_status status = machine->verbs->run_streams(machine, &stream, 1, &effort, gbs, error);
    if (status == BJ_ERR_UNSUPPORTED && kind->past_caches)
        return record_unsupported(run, kind->median_id, error);
    BJ_TRY(status);
    BJ_TRY(record(run, kind->median_id, bytes, bj_stats_median(gbs, effort.repetitions), error));
    return record(run, kind->best_id, bytes, bj_stats_quantile(gbs, effort.repetitions, 1), error);
}

/* Later rounds must have the same buffers: an arena that is no longer granted ends them. */
static bj_status take_arena(void *context, bj_error *error) {
    bandwidth_run *run = context;
    (void)error;
    run->buffers[run->buffer_count - 1] = round_to_multiple((double)run->rounds.arena_bytes);
    run->plan.least_bytes = run->rounds.arena_bytes;
    return BJ_OK;
}

static bool plan_buffers(bandwidth_run *run) {
    const bj_measure_request *request = run->rounds.request;
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    if (caches.count == 0)
        return false;
    for (size_t i = 0; i < caches.count; i++) {
        double bytes = caches.fits_bytes[i] > 0 ? choose_buffer(&caches, i) : 0;
        if (bytes > 0)
            run->buffers[run->buffer_count++] = bytes;
    }
    /* Arenas are cut to whole huge pages. */
    double whole = fmax((double)request->machine->facts.huge_bytes, MIB);
    double wanted =
        fmax(OVER_LAST_PLANNED * bj_known_caches_largest(&caches), plans[request->effort].least_memory_bytes);
    wanted = bj_kit_limit_arena(request, ceil(wanted / whole) * whole);
    bj_kit_plan_arena(&run->rounds, (size_t)wanted, 1);
    run->buffers[run->buffer_count++] = round_to_multiple((double)run->rounds.arena_bytes);
    run->plan.least_bytes = (size_t)run->buffers[0];
    return true;
}

/* Those of the rounds that there are, with their pages, whatever is known of the caches by now. False: there are none,
 * they make no sense (they may come from a file), or they are more than may be used. */
static bool recall_buffers(bandwidth_run *run) {
    const bj_curve *curve = bj_data_find_curve(run->rounds.samples, FIRST_CURVE);
    if (curve == NULL || curve->x_count == 0 || curve->x_count > POINTS_MAX ||
        !bj_kit_recall_arena(&run->rounds, curve))
        return false;
    for (; run->buffer_count < curve->x_count; run->buffer_count++) {
        double bytes = curve->x[run->buffer_count];
        if (!(bytes > 0) || bytes > (double)run->rounds.request->memory_bytes || bytes != round_to_multiple(bytes))
            return false;
        run->buffers[run->buffer_count] = bytes;
    }
    run->plan.least_bytes = run->rounds.arena_bytes;
    return run->buffers[run->buffer_count - 1] <= (double)run->rounds.arena_bytes;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    bandwidth_run run = {.plan = {.count = plan->rounds,
                                  .first_round = bj_kit_count_rounds(samples, FIRST_CURVE),
                                  .seconds = plan->seconds,
                                  .context = &run,
                                  .prepare = take_arena,
                                  .measure = measure_point}};
    bj_kit_open_rounds(&run.rounds, request, "bandwidth", samples, RANDOM_PURPOSE);
    if (!(request->more_rounds > 0 ? recall_buffers(&run) : plan_buffers(&run)))
        return BJ_OK;
    run.plan.point_count = run.buffer_count * BJ_BANDWIDTH_KINDS;
    bj_status status = bj_kit_run_rounds(&run.rounds, &run.plan, error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

const bj_probe bj_probe_bandwidth = {
    .name = "bandwidth",
    .question = "How fast can one core read, write and copy, from each cache and from memory?",
    .revision = 5,
    .provides =
        (const bj_probe_key[]){
            {"cache.L<n>.read_gbs", "GB/s", 0.001, 1e5, "bytes that one core reads from the level, sustained",
             .tolerance = TOLERANCE},
            {"cache.L<n>.write_gbs", "GB/s", 0.001, 1e5, "bytes that it writes there", .tolerance = TOLERANCE},
            {"cache.L<n>.copy_gbs", "GB/s", 0.001, 1e5, "bytes read plus written of a copy inside the level",
             .tolerance = TOLERANCE},
            {"cache.L<n>.read_best_gbs", "GB/s", 0.001, 1e5, "the best passes of reading", .tolerance = TOLERANCE},
            {"cache.L<n>.write_best_gbs", "GB/s", 0.001, 1e5, "the best passes of writing", .tolerance = TOLERANCE},
            {"cache.L<n>.copy_best_gbs", "GB/s", 0.001, 1e5, "the best passes of copying", .tolerance = TOLERANCE},
            {"memory.read_gbs", "GB/s", 0.001, 1e5, "bytes that one core reads from memory, sustained",
             .tolerance = TOLERANCE},
            {"memory.write_gbs", "GB/s", 0.001, 1e5,
             "bytes that it writes there with ordinary stores; what is fetched before is not counted",
             .tolerance = TOLERANCE},
            {"memory.copy_gbs", "GB/s", 0.001, 1e5, "bytes read plus written of a copy in memory, ordinary stores",
             .tolerance = TOLERANCE},
            {"memory.write_past_gbs", "GB/s", 0.001, 1e5, "bytes that it writes there with stores past the caches",
             .tolerance = TOLERANCE},
            {"memory.copy_past_gbs", "GB/s", 0.001, 1e5, "the same of a copy, read plus written",
             .tolerance = TOLERANCE},
            {"memory.read_best_gbs", "GB/s", 0.001, 1e5, "the best passes of reading", .tolerance = TOLERANCE},
            {"memory.write_best_gbs", "GB/s", 0.001, 1e5, "the best passes of writing", .tolerance = TOLERANCE},
            {"memory.copy_best_gbs", "GB/s", 0.001, 1e5, "the best passes of copying", .tolerance = TOLERANCE},
            {"memory.write_past_best_gbs", "GB/s", 0.001, 1e5, "the best passes of writing past the caches",
             .tolerance = TOLERANCE},
            {"memory.copy_past_best_gbs", "GB/s", 0.001, 1e5, "the best passes of copying past the caches",
             .tolerance = TOLERANCE},
            {0}},
    .needs = (const char *const[]){"cache", NULL},
    .methods = (const char *const[]){"stream", NULL},
    .cost_s = {1, 3, 15},
    .memory_bytes = {256u << 20, 512u << 20, 2048u << 20},
    .measure = measure,
    .analyse = bj_bandwidth_analyse,
};
