/* Which cpus share an instance of a cache level?
 *
 * Servet III-B: a walk of two thirds of the level's capacity fits alone; two at once fit only if each has a cache of
 * its own. Where they share one, both suffer. All pairs are too many: who is near by the topology is asked first, and
 * many cpus at once, since each sees by its own time whether somebody shares with it (sharing_round.h). What counts as
 * suffering follows from the noise of walks alone and from the latency of the next level. Servet's own figure 5 (all
 * pairs, 1 KiB strides, ratio above 2) is the method "servet". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/sharing/sharing_constants.h"
#include "probes/sharing/sharing_round.h"

#define RANDOM_PURPOSE 0x73686172u
/* The line where the line probe found none. */
#define USUAL_LINE 64.0
/* Cpus that are asked without a tree to go by: the groups of a level of pairs take as many walks at once. */
#define MOST_WITHOUT_TREE 64u
/* From so many cpus on each round asks only part of them: fewer rounds have as many samples. */
#define MANY_CPUS 48u

/* On base pages, walks of up to so many places are walked alone each time: 16 MiB of 64-byte lines, some tens of
 * milliseconds. Luck of frames moves times alone by half in caches of a few MiB, less in larger ones. */
#define PAIRED_PLACES 262144u

typedef struct {
    unsigned rounds, rounds_of_many;
    double seconds;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 2, 1.5}, {8, 3, 4}, {20, 6, 20}};

/* Levels from the first on, as far as a walk lies inside the level and outside the nearer one. */
static bj_status plan_levels(bj_sharing_run *run, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    for (size_t i = 0; i < caches.count; i++) {
        double capacity = bj_kit_find_number(request->earlier, "cache.L%zu.capacity_bytes", i + 1);
        double bytes = floor(OF_CAPACITY * capacity / (double)run->grain_bytes) * (double)run->grain_bytes;
        bool is_outside = bytes >= OVER_NEARER * bj_known_caches_find_nearer(&caches, i);
        if (!(bytes >= 4.0 * (double)run->grain_bytes) || !is_outside)
            continue;
        bj_sharing_plan *plan = &run->levels[run->level_count];
        *plan = (bj_sharing_plan){.level = i + 1, .bytes = (size_t)bytes};
        plan->places = plan->bytes / run->grain_bytes;
        bj_kit_choose_pages(&run->rounds, plan->bytes, run->all.count);
        plan->is_paired = run->rounds.pages == BJ_PAGES_BASE && plan->places <= PAIRED_PLACES;
        plan->most_at_once = bj_kit_count_affordable(&run->rounds, plan->bytes);
        if (plan->most_at_once < 2)
            continue;
        run->level_count++;
        plan->next_ns = bj_sharing_find_next_ns(request->earlier, i + 1);
        plan->alone_ns = calloc(run->all.count + 1, sizeof *plan->alone_ns);
        plan->nearer = calloc(run->all.count + 1, sizeof *plan->nearer);
        if (plan->alone_ns == NULL || plan->nearer == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    }
    return BJ_OK;
}

static bj_status measure_round(void *context, const uint32_t *points, size_t count, bj_error *error) {
    (void)points;
    (void)count;
    return bj_sharing_measure_round(context, error);
}

static void close_run(bj_sharing_run *run) {
    for (size_t i = 0; i < run->level_count; i++) {
        bj_sharing_drop_blocks(&run->levels[i]);
        free(run->levels[i].alone_ns);
        free(run->levels[i].nearer);
    }
    bj_kit_close_cpus(&run->all);
    bj_kit_close_rounds(&run->rounds);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *plan = &plans[request->effort];
    bj_sharing_run run = {.order = BJ_ORDER_RANDOM};
    const bj_machine_facts *facts = &request->machine->facts;
    if (facts->cpu_count < 2)
        return BJ_OK;
    bj_kit_open_rounds(&run.rounds, request, "sharing", samples, RANDOM_PURPOSE);
    double line = bj_kit_find_number(request->earlier, "cache.line_bytes");
    run.grain_bytes = (size_t)(line >= 16 && line <= 1024 ? line : USUAL_LINE);
    run.is_servet = request->method != NULL && strcmp(request->method, "servet") == 0;
    if (run.is_servet) {
        run.order = BJ_ORDER_STRIDE_1K;
        run.grain_bytes = 1024;
    }
    bj_status status = bj_kit_open_cpus(facts->cpus, facts->cpu_count, request->earlier, &run.all, error);
    bool may_ask = run.is_servet || run.all.tree.is_known || run.all.count <= MOST_WITHOUT_TREE;
    if (status == BJ_OK && may_ask)
        status = plan_levels(&run, error);
    bool is_many = run.all.count > MANY_CPUS && !run.is_servet;
    run.rounds_planned = is_many ? plan->rounds_of_many : plan->rounds;
    bj_round_plan rounds = {.count = run.rounds_planned,
                            .first_round = bj_kit_count_rounds(samples, "sharing.L1.alone"),
                            .seconds = plan->seconds,
                            .point_count = 1,
                            .context = &run,
                            .measure = measure_round};
    if (status == BJ_OK && run.level_count > 0)
        status = bj_kit_run_rounds(&run.rounds, &rounds, error);
    close_run(&run);
    return status;
}

const bj_probe bj_probe_sharing = {
    .name = "sharing",
    .question = "Which cpus share one cache of each level?",
    .revision = 2,
    .compares_cpus = true,
    .provides = (const bj_probe_key[]){{"cache.L<n>.sharing", "groups", 0, 0,
                                        "cpus that share one instance of the level; those with one of their own are "
                                        "left out",
                                        .tolerance = 0},
                                       {0}},
    .needs = (const char *const[]){"cache", "line", "topology", NULL},
    .methods = (const char *const[]){"at_once", "servet", NULL},
    .servet_method = "servet",
    .cost_s = {1.5, 4, 20},
    .memory_bytes = {64u << 20, 64u << 20, 64u << 20},
    .measure = measure,
    .analyse = bj_sharing_analyse,
    .analyze_curve = SHARING_TABLE,
    .analyze_x_name = "cpu",
    .analyze_x_unit = "number",
    .analyze_level = true,
    .analyze_beside = true,
};
