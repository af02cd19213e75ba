/* How many bytes a second can one core read, write and copy, from each cache and from memory?
 *
 * Sequential passes over a buffer that lies well inside a level and well outside the nearer ones, as the cache probe
 * found them; over one of four times the last level for memory. Bytes are counted as STREAM does (McCalpin 1995): what
 * the program reads plus what it writes. Memory is written and copied with stores through the caches and past them, and
 * the faster counts: what is too large for any cache is rather moved so (C libraries' memcpy does). Rounds are
 * interleaved, each in a fresh arena, levels and kinds in random order. One idle core: disturbance only adds time, so
 * high quantiles of the rounds. */
#include <math.h>

#include "probes/bandwidth/bandwidth_constants.h"
#include "probes/kit/estimate.h"
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
#define POINTS_MAX (BJ_KNOWN_CACHES_MAX + 1)
#define REPETITIONS 3u
/* A pass over more than this is timed in parts, a batch each: one disturbance spoils one part. They are not the best of
 * a few then but many, some of which may be cached yet: the upper fifth. */
#define PART_BYTES (8 * MIB)
#define PARTS_MAX 32u
#define HIGH_OF_PARTS 0.8

typedef struct {
    unsigned rounds;
    double seconds; /* after which no round begins, once there are enough for an interval */
    double least_memory_bytes;
} effort_plan;

/* Memory buffers begin where last levels end that the cache probe may have missed. */
static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 1.5, 64 * MIB}, {10, 3.5, 128 * MIB}, {30, 20, 256 * MIB}};

static const struct {
    bj_stream_kind kind;
    const char *name;
    bj_curve_axes axes;
} kinds[] = {{BJ_STREAM_READ, "read", {"bandwidth.read", "working_set", "bytes", "bandwidth", "GB/s"}},
             {BJ_STREAM_WRITE, "write", {"bandwidth.write", "working_set", "bytes", "bandwidth", "GB/s"}},
             {BJ_STREAM_COPY, "copy", {"bandwidth.copy", "working_set", "bytes", "bandwidth", "GB/s"}}};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static double round_to_multiple(double bytes) {
    return floor(bytes / BJ_STREAM_MULTIPLE_BYTES) * BJ_STREAM_MULTIPLE_BYTES;
}

/* The most that a level nearer than this one (from 0) may hold. */
static double find_nearer(const bj_known_caches *caches, size_t level) {
    double nearer = 0;
    for (size_t i = 0; i < level; i++)
        nearer = fmax(nearer, caches->holds_bytes[i]);
    return nearer;
}

/* The buffer of a level (from 0); 0: none lies inside it and outside the nearer ones. */
static double choose_buffer(const bj_known_caches *caches, size_t level) {
    double nearer = find_nearer(caches, level), fits = caches->fits_bytes[level];
    double least = ceil(OVER_NEARER_LEAST * nearer / BJ_STREAM_MULTIPLE_BYTES) * BJ_STREAM_MULTIPLE_BYTES;
    double bytes = level == 0 ? OF_LEVEL * fits : fmin(OVER_NEARER * nearer, OF_LEVEL * fits);
    bytes = round_to_multiple(fmax(bytes, BJ_STREAM_MULTIPLE_BYTES));
    if (bytes >= least)
        return bytes;
    return least <= OF_LEVEL_MOST * fits ? least : 0;
}

typedef struct {
    bj_rounds rounds;
    double buffers[POINTS_MAX];
    size_t buffer_count;
    bool only_through_caches; /* no other stores are known */
} bandwidth_run;

static bj_status run_stream(bandwidth_run *run, const bj_stream *stream, double *high_gbs, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    double bytes = (double)stream->bytes;
    bj_stream_effort effort = {.repetitions = REPETITIONS};
    if (bytes > REPETITIONS * PART_BYTES) {
        double part = fmax(PART_BYTES, bytes / PARTS_MAX);
        effort = (bj_stream_effort){.repetitions = (unsigned)(bytes / part), .min_bytes = (size_t)part};
    }
    double gbs[PARTS_MAX];
    BJ_TRY(machine->verbs->run_streams(machine, stream, 1, &effort, gbs, error));
    *high_gbs = bj_stats_quantile(gbs, effort.repetitions, effort.min_bytes > 0 ? HIGH_OF_PARTS : 1);
    return BJ_OK;
}

/* A point is one kind of stream over one buffer. */
static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    bandwidth_run *run = context;
    size_t buffer = *points / KIND_COUNT, kind = *points % KIND_COUNT;
    double bytes = run->buffers[buffer], high = 0, past = 0;
    (void)count;
    if (bytes > (double)run->rounds.arena_bytes)
        return BJ_OK;
    bj_stream stream = {.arena = run->rounds.arena,
                        .cpu = run->rounds.request->cpu,
                        .kind = kinds[kind].kind,
                        .first_byte = bj_kit_choose_first_byte(&run->rounds, bytes),
                        .bytes = (size_t)bytes};
    bj_status status = run_stream(run, &stream, &high, error);
    /* What does not fit any cache is stored past them by whoever knows that: of the two ways, the faster. */
    stream.past_caches = buffer + 1 == run->buffer_count && stream.kind != BJ_STREAM_READ && !run->only_through_caches;
    if (status == BJ_OK && stream.past_caches) {
        status = run_stream(run, &stream, &past, error);
        run->only_through_caches = status == BJ_ERR_UNSUPPORTED;
        if (status == BJ_ERR_UNSUPPORTED)
            status = BJ_OK;
        high = fmax(high, past);
    }
    return status == BJ_OK ? bj_kit_record(&run->rounds, &kinds[kind].axes, bytes, high, error) : status;
}

/* The last buffer is memory's, and has the whole of the arena. */
static bj_status take_arena(void *context, bj_error *error) {
    bandwidth_run *run = context;
    (void)error;
    run->buffers[run->buffer_count - 1] = round_to_multiple((double)run->rounds.arena_bytes);
    return BJ_OK;
}

static void plan_buffers(bandwidth_run *run, const effort_plan *plan, const bj_known_caches *caches) {
    const bj_measure_request *request = run->rounds.request;
    for (size_t i = 0; i < caches->count; i++) {
        double bytes = caches->fits_bytes[i] > 0 ? choose_buffer(caches, i) : 0;
        if (bytes > 0)
            run->buffers[run->buffer_count++] = bytes;
    }
    /* Arenas are cut to whole huge pages. */
    double whole = fmax((double)request->machine->facts.huge_bytes, MIB);
    double wanted = fmax(OVER_LAST * bj_known_caches_largest(caches), plan->least_memory_bytes);
    wanted = bj_kit_limit_arena(request, ceil(wanted / whole) * whole);
    bj_kit_plan_arena(&run->rounds, (size_t)wanted, REPETITIONS);
    run->buffers[run->buffer_count++] = round_to_multiple((double)run->rounds.arena_bytes);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    bj_known_caches caches;
    bandwidth_run run = {.buffer_count = 0};
    bj_known_caches_read(request->earlier, &caches);
    if (caches.count == 0)
        return BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "bandwidth", samples, RANDOM_PURPOSE);
    plan_buffers(&run, plan, &caches);
    bj_round_plan rounds = {.count = plan->rounds,
                            .first_round = bj_kit_count_rounds(samples, kinds[0].axes.id),
                            .seconds = plan->seconds,
                            .least_bytes = (size_t)run.buffers[0],
                            .point_count = run.buffer_count * KIND_COUNT,
                            .context = &run,
                            .prepare = take_arena,
                            .measure = measure_point};
    bj_status status = bj_kit_run_rounds(&run.rounds, &rounds, error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

static bj_status fill_answer(bj_answer *answer, const bj_curve *curve, size_t point, bj_confidence most,
                             const bj_analyse_request *request, bj_error *error) {
    bj_estimate rate;
    BJ_TRY(bj_kit_estimate_point(curve, point, HIGH_QUANTILE, TOLERANCE, request->seed, &rate, error));
    bool stable = rate.value <= STABLE_SCATTER * rate.single[BJ_SINGLE_LOW];
    if (!stable)
        rate.interval[0] = rate.single[BJ_SINGLE_LEAST];
    bj_kit_widen(&rate, 0, SYSTEMATIC);
    bj_kit_fill_answer(answer, &rate, most);
    if (!stable)
        bj_kit_call_unstable(answer, "rounds gave %.3g to %.3g GB/s", rate.single[BJ_SINGLE_LEAST],
                             rate.single[BJ_SINGLE_GREATEST]);
    bj_data_cite_curve(answer, curve->id);
    return BJ_OK;
}

/* How sure a buffer lets us be that its bytes came from the level and not from a nearer one. */
static bj_confidence trust_buffer(double bytes, const bj_known_caches *caches, size_t level) {
    double nearer = find_nearer(caches, level);
    if (level == caches->count)
        return bytes >= OVER_LAST * CUT * nearer ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_LOW;
    return bytes >= OVER_NEARER_SURE * nearer ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
}

/* The share of a buffer that a pass leaves in a nearer level which replaces at random, the worst case: a line survives
 * the misses of a pass with probability h = exp(-(1 - h) times), the root below 1. */
static double survivors(double times) {
    double share = 0;
    for (int i = 0; i < 100; i++)
        share = exp(-(1 - share) * times);
    return share;
}

/* Where the buffer is not far beyond the nearer level, some of it may have come from there: how slow the rest was. */
static void open_interval(bj_answer *answer, double bytes, const bj_known_caches *caches, size_t level,
                          double nearer_gbs) {
    double nearer = find_nearer(caches, level);
    if (nearer == 0 || bytes >= OVER_NEARER_SURE * nearer || !(nearer_gbs > answer->value))
        return;
    double share = survivors(bytes / nearer);
    answer->interval[0] = fmin(answer->interval[0], (1 - share) / (1 / answer->value - share / nearer_gbs));
}

/* The point measured in the level (from 0): inside it, outside the nearer ones; curve->x_count: none. */
static size_t find_point(const bj_curve *curve, const bj_known_caches *caches, size_t level) {
    double nearer = find_nearer(caches, level);
    size_t point = 0;
    while (point < curve->x_count && curve->x[point] < OVER_NEARER_LEAST * CUT * nearer)
        point++;
    if (level < caches->count && (point == curve->x_count || curve->x[point] > caches->fits_bytes[level]))
        return curve->x_count;
    /* Memory: the largest that there is. */
    return level < caches->count || point == curve->x_count ? point : curve->x_count - 1;
}

static bj_status answer_level(const bj_curve *curve, const char *kind, const bj_known_caches *caches, size_t level,
                              const bj_analyse_request *request, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    bool memory = level == caches->count;
    bj_status status = memory
                           ? bj_kit_put_answer(answers, "GB/s", &answer, error, "memory.%s_gbs", kind)
                           : bj_kit_put_answer(answers, "GB/s", &answer, error, "cache.L%zu.%s_gbs", level + 1, kind);
    if (status != BJ_OK)
        return status;
    size_t point = curve == NULL || caches->count == 0 ? 0 : find_point(curve, caches, level);
    if (curve == NULL || caches->count == 0 || point == curve->x_count) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      caches->count == 0 ? "the caches are not known"
                      : memory           ? "no buffer well beyond the last cache was allowed"
                                         : "no buffer lies inside this level and well outside the nearer one");
        return BJ_OK;
    }
    status = fill_answer(answer, curve, point, trust_buffer(curve->x[point], caches, level), request, error);
    if (status == BJ_OK && level > 0)
        open_interval(answer, curve->x[point], caches, level,
                      bj_kit_find_number(answers, "cache.L%zu.%s_gbs", level, kind));
    return status;
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    bj_status status = BJ_OK;
    for (size_t level = 0; status == BJ_OK && level <= caches.count; level++)
        for (size_t i = 0; status == BJ_OK && i < KIND_COUNT; i++)
            status = answer_level(bj_data_find_curve(samples, kinds[i].axes.id), kinds[i].name, &caches, level, request,
                                  answers, error);
    return status;
}

const bj_probe bj_probe_bandwidth = {
    .name = "bandwidth",
    .question = "How fast can one core read, write and copy, from each cache and from memory?",
    .revision = 4,
    .provides =
        (const bj_probe_key[]){
            {"cache.L<n>.read_gbs", "GB/s", 0.001, 1e5, "bytes that one core reads from the level",
             .tolerance = TOLERANCE},
            {"cache.L<n>.write_gbs", "GB/s", 0.001, 1e5, "bytes that it writes there", .tolerance = TOLERANCE},
            {"cache.L<n>.copy_gbs", "GB/s", 0.001, 1e5, "bytes read plus written of a copy inside the level",
             .tolerance = TOLERANCE},
            {"memory.read_gbs", "GB/s", 0.001, 1e5, "bytes that one core reads from memory", .tolerance = TOLERANCE},
            {"memory.write_gbs", "GB/s", 0.001, 1e5,
             "bytes that it writes there; what is fetched before is not counted", .tolerance = TOLERANCE},
            {"memory.copy_gbs", "GB/s", 0.001, 1e5, "bytes read plus written of a copy in memory",
             .tolerance = TOLERANCE},
            {0}},
    .needs = (const char *const[]){"cache", NULL},
    .methods = (const char *const[]){"stream", NULL},
    .cost_s = {1, 3, 15},
    .memory_bytes = {256u << 20, 512u << 20, 2048u << 20},
    .measure = measure,
    .analyse = analyse,
};
