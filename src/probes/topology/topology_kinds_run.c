/* What each cpu does by itself: the yardstick, and walks around the size of the first level. */
#include <math.h>
#include <stdlib.h>

#include "probes/kit/walks.h"
#include "probes/topology/topology_kinds.h"
#include "probes/topology/topology_run.h"
#include "stats/quantile.h"

/* Batches of a walk; the least of them counts. */
#define REPETITIONS 3u
/* Of the yardstick a low quantile, as in the clock probe: a time is a difference of two, and may be too small. */
#define YARDSTICK_REPETITIONS 7u
#define YARDSTICK_QUANTILE 0.25
/* Working sets that tell the size of a first level: multiples of a page, or of a part of the level where that is more,
 * up to between two and three times the level that is known. */
#define STEPS_OF_LEVEL 16.0
#define SIZES_MOST 40u
#define PAGE_BYTES 4096.0
#define POINTS_OF_CPU (1 + BJ_TOPOLOGY_WALKS)

typedef struct {
    bj_topology_run *run;
    bool walks;          /* the first level is known */
    const uint32_t *one; /* of sizes: the cpus that are asked */
    size_t sizes;        /* of each */
    double step_bytes;
} kinds_run;

size_t bj_topology_count_places(const bj_topology_run *run, double bytes) {
    return (size_t)fmax(floor(bytes / (double)run->line_bytes), 1);
}

bj_status bj_topology_make_walk(bj_topology_run *run, size_t cpu, size_t first_byte, double bytes, uint32_t *places,
                                bj_walk *walk, bj_error *error) {
    bj_walk_shape shape = {.first_byte = first_byte,
                           .bytes = bj_topology_count_places(run, bytes) * run->line_bytes,
                           .grain_bytes = run->line_bytes,
                           .page_bytes = run->request->machine->facts.page_bytes};
    if (first_byte + shape.bytes > run->rounds.arena_bytes)
        return bj_base_set_error(error, BJ_ERR_FAILED, "a working set of %zu bytes exceeds the arena", shape.bytes);
    bj_machine_order_places(BJ_ORDER_RANDOM, &shape, &run->rounds.random, places);
    *walk = (bj_walk){.arena = run->rounds.arena,
                      .cpu = run->cpus[cpu],
                      .places = places,
                      .count = bj_machine_count_places(BJ_ORDER_RANDOM, &shape)};
    return BJ_OK;
}

static bj_status time_walk(bj_topology_run *run, size_t cpu, double bytes, double *ns, bj_error *error) {
    bj_machine *machine = run->request->machine;
    bj_walk walk;
    bj_walk_effort effort = {.repetitions = REPETITIONS};
    double samples[REPETITIONS];
    BJ_TRY(bj_kit_reserve_places(&run->rounds, bj_topology_count_places(run, bytes), error));
    size_t first_byte = bj_kit_choose_first_byte(&run->rounds, bytes);
    BJ_TRY(bj_topology_make_walk(run, cpu, first_byte, bytes, run->rounds.places, &walk, error));
    BJ_TRY(machine->verbs->run_walks(machine, &walk, 1, &effort, samples, error));
    *ns = fmin(fmin(samples[0], samples[1]), samples[2]);
    return BJ_OK;
}

static bj_status time_yardstick(bj_topology_run *run, size_t cpu, double *ns, bj_error *error) {
    bj_machine *machine = run->request->machine;
    bj_chain chain = {.cpu = run->cpus[cpu], .type = "int32", .operation = "add", .abreast = 1};
    double samples[YARDSTICK_REPETITIONS];
    BJ_TRY(machine->verbs->run_chains(machine, &chain, 1, YARDSTICK_REPETITIONS, samples, error));
    *ns = bj_stats_quantile(samples, YARDSTICK_REPETITIONS, YARDSTICK_QUANTILE);
    return BJ_OK;
}

static bj_status measure_cpu(void *context, const uint32_t *points, size_t count, bj_error *error) {
    kinds_run *kinds = context;
    bj_topology_run *run = kinds->run;
    size_t per_cpu = kinds->walks ? POINTS_OF_CPU : 1, cpu = *points / per_cpu, what = *points % per_cpu;
    bj_curve_axes axes = {BJ_TOPOLOGY_YARDSTICK, "cpu", "", "latency", "ns"};
    double ns = NAN;
    (void)count;
    if (what == 0) {
        BJ_TRY(time_yardstick(run, cpu, &ns, error));
    } else {
        axes.id = bj_topology_walk_ids[what - 1];
        axes.y_name = "time_per_access";
        BJ_TRY(time_walk(run, cpu, bj_topology_walk_shares[what - 1] * run->level_bytes[0], &ns, error));
    }
    return bj_kit_record(&run->rounds, &axes, run->cpus[cpu], ns, error);
}

static bj_status measure_size(void *context, const uint32_t *points, size_t count, bj_error *error) {
    kinds_run *kinds = context;
    bj_topology_run *run = kinds->run;
    size_t cpu = kinds->one[*points / kinds->sizes];
    double bytes = (double)(*points % kinds->sizes + 1) * kinds->step_bytes, ns;
    char id[48];
    (void)count;
    bj_topology_name_sizes(run->cpus[cpu], id, sizeof id);
    bj_curve_axes axes = {id, "working_set", "bytes", "time_per_access", "ns"};
    BJ_TRY(time_walk(run, cpu, bytes, &ns, error));
    return bj_kit_record(&run->rounds, &axes, bytes, ns, error);
}

/* The size of the first level of one cpu of each kind, where there are several. */
static bj_status measure_sizes(kinds_run *kinds, unsigned rounds, bj_error *error) {
    bj_topology_run *run = kinds->run;
    size_t *kind_of = malloc(run->cpu_count * sizeof *kind_of), kind_count = 0;
    uint32_t *first = malloc(run->cpu_count * sizeof *first);
    bj_status status = BJ_OK;
    if (kind_of == NULL || first == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->cpu_count);
    else
        status = bj_topology_group_kinds(run->samples, NULL, 0, kind_of, &kind_count, error);
    if (status == BJ_OK && kind_count > 1 && kinds->walks) {
        char id[48];
        for (size_t i = run->cpu_count; i-- > 0;)
            first[kind_of[i]] = (uint32_t)i;
        kinds->one = first;
        kinds->step_bytes = fmax(floor(run->level_bytes[0] / STEPS_OF_LEVEL / PAGE_BYTES) * PAGE_BYTES, PAGE_BYTES);
        kinds->sizes = (size_t)fmin(fmax(3 * run->level_bytes[0] / kinds->step_bytes, STEPS_OF_LEVEL), SIZES_MOST);
        bj_kit_plan_arena(&run->rounds, (size_t)((double)(kinds->sizes + 1) * kinds->step_bytes), 1);
        bj_topology_name_sizes(run->cpus[first[0]], id, sizeof id);
        bj_round_plan plan = {.count = rounds,
                              .first_round = bj_kit_count_rounds(run->samples, id),
                              .least_bytes = run->rounds.arena_bytes,
                              .progress_from = 0.1,
                              .progress_to = 0.15,
                              .point_count = kind_count * kinds->sizes,
                              .context = kinds,
                              .measure = measure_size};
        status = bj_kit_run_rounds(&run->rounds, &plan, error);
    }
    free(first);
    free(kind_of);
    return status;
}

bj_status bj_topology_measure_kinds(bj_topology_run *run, unsigned rounds, bj_error *error) {
    kinds_run kinds = {.run = run, .walks = run->level_bytes[0] >= 2 * (double)run->line_bytes};
    size_t arena_bytes = (size_t)(2 * run->level_bytes[0]);
    bj_kit_plan_arena(&run->rounds, arena_bytes, 1);
    bj_round_plan plan = {.count = rounds,
                          .first_round = bj_kit_count_rounds(run->samples, BJ_TOPOLOGY_YARDSTICK),
                          .least_bytes = kinds.walks ? arena_bytes : 0,
                          .progress_to = 0.1,
                          .point_count = run->cpu_count * (kinds.walks ? POINTS_OF_CPU : 1),
                          .context = &kinds,
                          .measure = measure_cpu};
    BJ_TRY(bj_kit_run_rounds(&run->rounds, &plan, error));
    return measure_sizes(&kinds, rounds, error);
}
