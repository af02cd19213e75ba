/* How far is the memory of one node for the cpus of another, and how fast?
 *
 * Memory belongs to the node of the cpu that touches it first. A cpu of each outer branch of the topology's tree walks
 * and reads memory that a cpu of every branch has touched; branches whose memory is as near as their own are one node
 * (numa_answer.c). What the system claims of nodes plays no part. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/together.h"
#include "probes/numa/numa_samples.h"
#include "stats/quantile.h"

#define RANDOM_PURPOSE 0x6e756d61u
#define MIB 1048576.0
#define USUAL_LINE 64.0
/* Of the last cache, so that a walk finds little there; and no less than caches that no probe saw may have. */
#define OVER_LAST 4.0
#define LEAST_BYTES (16 * MIB)
#define MOST_BYTES (256 * MIB)
#define REPETITIONS 3u

static const struct {
    unsigned rounds;
    double seconds;
} plans[BJ_EFFORT_COUNT] = {{6, 1}, {6, 3}, {16, 20}};

/* So many sites are asked one cell after the other; of more, all sites walk at once, each in the memory of another. */
#define FEW_SITES 4u
/* Walks at once that take this much longer than alone disturb each other: cells are then asked one by one. Half of what
 * the analysis takes for as near (AS_NEAR). */
#define DISTURBED 1.05

typedef struct {
    bj_rounds rounds;
    bj_cpus all;
    int askers[BJ_NUMA_SITES_MAX]; /* the first cpu of each site */
    size_t count;
    size_t bytes, grain_bytes;
    size_t at_once; /* cells */
} numa_run;

/* The outermost branches of the tree, split further as long as all of them fit; single cpus where it has no branches.
 * `sites` has room for BJ_NUMA_SITES_MAX; returns how many. */
static size_t choose_sites(const bj_near_tree *tree, bj_cpu_run *sites) {
    size_t count = 0;
    bj_cpu_run *parts = calloc(tree->cpu_count + 1, sizeof *parts);
    if (parts == NULL || tree->branch_count == 0) {
        free(parts);
        return 0;
    }
    sites[count++] = tree->branches[0];
    for (;;) {
        bj_cpu_run split[BJ_NUMA_SITES_MAX];
        size_t made = 0;
        bool is_finer = false, fits = true;
        for (size_t i = 0; i < count && fits; i++) {
            size_t found = bj_kit_list_parts(tree, sites[i], parts);
            /* Single cpus count as sites only where nothing else tells the machine's parts apart. */
            bool is_split = found > 1 && (count == 1 || parts[0].count > 1);
            size_t more = is_split ? found : 1;
            fits = made + more <= BJ_NUMA_SITES_MAX;
            for (size_t j = 0; j < more && fits; j++)
                split[made++] = is_split ? parts[j] : sites[i];
            is_finer = is_finer || is_split;
        }
        if (!fits || !is_finer)
            break;
        for (count = 0; count < made; count++)
            sites[count] = split[count];
    }
    free(parts);
    return count;
}

void bj_numa_name_row(const char *kind, int cpu, char *id, size_t room) {
    snprintf(id, room, "numa.%s.%d", kind, cpu);
}

static bj_status record(numa_run *run, const char *kind, const char *y_name, const char *y_unit, size_t from, size_t to,
                        double y, bj_error *error) {
    char id[48];
    bj_curve *curve;
    bj_numa_name_row(kind, run->askers[from], id, sizeof id);
    const bj_curve_axes axes = {id, "cpu", "number", y_name, y_unit};
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, &curve, error));
    BJ_TRY(bj_data_set_attribute_number(curve, "cpu", run->askers[from], error));
    return bj_data_record_sample(curve, run->askers[to], run->rounds.round, y, error);
}

/* ns of sites from, from + 1 ... at once, each in the memory of the site `step` further on. */
static bj_status walk_at_once(numa_run *run, size_t from, size_t count, size_t step, double *ns, bj_error *error) {
    bj_partaker walkers[BJ_NUMA_SITES_MAX];
    for (size_t i = 0; i < count; i++) {
        size_t asks = (from + i) % run->count;
        walkers[i] = (bj_partaker){run->askers[asks], run->askers[(asks + step) % run->count], run->bytes};
    }
    bj_party party = {.walkers = walkers,
                      .walk_count = count,
                      .order = BJ_ORDER_RANDOM,
                      .grain_bytes = run->grain_bytes,
                      .repetitions = REPETITIONS};
    return bj_kit_run_together(&run->rounds, &party, ns, NULL, error);
}

/* Rates one by one, since streams share what leads to memory. */
static bj_status measure_rate(numa_run *run, size_t from, size_t to, bj_error *error) {
    const bj_partaker one = {.cpu = run->askers[from], .touched_by = run->askers[to], .bytes = run->bytes};
    bj_party party = {.streamers = &one, .stream_count = 1, .kind = BJ_STREAM_READ, .repetitions = REPETITIONS};
    double gbs = NAN;
    BJ_TRY(bj_kit_run_together(&run->rounds, &party, NULL, &gbs, error));
    return record(run, BJ_NUMA_RATE, "bandwidth", "GB/s", from, to, gbs, error);
}

/* A point is a site, and how much further on the memory is that it asks for; those after it ask at the same time. */
static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    numa_run *run = context;
    size_t first = *points * run->at_once % run->count, step = *points * run->at_once / run->count;
    double ns[BJ_NUMA_SITES_MAX];
    (void)count;
    BJ_TRY(walk_at_once(run, first, run->at_once, step, ns, error));
    for (size_t i = 0; i < run->at_once; i++) {
        size_t from = (first + i) % run->count, to = (from + step) % run->count;
        BJ_TRY(record(run, BJ_NUMA_LATENCY, "latency", "ns", from, to, ns[i], error));
        BJ_TRY(measure_rate(run, from, to, error));
    }
    return BJ_OK;
}

/* All at once where there are many, memory has room, and a check shows that they do not disturb each other: the medians
 * of all, in the memory of those halfway round, beside what some take alone. */
static bj_status choose_at_once(numa_run *run, bj_error *error) {
    double together[BJ_NUMA_SITES_MAX], ratios[FEW_SITES];
    run->at_once = 1;
    if (run->count <= FEW_SITES || bj_kit_count_affordable(&run->rounds, run->bytes) < run->count)
        return BJ_OK;
    BJ_TRY(walk_at_once(run, 0, run->count, run->count / 2, together, error));
    for (size_t i = 0; i < FEW_SITES; i++) {
        size_t site = i * run->count / FEW_SITES;
        double alone;
        BJ_TRY(walk_at_once(run, site, 1, run->count / 2, &alone, error));
        ratios[i] = together[site] / alone;
    }
    if (bj_stats_median(ratios, FEW_SITES) < DISTURBED)
        run->at_once = run->count;
    return BJ_OK;
}

/* Who asks for whom, once. */
static bj_status record_sites(numa_run *run, const bj_cpu_run *sites, bj_error *error) {
    const bj_curve_axes axes = {BJ_NUMA_SITES, "cpu", "number", "asked_by", "number"};
    bj_curve *curve;
    if (bj_kit_count_rounds(run->rounds.samples, BJ_NUMA_SITES) > 0)
        return BJ_OK;
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, &curve, error));
    for (size_t i = 0; i < run->count; i++)
        for (size_t j = 0; j < sites[i].count; j++)
            BJ_TRY(bj_data_record_sample(curve, run->all.tree.cpus[sites[i].first + j], 0, run->askers[i], error));
    return BJ_OK;
}

static void plan_walks(numa_run *run) {
    const bj_measure_request *request = run->rounds.request;
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    double line = bj_kit_find_number(request->earlier, "cache.line_bytes");
    run->grain_bytes = (size_t)(line >= 16 && line <= 1024 ? line : USUAL_LINE);
    double last = caches.count > 0 ? bj_known_caches_largest(&caches) : 0;
    double bytes = fmin(fmax(OVER_LAST * last, LEAST_BYTES), MOST_BYTES);
    bytes = fmin(bytes, (double)request->memory_bytes / 2);
    run->bytes = (size_t)(bytes / MIB) * (size_t)MIB;
    bj_kit_choose_pages(&run->rounds, run->bytes, 1);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const bj_machine_facts *facts = &request->machine->facts;
    numa_run run = {.count = 0};
    bj_cpu_run sites[BJ_NUMA_SITES_MAX];
    char first[48];
    if (facts->cpu_count < 2)
        return BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "numa", samples, RANDOM_PURPOSE);
    bj_status status = bj_kit_open_cpus(facts->cpus, facts->cpu_count, request->earlier, &run.all, error);
    if (status == BJ_OK) {
        run.count = choose_sites(&run.all.tree, sites);
        for (size_t i = 0; i < run.count; i++)
            run.askers[i] = run.all.tree.cpus[sites[i].first];
        plan_walks(&run);
        status = record_sites(&run, sites, error);
    }
    if (status == BJ_OK && run.count > 0 && run.bytes > 0)
        status = choose_at_once(&run, error);
    if (status == BJ_OK && run.count > 0 && run.bytes > 0) {
        bj_numa_name_row(BJ_NUMA_LATENCY, run.askers[0], first, sizeof first);
        bj_round_plan rounds = {.count = plans[request->effort].rounds,
                                .first_round = bj_kit_count_rounds(samples, first),
                                .seconds = plans[request->effort].seconds,
                                .point_count = run.count * run.count / run.at_once,
                                .context = &run,
                                .measure = measure_point};
        status = bj_kit_run_rounds(&run.rounds, &rounds, error);
    }
    bj_kit_close_cpus(&run.all);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

const bj_probe bj_probe_numa = {
    .name = "numa",
    .question = "How far is the memory of one node for the cpus of another, and how fast?",
    .revision = 2,
    .compares_cpus = true,
    .provides = (const bj_probe_key[]){{"numa.nodes", "groups", 0, 0, "cpus that have one memory as their nearest",
                                        .tolerance = 0},
                                       {"numa.latency_ns", "ns", 0, 0,
                                        "random access, row: the node that asks, column: whose memory", .tolerance = 0},
                                       {"numa.gbs", "GB/s", 0, 0, "bytes that one cpu reads, likewise", .tolerance = 0},
                                       {0}},
    .needs = (const char *const[]){"cache", "line", "topology", NULL},
    .methods = (const char *const[]){"first_touch", NULL},
    .cost_s = {2, 4, 30},
    .memory_bytes = {300u << 20, 300u << 20, 300u << 20},
    .measure = measure,
    .analyse = bj_numa_analyse,
};
