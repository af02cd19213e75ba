/* How long does a thread run before the scheduler gives its cpu to another?
 *
 * Twice as many threads as there are execution contexts do nothing but read the clock; where more than 20 µs are
 * missing, somebody else had the cpu (blackjackbench-2012, 3.6). There are two on each of as many cpus as there are
 * contexts: under a quota of half of the cpus, threads on all of them would be stopped by it before a slot is over.
 * Beyond some threads more of them show only more of the same. Each round has fresh ones. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/rounds.h"
#include "probes/slot/slot_answer.h"
#include "probes/slot/slot_constants.h"

#define OVERSUBSCRIPTION 2u
#define CONTEXTS_MAX 16u
/* A round keeps so many gaps, evenly chosen; a thread cannot see more than its room. */
#define KEPT_MAX 500u
#define ROOM 4096u
/* Attribute of the gaps: what the number of threads is twice of. */
#define CONTEXTS "contexts"

typedef struct {
    unsigned rounds;
    double seconds; /* of a round: some forty slots of a thread where a slot is 4 ms */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 0.2}, {6, 0.35}, {20, 0.5}};

enum { GAPS, THROTTLED, STOLEN, CURVE_COUNT };
static const bj_curve_axes axes[CURVE_COUNT] = {
    [GAPS] = {BJ_SLOT_GAPS, "gap", "count", "length", "ms"},
    [THROTTLED] = {BJ_SLOT_THROTTLED, "threads", "count", "times_throttled", "count"},
    [STOLEN] = {BJ_SLOT_STOLEN, "threads", "count", "stolen_share", "1"},
};

typedef struct {
    bj_rounds rounds;
    bj_watch watch;
    double *gaps_ns;
    size_t counts[OVERSUBSCRIPTION * CONTEXTS_MAX];
} slot_run;

/* The most that any kind of work has; without an answer the cpus that we may use. */
static double count_contexts(const bj_measure_request *request) {
    double cpus = (double)request->machine->facts.cpu_count;
    double most = fmax(bj_kit_find_number(request->earlier, "contexts.int"),
                       fmax(bj_kit_find_number(request->earlier, "contexts.fp"),
                            bj_kit_find_number(request->earlier, "contexts.memory")));
    return fmin(most >= 1 && most < cpus ? floor(most) : cpus, CONTEXTS_MAX);
}

/* Threads come one after the other in the room; kept are gaps at even distances of all. */
static bj_status record_gaps(slot_run *run, bj_error *error) {
    size_t total = 0, seen = 0, kept = 0;
    for (size_t i = 0; i < run->watch.threads; i++)
        total += run->counts[i];
    size_t wanted = total < KEPT_MAX ? total : KEPT_MAX;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < run->watch.threads; i++) {
        for (size_t j = 0; status == BJ_OK && j < run->counts[i]; j++, seen++) {
            if (seen * wanted / total < kept)
                continue;
            kept++;
            status = bj_kit_record(&run->rounds, &axes[GAPS], (double)kept, run->gaps_ns[i * ROOM + j] * 1e-6, error);
        }
    }
    return status;
}

static bj_status measure_gaps(void *context, const uint32_t *points, size_t count, bj_error *error) {
    slot_run *run = context;
    bj_machine *machine = run->rounds.request->machine;
    bj_taken taken = {0};
    double threads = (double)run->watch.threads;
    (void)points;
    (void)count;
    bj_status status = machine->verbs->run_watch(machine, &run->watch, run->gaps_ns, run->counts, &taken, error);
    if (status == BJ_OK)
        status = record_gaps(run, error);
    if (status == BJ_OK && taken.throttled > 0)
        status = bj_kit_record(&run->rounds, &axes[THROTTLED], threads, taken.throttled, error);
    if (status == BJ_OK && taken.stolen > 0)
        status = bj_kit_record(&run->rounds, &axes[STOLEN], threads, taken.stolen, error);
    return status;
}

/* All curves, with samples or not. */
static bj_status open_curves(slot_run *run, double contexts, bj_error *error) {
    bj_curve *curve;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < CURVE_COUNT && status == BJ_OK; i++)
        status = bj_kit_open_curve(&run->rounds, &axes[i], &curve, error);
    return status == BJ_OK ? bj_kit_keep_fact(&run->rounds, BJ_SLOT_GAPS, CONTEXTS, contexts, error) : status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    slot_run run;
    double contexts = bj_kit_recall_fact(samples, BJ_SLOT_GAPS, CONTEXTS);
    if (isnan(contexts))
        contexts = count_contexts(request);
    bj_kit_open_rounds(&run.rounds, request, "slot", samples, 0);
    bj_status status = open_curves(&run, contexts, error);
    if (status != BJ_OK)
        return status;
    run.watch = (bj_watch){.cpus = request->machine->facts.cpus,
                           .cpu_count = (size_t)contexts,
                           .threads = OVERSUBSCRIPTION * (size_t)contexts,
                           /* The paper binds nobody. */
                           .free = bj_probe_is_method(request->method, BJ_SLOT_MODE),
                           .seconds = plan->seconds,
                           .least_gap_ns = BJ_SLOT_LEAST_MS * 1e6,
                           .room = ROOM};
    run.gaps_ns = malloc(run.watch.threads * ROOM * sizeof *run.gaps_ns);
    if (run.gaps_ns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the gaps of %zu threads", run.watch.threads);
    bj_round_plan rounds = {.count = plan->rounds,
                            .first_round = bj_kit_count_rounds(samples, BJ_SLOT_GAPS),
                            .point_count = 1,
                            .context = &run,
                            .measure = measure_gaps};
    status = bj_kit_run_rounds(&run.rounds, &rounds, error);
    free(run.gaps_ns);
    return status;
}

const bj_probe bj_probe_slot = {
    .name = "slot",
    .question = "How long does a thread run before the scheduler gives its cpu to another?",
    .revision = 3,
    .provides = (const bj_probe_key[]){{"scheduler.slot_ms", "ms", 0.02, 10000,
                                        "how long a thread runs before another gets its cpu", .tolerance = TOLERANCE},
                                       {0}},
    .needs = (const char *const[]){"contexts", NULL},
    .methods = (const char *const[]){BJ_SLOT_WAITING_PEAK, BJ_SLOT_MODE, NULL},
    .paper_method = BJ_SLOT_MODE,
    .cost_s = {1.3, 3, 10.5},
    .memory_bytes = {2u << 20, 2u << 20, 2u << 20},
    .measure = measure,
    .analyse = bj_slot_analyse,
    .analyze_curve = BJ_SLOT_GAPS,
    .analyze_one_column = true,
    .analyze_x_name = "gap",
    .analyze_x_unit = "count",
};
