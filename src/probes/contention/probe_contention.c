/* Which cpus collide on their way to memory, how many are of use, and what is left of it when all work?
 *
 * Servet III-C: streams on one cpu, then on pairs; who gets less than alone collides. All pairs are too many: a cpu of
 * each part of a branch of the topology's tree stands for the part. Since no pair fills a memory bus of today, crowds
 * follow: all cpus of a branch (contention_levels.h). For each level of groups one curve over the number of cpus. Full
 * density (3.2.1 of the multicore paper): rates, latencies and sizes when all cpus work (contention_full.c). Servet's
 * own figure 6 (all pairs, copies, first come) is the method "servet". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/contention/contention_answer.h"
#include "probes/contention/contention_constants.h"
#include "probes/contention/contention_round.h"
#include "probes/contention/contention_table.h"
#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"

#define RANDOM_PURPOSE 0x636f6e74u
#define USUAL_LINE 64.0
/* From so many cpus on fewer rounds have as many samples. */
#define MANY_CPUS 48u

typedef struct {
    unsigned rounds, rounds_of_many;
    double seconds;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 3, 2.5}, {8, 6, 7}, {20, 8, 30}};

static bj_status read_caches(bj_contention_run *run, bj_error *error) {
    const bj_answers *earlier = run->rounds.request->earlier;
    bj_known_caches caches;
    bj_known_caches_read(earlier, &caches);
    for (size_t i = 0; i < caches.count && i < BJ_CONTENTION_CACHES_MAX; i++) {
        char key[64];
        snprintf(key, sizeof key, "cache.L%zu.sharing", i + 1);
        run->sharers[i] = malloc((run->all.count + 1) * sizeof *run->sharers[i]);
        if (run->sharers[i] == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
        run->capacity[i] = caches.holds_bytes[i];
        run->cache_count = i + 1;
        bj_kit_part_all(run->sharers[i], run->all.count);
        BJ_TRY(bj_kit_join_answered(earlier, key, run->all.cpus, run->all.count, run->sharers[i], error));
    }
    return BJ_OK;
}

static bj_status measure_round(void *context, const uint32_t *points, size_t count, bj_error *error) {
    bj_contention_run *run = context;
    (void)points;
    (void)count;
    BJ_TRY(bj_contention_measure_levels(run, error));
    return run->is_servet ? BJ_OK : bj_contention_measure_full(run, error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    const bj_machine_facts *facts = &request->machine->facts;
    bj_contention_run run = {.kind = BJ_STREAM_READ};
    if (facts->cpu_count < 2)
        return BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "contention", samples, RANDOM_PURPOSE);
    run.is_servet = request->method != NULL && strcmp(request->method, "servet") == 0;
    run.kind = run.is_servet ? BJ_STREAM_COPY : BJ_STREAM_READ;
    double line = bj_kit_find_number(request->earlier, "cache.line_bytes");
    run.grain_bytes = (size_t)(line >= 16 && line <= 1024 ? line : USUAL_LINE);
    bj_status status = bj_kit_open_cpus(facts->cpus, facts->cpu_count, request->earlier, &run.all, error);
    if (status == BJ_OK)
        status = read_caches(&run, error);
    if (status == BJ_OK)
        status = bj_contention_plan_pairs(&run, error);
    bool is_many = run.all.count > MANY_CPUS && !run.is_servet;
    bj_round_plan rounds = {.count = is_many ? plan->rounds_of_many : plan->rounds,
                            .first_round = bj_kit_count_rounds(samples, CONTENTION_ALONE),
                            .seconds = plan->seconds,
                            .point_count = 1,
                            .context = &run,
                            .measure = measure_round};
    if (status == BJ_OK && run.cache_count > 0)
        status = bj_kit_run_rounds(&run.rounds, &rounds, error);
    for (size_t i = 0; i < run.cache_count; i++)
        free(run.sharers[i]);
    free(run.pairs);
    bj_kit_close_cpus(&run.all);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

const bj_probe bj_probe_contention = {
    .name = "contention",
    .question = "Which cpus collide on their way to memory, and what does one get when all work?",
    .revision = 2,
    .compares_cpus = true,
    .provides =
        (const bj_probe_key[]){
            {"memory.contention", "GB/s", 0, 0,
             "levels of groups of cpus that get less from memory together than alone, and how each scales",
             .tolerance = 0},
            {"memory.full.read_gbs", "GB/s", 0.0001, 1e5, "bytes that one cpu reads from memory while all do",
             .tolerance = TOLERANCE},
            {"memory.full.copy_gbs", "GB/s", 0.0001, 1e5, "bytes read plus written of a copy while all copy",
             .tolerance = TOLERANCE},
            {"memory.full.latency_ns", "ns", 0.1, 1e7, "random access to memory while all others stream",
             .tolerance = TOLERANCE},
            {"cache.L<n>.full.size_bytes", "bytes", 64, 1e12,
             "effective size of a shared level for one cpu while all walk sets of their own",
             .tolerance = SIZE_TOLERANCE},
            {"cache.L<n>.full.latency_ns", "ns", 0.05, 1e6, "its latency meanwhile", .tolerance = TOLERANCE},
            {0}},
    .needs = (const char *const[]){"bandwidth", "line", "sharing", "topology", NULL},
    .methods = (const char *const[]){"crowds", "servet", NULL},
    .servet_method = "servet",
    .cost_s = {2.5, 7, 30},
    .memory_bytes = {512u << 20, 512u << 20, 512u << 20},
    .measure = measure,
    .analyse = bj_contention_analyse,
    .analyze_curve = CONTENTION_TABLE,
    .analyze_x_name = "cpu",
    .analyze_x_unit = "number",
    .analyze_beside = true,
};
