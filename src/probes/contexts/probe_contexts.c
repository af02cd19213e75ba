/* How many threads can work at once without waiting for each other: integer, floating-point, memory work?
 *
 * M threads that nobody pins do the same work; beyond as many as there are execution contexts, the last one ends later
 * (blackjackbench-2012, 3.4). Each point has fresh threads, which work for a while before they start together, since
 * the scheduler may begin with two on one cpu; and every round takes the points anew, since it may leave them there.
 * The first round raises M until the time has doubled; the next ones go over the same points in random order, or over
 * those near the first delay where there are many. */
#include <math.h>

#include "probes/contexts/contexts_answer.h"
#include "probes/contexts/contexts_constants.h"
#include "probes/kit/rounds.h"

#define RANDOM_PURPOSE 0x63747874u
/* M by M up to here, then by a quarter: a delay between two points is narrowed down later. */
#define ONE_BY_ONE_MAX 8u
#define GROWTH 1.25
/* Where the time has passed twice the least, enough is seen (the paper: 2 or 3), unless the point before it was still
 * far from that: then it may be a disturbance. */
#define PASSED 2.2
#define NEARLY_PASSED 1.4
/* By the paper M by M, until the time exceeds a threshold, "typically 2 or 3". */
#define PASSED_OF_PAPER 3.0
/* It repeats each measurement some thirty times, over all rounds: one disturbance in the first must not end it. */
#define REPEATS_OF_PAPER 4u
/* No machine has more; where threads cannot wait for each other at all, somebody has to stop. */
#define THREADS_MAX 4096u
#define POINTS_MAX 64u
#define PAPER_POINTS_MAX 512u
/* Somebody's table may be of a larger machine. */
#define CONTEXTS_MAX 65536u
/* Rounds take all points of a small machine. */
#define FEW_POINTS 8u
/* Attribute of a curve: divisions or loads of each thread. */
#define OPERATIONS "operations"
#define FIRST_OPERATIONS 100000.0
#define OPERATIONS_MAX 1e13

typedef struct {
    unsigned rounds;
    double alone_ns; /* work of a thread: several slots long, so that waiting can be shared out */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 15e6}, {6, 25e6}, {20, 50e6}};

/* A quota lets threads run until the budget of its period is spent, and a period is a tenth of a second where nobody
 * has set it: shorter work would often end before. So much longer work is asked for where a quota is seen, in half as
 * many rounds, and no longer than so many seconds once there are enough. */
#define LONGER 6.0
#define LONG_SECONDS 10.0
/* Whenever it begins, so much work meets a whole period. */
#define TWO_PERIODS_NS 200e6

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    bool paper;                   /* one thread more at a time, and all points again in every round */
    double alone_ns;              /* as planned, or longer */
    double operations;            /* of each thread, for the kind of work that is being measured */
    double ns[THREADS_MAX];       /* of each thread */
    double throttled, stolen_sum; /* of that kind */
    unsigned stolen_count;
} contexts_run;

/* All curves, with samples or not, so that a profile shows what was looked at. */
static bj_status open_curves(contexts_run *run, bj_error *error) {
    bj_curve *curve;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < BJ_CONTEXTS_CURVES && status == BJ_OK; i++)
        status = bj_kit_open_curve(&run->rounds, &bj_contexts_axes[i], &curve, error);
    return status;
}

static const bj_curve *find_curve(const contexts_run *run, bj_work work) {
    return bj_data_find_curve(run->rounds.samples, bj_contexts_axes[work].id);
}

/* The time until the last of the threads is done. */
static bj_status run_crowd(contexts_run *run, bj_work work, size_t threads, double *longest_ns, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    bj_taken taken = {0};
    bj_crowd crowd = {.work = work,
                      .cpus = machine->facts.cpus,
                      .cpu_count = machine->facts.cpu_count,
                      .threads = threads,
                      .steps = (uint64_t)run->operations};
    bj_status status = machine->verbs->run_crowd(machine, &crowd, run->ns, &taken, error);
    *longest_ns = 0;
    for (size_t i = 0; status == BJ_OK && i < threads; i++)
        *longest_ns = fmax(*longest_ns, run->ns[i]);
    run->throttled += taken.throttled > 0 ? taken.throttled : 0;
    run->stolen_sum += taken.stolen >= 0 ? taken.stolen : 0;
    run->stolen_count += taken.stolen >= 0;
    return status;
}

/* Operations that one thread alone does in about the planned time. */
static bj_status calibrate(contexts_run *run, bj_work work, bj_error *error) {
    double ns = 0;
    for (run->operations = FIRST_OPERATIONS;; run->operations *= 4) {
        BJ_TRY(run_crowd(run, work, 1, &ns, error));
        if (ns >= run->alone_ns / 8 || run->operations > OPERATIONS_MAX)
            break;
    }
    run->operations = floor(fmax(1, run->operations * run->alone_ns / fmax(ns, 1)));
    return BJ_OK;
}

/* All cpus at work for two periods: if a quota grants less, it shows. */
static bj_status look_for_quota(contexts_run *run, const effort_plan *plan, bj_error *error) {
    size_t cpus = run->rounds.request->machine->facts.cpu_count;
    double ns;
    run->alone_ns = fmax(LONGER * plan->alone_ns, TWO_PERIODS_NS);
    bj_status status = calibrate(run, BJ_WORK_INT, error);
    if (status == BJ_OK)
        status = run_crowd(run, BJ_WORK_INT, cpus < THREADS_MAX ? cpus : THREADS_MAX, &ns, error);
    run->alone_ns = plan->alone_ns;
    if (run->throttled > 0) {
        run->alone_ns *= LONGER;
        run->plan.count /= 2;
        run->plan.seconds = LONG_SECONDS;
    }
    return status;
}

/* A crowd takes long where cpus are many, so the report, which may say stop, does not wait for the end of a round. */
static bj_status measure_point(contexts_run *run, bj_work work, unsigned threads, double *ms, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    unsigned wanted = bj_kit_count_wanted(request, run->plan.count);
    double done = (double)(run->rounds.round - run->plan.first_round) + (double)work / BJ_WORK_COUNT, ns;
    BJ_TRY(bj_probe_report(request, done / wanted, error));
    BJ_TRY(run_crowd(run, work, threads, &ns, error));
    *ms = ns * 1e-6;
    for (unsigned i = 1; run->paper && i < REPEATS_OF_PAPER; i++) {
        BJ_TRY(run_crowd(run, work, threads, &ns, error));
        *ms = fmin(*ms, ns * 1e-6);
    }
    return bj_kit_record(&run->rounds, &bj_contexts_axes[work], threads, *ms, error);
}

static unsigned next_number(const contexts_run *run, unsigned threads) {
    return run->paper || threads < ONE_BY_ONE_MAX ? threads + 1 : (unsigned)ceil(threads * GROWTH);
}

/* Whether the time has passed enough of the least. */
static bool has_passed(const contexts_run *run, double ms, double last, double least) {
    return run->paper ? ms > PASSED_OF_PAPER * least : ms > PASSED * least && last > NEARLY_PASSED * least;
}

/* Up until the time has doubled. */
static bj_status raise_threads(contexts_run *run, bj_work work, bj_error *error) {
    double least = INFINITY, last = 0, ms = 0;
    bj_status status = calibrate(run, work, error);
    if (status == BJ_OK)
        status = bj_kit_keep_fact(&run->rounds, bj_contexts_axes[work].id, OPERATIONS, run->operations, error);
    unsigned threads = 1;
    size_t most = run->paper ? PAPER_POINTS_MAX : POINTS_MAX;
    for (size_t points = 0; status == BJ_OK && threads <= THREADS_MAX && points < most; points++) {
        status = measure_point(run, work, threads, &ms, error);
        least = fmin(least, ms);
        if (has_passed(run, ms, last, least) || bj_probe_is_late(run->rounds.request))
            break;
        last = ms;
        threads = next_number(run, threads);
    }
    if (status != BJ_ERR_RESOURCE || threads == 1)
        return status;
    /* As many as may be started tell enough if there was a delay among them. */
    bj_delay delay;
    bool is_found;
    bj_error trouble;
    bj_status looked = bj_contexts_find_delay(find_curve(run, work), &delay, &is_found, &trouble);
    return looked == BJ_OK && is_found ? BJ_OK : status;
}

/* One thread and what is around the first delay, with a new point in between. */
static size_t list_around(const bj_curve *curve, const bj_delay *delay, uint32_t *points) {
    unsigned before = (unsigned)curve->x[delay->before], after = (unsigned)curve->x[delay->after];
    size_t count = 0;
    points[count++] = 1;
    if (delay->before > 1)
        points[count++] = (unsigned)curve->x[delay->before - 1];
    points[count++] = before;
    if (after - before > 1)
        points[count++] = before + (after - before) / 2;
    points[count++] = after;
    if (delay->after + 1 < curve->x_count)
        points[count++] = (unsigned)curve->x[delay->after + 1];
    return count;
}

/* The points of a later round: those of the first, but of many of them only some. */
static bj_status choose_points(contexts_run *run, const bj_curve *curve, uint32_t *points, size_t *count,
                               bj_error *error) {
    bj_delay delay;
    bool is_found = false;
    bj_status status = BJ_OK;
    *count = 0;
    for (size_t i = 0; i < curve->x_count && *count < PAPER_POINTS_MAX; i++)
        if (!isnan(curve->rounds[0][i]))
            points[(*count)++] = (unsigned)curve->x[i];
    if (*count > FEW_POINTS && run->rounds.round > 1 && !run->paper)
        status = bj_contexts_find_delay(curve, &delay, &is_found, error);
    if (status == BJ_OK && is_found)
        *count = list_around(curve, &delay, points);
    return status;
}

static bj_status repeat_points(contexts_run *run, bj_work work, bj_error *error) {
    const bj_curve *curve = find_curve(run, work);
    uint32_t points[PAPER_POINTS_MAX];
    size_t count;
    run->operations = bj_kit_recall_fact(run->rounds.samples, curve->id, OPERATIONS);
    /* A profile of an earlier version does not tell how long the work was. */
    if (curve->round_count == 0 || isnan(run->operations))
        return BJ_OK;
    bj_status status = choose_points(run, curve, points, &count, error);
    if (status == BJ_OK)
        bj_random_shuffle_u32(&run->rounds.random, points, count);
    for (size_t i = 0; status == BJ_OK && i < count && !bj_probe_is_late(run->rounds.request); i++) {
        double ms;
        status = measure_point(run, work, points[i], &ms, error);
    }
    return status;
}

static bj_status record_taken(contexts_run *run, bj_work work, bj_error *error) {
    bj_status status = BJ_OK;
    if (run->throttled > 0)
        status =
            bj_kit_record(&run->rounds, &bj_contexts_axes[BJ_CONTEXTS_THROTTLED], work + 1.0, run->throttled, error);
    if (status == BJ_OK && run->stolen_sum > 0)
        status = bj_kit_record(&run->rounds, &bj_contexts_axes[BJ_CONTEXTS_STOLEN], work + 1.0,
                               run->stolen_sum / run->stolen_count, error);
    run->throttled = run->stolen_sum = 0;
    run->stolen_count = 0;
    return status;
}

/* A point of the kit's round is a kind of work. */
static bj_status measure_kind(void *context, const uint32_t *points, size_t count, bj_error *error) {
    contexts_run *run = context;
    bj_work work = (bj_work)*points;
    (void)count;
    BJ_TRY(run->rounds.round == 0 ? raise_threads(run, work, error) : repeat_points(run, work, error));
    return record_taken(run, work, error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    contexts_run run = {.paper = bj_probe_is_method(request->method, BJ_CONTEXTS_FIRST_STEP)};
    run.plan = (bj_round_plan){.count = plan->rounds,
                               .first_round = bj_kit_count_rounds(samples, bj_contexts_axes[0].id),
                               .in_order = true,
                               .point_count = BJ_WORK_COUNT,
                               .context = &run,
                               .measure = measure_kind};
    bj_kit_open_rounds(&run.rounds, request, "contexts", samples, RANDOM_PURPOSE);
    bj_status status = open_curves(&run, error);
    if (status == BJ_OK && run.plan.first_round == 0)
        status = look_for_quota(&run, plan, error);
    return status == BJ_OK ? bj_kit_run_rounds(&run.rounds, &run.plan, error) : status;
}

const bj_probe bj_probe_contexts = {
    .name = "contexts",
    .question = "How many threads can work at once without waiting for each other?",
    .revision = 3,
    .provides = (const bj_probe_key[]){{"contexts.int", "count", 1, CONTEXTS_MAX,
                                        "threads that can divide integers at once without delay",
                                        .tolerance = TOLERANCE, .tolerance_least = HALF},
                                       {"contexts.fp", "count", 1, CONTEXTS_MAX,
                                        "threads that can divide floating-point numbers at once without delay",
                                        .tolerance = TOLERANCE, .tolerance_least = HALF},
                                       {"contexts.memory", "count", 1, CONTEXTS_MAX,
                                        "threads that can load from their first cache at once without delay",
                                        .tolerance = TOLERANCE, .tolerance_least = HALF},
                                       {0}},
    .methods = (const char *const[]){BJ_CONTEXTS_FIRST_DELAY, BJ_CONTEXTS_FIRST_STEP, NULL},
    .paper_method = BJ_CONTEXTS_FIRST_STEP,
    .cost_s = {3.5, 7, 30},
    .memory_bytes = {4u << 20, 4u << 20, 4u << 20},
    .measure = measure,
    .analyse = bj_contexts_analyse,
    .analyze_curve = BJ_CONTEXTS_TABLE,
    .analyze_x_name = "threads",
    .analyze_x_unit = "count",
};
