/* Through how many arrays can a loop go at once before memory gives less?
 *
 * A memory controller keeps a few rows open; a line of another costs time (multicore paper, 3.2.3). A loop over n
 * arrays on every cpu goes through n places for each. So: one cpu, then all at once, each updates 1 to 64 arrays of its
 * own side by side, a line of each in turn, in a range well beyond the caches; the total of the range is the same for
 * all n. Points in random order, a fresh arena for each. Prefetchers that follow only so many streams look the same
 * from here, and so they should: it is the number that a program can use. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/structured.h"
#include "probes/kit/together.h"
#include "probes/streams/streams_constants.h"
#include "stats/quantile.h"

#define RANDOM_PURPOSE 0x7374726du
#define MIB 1048576.0
/* Of the last cache, as of contention: what is found there again is little. All cpus may share it, so that their
 * ranges together are that much, but no cpu has less than the least. */
#define OVER_LAST 4.0
#define LEAST_BYTES (8 * MIB)
#define MOST_BYTES (256 * MIB)
#define REPETITIONS 3u

static const unsigned counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
#define COUNTS (sizeof counts / sizeof counts[0])

static const struct {
    unsigned rounds;
    double seconds;
} plans[BJ_EFFORT_COUNT] = {{6, 1.5}, {8, 5}, {20, 30}};

typedef struct {
    bj_rounds rounds;
    bj_partaker *partakers;
    double *gbs;
    double largest_bytes; /* cache */
} streams_run;

static bj_status record(streams_run *run, const char *id, size_t cpus, double arrays, double gbs, bj_error *error) {
    const bj_curve_axes axes = {id, "arrays", "", "bandwidth", "GB/s"};
    bj_curve *curve;
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, STREAMS_CPUS, (double)cpus, error));
    return bj_data_record_sample(curve, arrays, run->rounds.round, gbs, error);
}

/* A point is a number of arrays on one cpu or on all. What is recorded is the rate of one cpu. */
static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    streams_run *run = context;
    const bj_measure_request *request = run->rounds.request;
    const bj_machine_facts *facts = &request->machine->facts;
    bool all = *points >= COUNTS;
    unsigned arrays = counts[*points % COUNTS];
    size_t cpus = all ? facts->cpu_count : 1;
    (void)count;
    double bytes = fmin(fmax(OVER_LAST * run->largest_bytes / (double)cpus, LEAST_BYTES), MOST_BYTES);
    for (size_t i = 0; i < cpus; i++) {
        int cpu = all ? facts->cpus[i] : request->cpu;
        run->partakers[i] =
            (bj_partaker){cpu, cpu, (size_t)(ceil(bytes / BJ_STREAM_MULTIPLE_BYTES) * BJ_STREAM_MULTIPLE_BYTES)};
    }
    if (!bj_kit_choose_pages_for(&run->rounds, run->partakers, cpus))
        return BJ_OK;
    bj_party party = {.streamers = run->partakers,
                      .stream_count = cpus,
                      .kind = BJ_STREAM_UPDATE,
                      .arrays = arrays,
                      .repetitions = REPETITIONS};
    BJ_TRY(bj_kit_run_together(&run->rounds, &party, NULL, run->gbs, error));
    return record(run, all ? STREAMS_ALL : STREAMS_ONE, cpus, arrays, bj_stats_median(run->gbs, cpus), error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    size_t cpus = request->machine->facts.cpu_count;
    bj_known_caches caches;
    streams_run run = {.partakers = calloc(cpus + 1, sizeof(bj_partaker)), .gbs = calloc(cpus + 1, sizeof(double))};
    bj_round_plan plan = {.count = plans[request->effort].rounds,
                          .first_round = bj_kit_count_rounds(samples, STREAMS_ONE),
                          .seconds = plans[request->effort].seconds,
                          .point_count = cpus > 1 ? 2 * COUNTS : COUNTS,
                          .context = &run,
                          .measure = measure_point};
    bj_status status = BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "streams", samples, RANDOM_PURPOSE);
    bj_known_caches_read(request->earlier, &caches);
    run.largest_bytes = bj_known_caches_largest(&caches);
    if (run.partakers == NULL || run.gbs == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", cpus);
    else if (caches.count > 0)
        status = bj_kit_run_rounds(&run.rounds, &plan, error);
    bj_kit_close_rounds(&run.rounds);
    free(run.partakers);
    free(run.gbs);
    return status;
}

typedef struct {
    const bj_curve *curve;
    double *scratch;
} useful_context;

/* The most arrays up to which every number gives nearly the best rate of those up to it. */
static double find_useful(void *context, const size_t *index, size_t count) {
    const useful_context *c = context;
    double best = 0, useful = NAN;
    for (size_t i = 0; i < c->curve->x_count; i++) {
        double gbs = bj_kit_quantile_of_point(c->curve, i, index, count, 0.5, c->scratch);
        if (isnan(gbs))
            continue;
        best = fmax(best, gbs);
        if (gbs < USEFUL_SHARE * best)
            break;
        useful = c->curve->x[i];
    }
    return useful;
}

static bj_status write_curve(bj_structured *value, const bj_curve *curve, uint64_t seed, bj_confidence *confidence,
                             bj_error *error) {
    useful_context context = {curve, malloc((curve->round_count + 1) * sizeof(double))};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    bj_estimate_request wanted = {
        .rounds = curve->round_count, .seed = seed, .statistic = find_useful, .context = &context, .curve = curve};
    bj_estimate estimate;
    bj_status status = bj_kit_estimate(&wanted, &estimate, error);
    double cpus = NAN;
    bj_data_get_attribute_number(curve, STREAMS_CPUS, &cpus);
    bj_structured_open(value, NULL, '{');
    bj_structured_add_number(value, "cpus", cpus);
    bj_structured_open(value, "gbs", '[');
    for (size_t i = 0; status == BJ_OK && i < curve->x_count; i++) {
        double gbs = bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, 0.5, context.scratch);
        bj_structured_open(value, NULL, '[');
        bj_structured_add_number(value, NULL, curve->x[i]);
        bj_structured_add_number(value, NULL, gbs);
        bj_structured_close(value, ']');
    }
    bj_structured_close(value, ']');
    bj_structured_add_number(value, "useful_streams", estimate.value);
    bj_structured_add_flag(value, "limited", estimate.value < curve->x[curve->x_count - 1]);
    bj_structured_close(value, '}');
    *confidence = bj_kit_least(*confidence, bj_kit_judge(&estimate, BJ_CONFIDENCE_HIGH));
    free(context.scratch);
    return status;
}

static bj_status analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    static const char *const ids[] = {STREAMS_ONE, STREAMS_ALL};
    bj_answer *answer;
    bj_structured value = {0};
    bj_confidence confidence = BJ_CONFIDENCE_HIGH;
    bj_status status = BJ_OK;
    BJ_TRY(bj_data_put_answer(answers, "memory.streams", "GB/s", &answer, error));
    bj_structured_open(&value, NULL, '[');
    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && status == BJ_OK; i++) {
        const bj_curve *curve = bj_data_find_curve(samples, ids[i]);
        if (curve == NULL || curve->x_count == 0)
            continue;
        status = write_curve(&value, curve, request->seed, &confidence, error);
        bj_data_cite_curve(answer, curve->id);
    }
    bj_structured_close(&value, ']');
    bj_status finished = bj_structured_finish(&value, answer, status == BJ_OK ? error : NULL);
    status = status == BJ_OK ? finished : status;
    if (status == BJ_OK && answer->evidence_count == 0) {
        free(answer->structured);
        answer->structured = NULL;
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no cache size to go beyond, or no memory for the arrays");
    } else {
        answer->confidence = confidence;
    }
    return status;
}

const bj_probe bj_probe_streams = {
    .name = "streams",
    .question = "Through how many arrays can a loop go at once before memory gives less?",
    .revision = 1,
    .provides =
        (const bj_probe_key[]){{"memory.streams", "GB/s", 0, 0,
                                "rate of one cpu by number of arrays read and written at once, for one cpu and for "
                                "all, and how many are of use",
                                .tolerance = 0},
                               {0}},
    .needs = (const char *const[]){"cache", NULL},
    .methods = (const char *const[]){"updates", NULL},
    .cost_s = {2, 6, 30},
    .memory_bytes = {512u << 20, 512u << 20, 512u << 20},
    .measure = measure,
    .analyse = analyse,
};
