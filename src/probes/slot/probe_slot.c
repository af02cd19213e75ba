/* How long does a thread run before the scheduler gives its cpu to another?
 *
 * Twice as many threads as there are execution contexts do nothing but read the clock; where more than 20 µs are
 * missing, somebody else had the cpu (blackjackbench-2012, 3.6). There are two on each of as many cpus as there are
 * contexts: under a quota of half of the cpus, threads on all of them would be stopped by it before a slot is over.
 * Beyond some threads more of them show only more of the same. Each round has fresh ones. */
#include <math.h>
#include <stdlib.h>

#include "probes/probe.h"
#include "probes/slot/slot_answer.h"

#define OVERSUBSCRIPTION 2u
#define CONTEXTS_MAX 16u
/* A round keeps so many gaps, evenly chosen; a thread cannot see more than its room. */
#define KEPT_MAX 500u
#define ROOM 4096u

typedef struct {
    unsigned rounds;
    double seconds; /* of a round: some forty slots of a thread where a slot is 4 ms */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 0.2}, {8, 0.35}, {20, 0.5}};

typedef struct {
    const bj_measure_request *request;
    bj_watch watch;
    size_t gaps_curve, throttled_curve, stolen_curve; /* places in samples */
    double *gaps_ns;
    size_t counts[OVERSUBSCRIPTION * CONTEXTS_MAX];
} slot_run;

/* The most that any kind of work has; without an answer the cpus that we may use. */
static size_t count_contexts(const bj_measure_request *request) {
    static const char *const keys[] = {"contexts.int", "contexts.fp", "contexts.memory"};
    size_t cpus = request->machine->facts.cpu_count;
    double most = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        double contexts;
        if (bj_data_get_number(request->earlier, keys[i], &contexts))
            most = fmax(most, contexts);
    }
    size_t contexts = most >= 1 && most < (double)cpus ? (size_t)most : cpus;
    return contexts < CONTEXTS_MAX ? contexts : CONTEXTS_MAX;
}

/* Threads come one after the other in the room; kept are gaps at even distances of all. */
static bj_status record_gaps(const slot_run *run, size_t round, bj_curve *curve, bj_error *error) {
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
            status = bj_data_record_sample(curve, (double)kept, round, run->gaps_ns[i * ROOM + j] * 1e-6, error);
        }
    }
    return status;
}

static bj_status measure_round(slot_run *run, bj_curves *samples, size_t round, bj_error *error) {
    bj_machine *machine = run->request->machine;
    bj_taken taken = {0};
    double threads = (double)run->watch.threads;
    bj_status status = machine->verbs->run_watch(machine, &run->watch, run->gaps_ns, run->counts, &taken, error);
    if (status == BJ_OK)
        status = record_gaps(run, round, &samples->items[run->gaps_curve], error);
    if (status == BJ_OK && taken.throttled > 0)
        status = bj_data_record_sample(&samples->items[run->throttled_curve], threads, round, taken.throttled, error);
    if (status == BJ_OK && taken.stolen > 0)
        status = bj_data_record_sample(&samples->items[run->stolen_curve], threads, round, taken.stolen, error);
    return status;
}

static bj_status add_curve(bj_curves *samples, const char *id, const char *x, const char *y, const char *y_unit,
                           size_t *place, bj_error *error) {
    bj_curve *curve;
    bj_status status = bj_data_add_curve(samples, id, "slot", &curve, error);
    if (status != BJ_OK)
        return status;
    *place = (size_t)(curve - samples->items);
    bj_data_name_axes(curve, x, "count", y, y_unit);
    return BJ_OK;
}

static bj_status add_curves(slot_run *run, bj_curves *samples, bj_error *error) {
    bj_status status = add_curve(samples, BJ_SLOT_GAPS, "gap", "length", "ms", &run->gaps_curve, error);
    if (status == BJ_OK)
        status =
            add_curve(samples, BJ_SLOT_THROTTLED, "threads", "times_throttled", "count", &run->throttled_curve, error);
    if (status == BJ_OK)
        status = add_curve(samples, BJ_SLOT_STOLEN, "threads", "stolen_share", "1", &run->stolen_curve, error);
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    bj_machine *machine = request->machine;
    size_t contexts = count_contexts(request);
    slot_run run = {.request = request,
                    .watch = {.cpus = machine->facts.cpus,
                              .cpu_count = contexts,
                              .threads = OVERSUBSCRIPTION * contexts,
                              .seconds = plan->seconds,
                              .least_gap_ns = BJ_SLOT_LEAST_MS * 1e6,
                              .room = ROOM}};
    bj_status status = add_curves(&run, samples, error);
    if (status != BJ_OK)
        return status;
    run.gaps_ns = malloc(run.watch.threads * ROOM * sizeof *run.gaps_ns);
    if (run.gaps_ns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the gaps of %zu threads", run.watch.threads);
    for (size_t round = 0; status == BJ_OK && round < plan->rounds; round++) {
        status = measure_round(&run, samples, round, error);
        if (status == BJ_OK)
            status = bj_probe_report(request, (round + 1.0) / plan->rounds, error);
        if (bj_probe_is_late(request))
            break;
    }
    free(run.gaps_ns);
    return status;
}

const bj_probe bj_probe_slot = {
    .name = "slot",
    .question = "How long does a thread run before the scheduler gives its cpu to another?",
    .revision = BJ_SLOT_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"scheduler.slot_ms", "ms", 0.02, 10000, "how long a thread runs before another gets its cpu"}, {0}},
    .needs = (const char *const[]){"contexts", NULL},
    .methods = (const char *const[]){BJ_SLOT_WAITING_PEAK, BJ_SLOT_MODE, NULL},
    .cost_s = {1.3, 3, 10.5},
    .memory_bytes = {2u << 20, 2u << 20, 2u << 20},
    .measure = measure,
    .analyse = bj_slot_analyse,
    .analyze_curve = BJ_SLOT_GAPS,
    .analyze_one_column = true,
    .analyze_x_name = "gap",
    .analyze_x_unit = "count",
};
