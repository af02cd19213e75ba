/* How many threads can work at once without waiting for each other: integer, floating-point, memory work?
 *
 * M threads that nobody pins do the same work; beyond as many as there are execution contexts, the last one ends later
 * (blackjackbench-2012, 3.4). Each point has fresh threads, which work for a while before they start together, since
 * the scheduler may begin with two on one cpu; and every round takes the points anew, since it may leave them there.
 * The first round raises M until the time has doubled; the next ones go over the same points in random order, or over
 * those near the first delay where there are many. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "probes/contexts/contexts_answer.h"
#include "probes/probe.h"
#include "stats/bootstrap.h"

#define RANDOM_PURPOSE 0x63747874u
/* M by M up to here, then by a quarter: a delay between two points is narrowed down later. */
#define SINGLE_STEPS_MAX 8u
#define STEP_FACTOR 1.25
/* Where the time has passed twice the least, enough is seen (the paper: 2 or 3), unless the point before it was still
 * far from that: then it may be a disturbance. */
#define PASSED 2.2
#define NEARLY_PASSED 1.4
/* No machine has more; where threads cannot wait for each other at all, somebody has to stop. */
#define THREADS_MAX 4096u
#define POINTS_MAX 64u
/* Somebody's table may be of a larger machine. */
#define CONTEXTS_MAX 65536u
/* Rounds take all points of a small machine. */
#define FEW_POINTS 8u
#define FIRST_STEPS 100000u
#define STEPS_MAX 1e13

typedef struct {
    unsigned rounds;
    double alone_ns; /* work of a thread: several slots long, so that waiting can be shared out */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 15e6}, {8, 25e6}, {20, 50e6}};

/* A quota lets threads run until the budget of its period is spent, and a period is a tenth of a second where nobody
 * has set it: shorter work would often end before. So much longer work is asked for where a quota is seen, in fewer
 * rounds if they take long. */
#define LONGER 6.0
/* Whenever it begins, so much work meets a whole period. */
#define TWO_PERIODS_NS 200e6
#define LONG_SECONDS 10.0
#define LONG_ROUNDS 3u

typedef struct {
    uint64_t steps;
    unsigned points[POINTS_MAX]; /* threads, ascending */
    size_t point_count;
    double throttled, stolen_sum; /* of this round */
    unsigned stolen_count;
} kind_state;

typedef struct {
    const bj_measure_request *request;
    const effort_plan *plan;
    double alone_ns; /* as planned, or longer */
    bool throttled;
    bj_curves *samples;
    size_t curves[BJ_WORK_COUNT], throttled_curve, stolen_curve; /* their places in samples */
    kind_state kinds[BJ_WORK_COUNT];
    bj_random random;
    double *ns;
    size_t ns_room;
    size_t round;
    unsigned points_done, points_planned;
    bool out_of_time;
} contexts_run;

static bj_status add_curve(contexts_run *run, const char *id, const char *x, const char *y, const char *y_unit,
                           size_t *place, bj_error *error) {
    bj_curve *curve;
    bj_status status = bj_data_add_curve(run->samples, id, "contexts", &curve, error);
    if (status != BJ_OK)
        return status;
    *place = (size_t)(curve - run->samples->items);
    bj_data_name_axes(curve, x, "count", y, y_unit);
    return BJ_OK;
}

static bj_status add_curves(contexts_run *run, bj_error *error) {
    bj_status status = BJ_OK;
    for (bj_work work = 0; status == BJ_OK && work < BJ_WORK_COUNT; work++)
        status = add_curve(run, bj_contexts_curves[work], "threads", "time", "ms", &run->curves[work], error);
    if (status == BJ_OK)
        status =
            add_curve(run, BJ_CONTEXTS_THROTTLED, "kind", "times_throttled", "count", &run->throttled_curve, error);
    if (status == BJ_OK)
        status = add_curve(run, BJ_CONTEXTS_STOLEN, "kind", "stolen_share", "1", &run->stolen_curve, error);
    return status;
}

/* The time until the last of the threads is done. */
static bj_status run_crowd(contexts_run *run, bj_work work, size_t threads, double *longest_ns, bj_error *error) {
    bj_machine *machine = run->request->machine;
    kind_state *kind = &run->kinds[work];
    bj_taken taken = {0};
    if (threads > run->ns_room) {
        double *grown = realloc(run->ns, threads * sizeof *grown);
        if (grown == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", threads);
        run->ns = grown;
        run->ns_room = threads;
    }
    bj_crowd crowd = {.work = work,
                      .cpus = machine->facts.cpus,
                      .cpu_count = machine->facts.cpu_count,
                      .threads = threads,
                      .steps = kind->steps};
    bj_status status = machine->verbs->run_crowd(machine, &crowd, run->ns, &taken, error);
    *longest_ns = 0;
    for (size_t i = 0; status == BJ_OK && i < threads; i++)
        *longest_ns = fmax(*longest_ns, run->ns[i]);
    kind->throttled += taken.throttled > 0 ? taken.throttled : 0;
    if (taken.stolen >= 0) {
        kind->stolen_sum += taken.stolen;
        kind->stolen_count++;
    }
    return status;
}

/* Steps that one thread alone does in about the planned time. */
static bj_status calibrate(contexts_run *run, bj_work work, bj_error *error) {
    kind_state *kind = &run->kinds[work];
    double ns = 0;
    for (kind->steps = FIRST_STEPS;; kind->steps *= 4) {
        bj_status status = run_crowd(run, work, 1, &ns, error);
        if (status != BJ_OK)
            return status;
        if (ns >= run->alone_ns / 8 || (double)kind->steps > STEPS_MAX)
            break;
    }
    kind->steps = (uint64_t)fmax(1, (double)kind->steps * run->alone_ns / fmax(ns, 1));
    return BJ_OK;
}

/* All cpus at work for two periods: if a quota grants less, it shows. */
static bj_status look_for_quota(contexts_run *run, bj_error *error) {
    double ns;
    run->alone_ns = fmax(LONGER * run->plan->alone_ns, TWO_PERIODS_NS);
    bj_status status = calibrate(run, BJ_WORK_INT, error);
    if (status == BJ_OK)
        status = run_crowd(run, BJ_WORK_INT, run->request->machine->facts.cpu_count, &ns, error);
    run->throttled = run->kinds[BJ_WORK_INT].throttled > 0;
    run->alone_ns = (run->throttled ? LONGER : 1) * run->plan->alone_ns;
    return status;
}

static bj_status measure_point(contexts_run *run, bj_work work, unsigned threads, double *ms, bj_error *error) {
    const bj_measure_request *request = run->request;
    double ns;
    bj_status status = run_crowd(run, work, threads, &ns, error);
    if (status != BJ_OK)
        return status;
    *ms = ns * 1e-6;
    status = bj_data_record_sample(&run->samples->items[run->curves[work]], threads, run->round, *ms, error);
    double done = ++run->points_done / (double)run->points_planned;
    if (status == BJ_OK)
        status = bj_probe_report(request, done, error);
    run->out_of_time = bj_probe_is_late(request);
    return status;
}

static unsigned next_number(unsigned threads) {
    return threads < SINGLE_STEPS_MAX ? threads + 1 : (unsigned)ceil(threads * STEP_FACTOR);
}

/* Up until the time has doubled. */
static bj_status raise_threads(contexts_run *run, bj_work work, bj_error *error) {
    kind_state *kind = &run->kinds[work];
    double least = INFINITY, last = 0, ms = 0;
    bj_status status = calibrate(run, work, error);
    for (unsigned threads = 1; status == BJ_OK && threads <= THREADS_MAX && kind->point_count < POINTS_MAX;
         threads = next_number(threads)) {
        status = measure_point(run, work, threads, &ms, error);
        bj_delay delay;
        /* As many as may be started tell enough if there was a delay among them. */
        if (status == BJ_ERR_RESOURCE && threads > 1 &&
            bj_contexts_find_delay(&run->samples->items[run->curves[work]], &delay, error))
            return BJ_OK;
        if (status == BJ_OK)
            kind->points[kind->point_count++] = threads;
        least = fmin(least, ms);
        if ((ms > PASSED * least && last > NEARLY_PASSED * least) || run->out_of_time)
            break;
        last = ms;
    }
    return status;
}

/* The points of a later round: all, or one thread and what is around the first delay, with a new one in its gap. */
static size_t choose_points(contexts_run *run, bj_work work, uint32_t *points, bj_error *error) {
    const kind_state *kind = &run->kinds[work];
    const bj_curve *curve = &run->samples->items[run->curves[work]];
    size_t count = 0;
    bj_delay delay;
    if (kind->point_count <= FEW_POINTS || run->round == 1 || !bj_contexts_find_delay(curve, &delay, error)) {
        for (size_t i = 0; i < kind->point_count; i++)
            points[count++] = kind->points[i];
        return count;
    }
    unsigned before = (unsigned)curve->x[delay.before], after = (unsigned)curve->x[delay.after];
    points[count++] = 1;
    if (delay.before > 1)
        points[count++] = (unsigned)curve->x[delay.before - 1];
    points[count++] = before;
    if (after - before > 1)
        points[count++] = before + (after - before) / 2;
    points[count++] = after;
    if (delay.after + 1 < curve->x_count)
        points[count++] = (unsigned)curve->x[delay.after + 1];
    return count;
}

static bj_status measure_round(contexts_run *run, bj_work work, bj_error *error) {
    uint32_t points[POINTS_MAX];
    size_t count = choose_points(run, work, points, error);
    bj_status status = BJ_OK;
    bj_random_shuffle_u32(&run->random, points, count);
    for (size_t i = 0; status == BJ_OK && i < count && !run->out_of_time; i++) {
        double ms;
        status = measure_point(run, work, points[i], &ms, error);
    }
    return status;
}

static bj_status record_taken(contexts_run *run, bj_work work, bj_error *error) {
    kind_state *kind = &run->kinds[work];
    bj_status status = BJ_OK;
    double stolen = kind->stolen_count > 0 ? kind->stolen_sum / kind->stolen_count : 0;
    if (kind->throttled > 0)
        status = bj_data_record_sample(&run->samples->items[run->throttled_curve], work + 1.0, run->round,
                                       kind->throttled, error);
    if (status == BJ_OK && stolen > 0)
        status = bj_data_record_sample(&run->samples->items[run->stolen_curve], work + 1.0, run->round, stolen, error);
    kind->throttled = kind->stolen_sum = 0;
    kind->stolen_count = 0;
    return status;
}

static bj_status measure_rounds(contexts_run *run, bj_error *error) {
    bj_machine *machine = run->request->machine;
    double started_s = machine->verbs->read_clock(machine);
    bj_status status = look_for_quota(run, error);
    for (run->round = 0; status == BJ_OK && run->round < run->plan->rounds && !run->out_of_time; run->round++) {
        for (bj_work work = 0; status == BJ_OK && work < BJ_WORK_COUNT && !run->out_of_time; work++) {
            status = run->round == 0 ? raise_threads(run, work, error) : measure_round(run, work, error);
            if (status == BJ_OK)
                status = record_taken(run, work, error);
        }
        if (run->throttled && run->round + 1 >= LONG_ROUNDS &&
            machine->verbs->read_clock(machine) - started_s > LONG_SECONDS)
            break;
        run->points_planned = run->points_done / ((unsigned)run->round + 1) * run->plan->rounds + 1;
    }
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    contexts_run run = {.request = request, .plan = &plans[request->effort], .samples = samples};
    run.points_planned = 3 * FEW_POINTS * run.plan->rounds;
    bj_random_seed(&run.random, bj_random_mix(request->seed, RANDOM_PURPOSE));
    bj_status status = add_curves(&run, error);
    if (status == BJ_OK)
        status = measure_rounds(&run, error);
    free(run.ns);
    return status;
}

const bj_probe bj_probe_contexts = {
    .name = "contexts",
    .question = "How many threads can work at once without waiting for each other?",
    .revision = BJ_CONTEXTS_REVISION,
    .provides = (const bj_probe_key[]){{"contexts.int", "count", 1, CONTEXTS_MAX,
                                        "threads that can divide integers at once without delay"},
                                       {"contexts.fp", "count", 1, CONTEXTS_MAX,
                                        "threads that can divide floating-point numbers at once without delay"},
                                       {"contexts.memory", "count", 1, CONTEXTS_MAX,
                                        "threads that can load from their first cache at once without delay"},
                                       {0}},
    .methods = (const char *const[]){BJ_CONTEXTS_FIRST_DELAY, BJ_CONTEXTS_FIRST_STEP, NULL},
    .cost_s = {3.5, 7, 30},
    .memory_bytes = {4u << 20, 4u << 20, 4u << 20},
    .measure = measure,
    .analyse = bj_contexts_analyse,
    .analyze_curve = BJ_CONTEXTS_TABLE,
    .analyze_x_name = "threads",
    .analyze_x_unit = "count",
};
