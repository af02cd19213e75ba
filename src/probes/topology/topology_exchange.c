/* Exchanges between pairs of cpus: asked for once, recorded, repeated in rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/known_caches.h"
#include "probes/topology/topology_run.h"
#include "stats/quantile.h"

#define RANDOM_PURPOSE 0x746f706fu
/* Batches of one exchange; the least of them counts. */
#define REPETITIONS 3u
/* A partner that did not come back for seconds may have been stopped; more often than this the run would only wait. */
#define MOST_FAILURES 2u
/* Where the line is not known. */
#define USUAL_LINE_BYTES 64.0
/* The largest block: beyond the last level by so much that nothing of it stays. */
#define OVER_LAST 4.0
/* No pair has more of the memory that the probe may use. */
#define SHARE_OF_MEMORY 0.25
/* Pairs of a batch, at most: links between sockets carry so many without notice. */
#define AT_ONCE_MOST 32u
/* What pairs may be slowed when others run: half of them by this, all but a tenth by the other. */
static const double UNDISTURBED = 0.03, MOSTLY_UNDISTURBED = 0.1;

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

static void plan_blocks(bj_topology_run *run) {
    bj_known_caches caches;
    double line = NAN;
    bj_known_caches_read(run->request->earlier, &caches);
    if (!bj_data_get_number(run->request->earlier, "cache.line_bytes", &line) || !(line >= BJ_WALK_WORD_BYTES))
        line = USUAL_LINE_BYTES;
    run->line_bytes = (size_t)line / BJ_WALK_WORD_BYTES * BJ_WALK_WORD_BYTES;
    double large =
        fmin(OVER_LAST * bj_known_caches_largest(&caches), SHARE_OF_MEMORY * (double)run->request->memory_bytes);
    run->large_bytes = (size_t)(large / line) * run->line_bytes;
    for (size_t i = 0; i < 2; i++)
        run->level_bytes[i] = i < caches.count ? caches.fits_bytes[i] : 0;
}

/* Curves that earlier rounds made, and the pairs in them. */
static bj_status take_up(bj_topology_run *run, bj_error *error);

bj_status bj_topology_open_run(bj_topology_run *run, const bj_measure_request *request, bj_curves *samples,
                               bj_error *error) {
    const bj_machine_facts *facts = &request->machine->facts;
    size_t count = facts->cpu_count;
    *run = (bj_topology_run){.request = request, .samples = samples, .cpu_count = count, .at_once = 1};
    bj_kit_open_rounds(&run->rounds, request, "topology", samples, RANDOM_PURPOSE);
    run->cpus = malloc(count * sizeof *run->cpus);
    run->known_ns = malloc(count * count * sizeof *run->known_ns);
    run->pivots = malloc(2 * count * sizeof *run->pivots);
    bool enough = run->cpus != NULL && run->known_ns != NULL && run->pivots != NULL;
    for (int part = 0; part < BJ_TOPOLOGY_PARTS; part++) {
        run->curve_of[part] = calloc(count, sizeof *run->curve_of[part]);
        enough = enough && run->curve_of[part] != NULL;
    }
    if (!enough)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for pairs of %zu cpus", count);
    run->pivot_of = run->pivots + count;
    for (size_t i = 0; i < count; i++) {
        run->cpus[i] = facts->cpus[i];
        run->pivot_of[i] = (uint32_t)i;
    }
    qsort(run->cpus, count, sizeof *run->cpus, compare_cpus);
    for (size_t i = 0; i < count * count; i++)
        run->known_ns[i] = NAN;
    plan_blocks(run);
    return take_up(run, error);
}

void bj_topology_close_run(bj_topology_run *run) {
    bj_kit_close_rounds(&run->rounds);
    free(run->cpus);
    free(run->known_ns);
    free(run->pivots);
    free(run->asked);
    for (int part = 0; part < BJ_TOPOLOGY_PARTS; part++)
        free(run->curve_of[part]);
}

static bj_status open_curve(bj_topology_run *run, bj_topology_part part, size_t a, bj_curve **curve, bj_error *error) {
    uint32_t *number = &run->curve_of[part][a];
    if (*number == 0) {
        char id[48];
        snprintf(id, sizeof id, "topology.%s.%d", bj_topology_part_names[part], run->cpus[a]);
        BJ_TRY(bj_data_add_curve(run->samples, id, "topology", curve, error));
        bj_data_name_axes(*curve, "cpu", "", "time_of_turn", "ns");
        BJ_TRY(bj_data_set_attribute_text(*curve, "part", bj_topology_part_names[part], error));
        BJ_TRY(bj_data_set_attribute_number(*curve, "cpu", run->cpus[a], error));
        double bytes = (double)(part == BJ_TOPOLOGY_LARGE ? run->large_bytes : run->line_bytes);
        BJ_TRY(bj_data_set_attribute_number(*curve, "block_bytes", bytes, error));
        *number = (uint32_t)run->samples->count;
    }
    *curve = &run->samples->items[*number - 1];
    return BJ_OK;
}

static bj_status record(bj_topology_run *run, bj_topology_part part, size_t a, size_t b, size_t round, double ns,
                        bj_error *error) {
    bj_curve *curve;
    if (isnan(ns))
        return BJ_OK;
    BJ_TRY(open_curve(run, part, a, &curve, error));
    return bj_data_record_sample(curve, run->cpus[b], round, ns, error);
}

static bj_status remember(bj_topology_run *run, size_t a, size_t b, bj_topology_part part, double ns, bj_error *error) {
    if (part == BJ_TOPOLOGY_LARGE)
        return BJ_OK;
    if (run->asked_count == run->asked_room) {
        size_t room = 2 * run->asked_room + 256;
        bj_topology_asked *grown = realloc(run->asked, room * sizeof *grown);
        if (grown == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", room);
        run->asked = grown;
        run->asked_room = room;
    }
    run->asked[run->asked_count++] = (bj_topology_asked){(uint32_t)a, (uint32_t)b, part};
    run->known_ns[a * run->cpu_count + b] = run->known_ns[b * run->cpu_count + a] = (float)ns;
    return BJ_OK;
}

static size_t find_cpu(const bj_topology_run *run, int cpu) {
    const int *found = bsearch(&cpu, run->cpus, run->cpu_count, sizeof *run->cpus, compare_cpus);
    return found != NULL ? (size_t)(found - run->cpus) : run->cpu_count;
}

static bj_status take_up(bj_topology_run *run, bj_error *error) {
    for (size_t i = 0; i < run->samples->count; i++)
        for (int part = 0; part < BJ_TOPOLOGY_PARTS; part++) {
            const bj_curve *curve = &run->samples->items[i];
            int cpu = 0;
            size_t a = bj_topology_is_part(curve, (bj_topology_part)part, &cpu) ? find_cpu(run, cpu) : run->cpu_count;
            if (a == run->cpu_count)
                continue;
            run->curve_of[part][a] = (uint32_t)i + 1;
            for (size_t x = 0; x < curve->x_count; x++) {
                size_t b = find_cpu(run, (int)curve->x[x]);
                if (b < run->cpu_count)
                    BJ_TRY(remember(run, a, b, (bj_topology_part)part, curve->rounds[0][x], error));
            }
        }
    return BJ_OK;
}

bj_status bj_topology_exchange(bj_topology_run *run, const bj_exchange *pairs, size_t count, unsigned repetitions,
                               double *ns, bj_error *error) {
    bj_machine *machine = run->request->machine;
    double *samples = malloc(count * repetitions * sizeof *samples);
    if (samples == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", count);
    bj_status status = machine->verbs->run_exchanges(machine, pairs, count, repetitions, samples, error);
    for (size_t i = 0; i < count; i++) {
        ns[i] = NAN;
        for (unsigned r = 0; r < repetitions && status == BJ_OK; r++)
            ns[i] = fmin(ns[i], samples[i * repetitions + r]);
    }
    free(samples);
    if (status == BJ_ERR_FAILED && ++run->failures <= MOST_FAILURES)
        return BJ_OK;
    return status;
}

static bj_status time_pair(bj_topology_run *run, size_t a, size_t b, bj_topology_part part, double *ns,
                           bj_error *error) {
    size_t bytes = part == BJ_TOPOLOGY_LARGE ? run->large_bytes : run->line_bytes;
    bj_exchange pair = {.cpu_a = run->cpus[a], .cpu_b = run->cpus[b], .bytes = bytes};
    do
        BJ_TRY(bj_topology_exchange(run, &pair, 1, part == BJ_TOPOLOGY_LARGE ? 1 : REPETITIONS, ns, error));
    while (isnan(*ns));
    return BJ_OK;
}

bj_status bj_topology_ask(bj_topology_run *run, size_t a, size_t b, bj_topology_part part, double *ns,
                          bj_error *error) {
    size_t low = a < b ? a : b, high = a < b ? b : a;
    *ns = part == BJ_TOPOLOGY_LARGE ? NAN : (double)run->known_ns[low * run->cpu_count + high];
    if (!isnan(*ns))
        return BJ_OK;
    BJ_TRY(time_pair(run, low, high, part, ns, error));
    run->large_asked += part == BJ_TOPOLOGY_LARGE;
    BJ_TRY(record(run, part, low, high, 0, *ns, error));
    return remember(run, low, high, part, *ns, error);
}

bj_status bj_topology_ask_again(bj_topology_run *run, size_t a, size_t b, bj_topology_part part, double *ns,
                                bj_error *error) {
    size_t low = a < b ? a : b, high = a < b ? b : a;
    double second;
    BJ_TRY(time_pair(run, low, high, part, &second, error));
    *ns = fmin(*ns, second);
    if (part != BJ_TOPOLOGY_LARGE)
        run->known_ns[low * run->cpu_count + high] = run->known_ns[high * run->cpu_count + low] = (float)*ns;
    return record(run, part, low, high, 0, *ns, error);
}

/* Takes pairs from the front of `order` that share no cpu with each other; they are moved there. */
static size_t choose_disjoint(const bj_topology_run *run, uint32_t *order, size_t count, size_t most, bool *busy) {
    size_t chosen = 0;
    for (size_t i = 0; i < run->cpu_count; i++)
        busy[i] = false;
    for (size_t i = 0; i < count && chosen < most; i++) {
        const bj_topology_asked *pair = &run->asked[order[i]];
        if (busy[pair->a] || busy[pair->b])
            continue;
        busy[pair->a] = busy[pair->b] = true;
        uint32_t moved = order[chosen];
        order[chosen++] = order[i];
        order[i] = moved;
    }
    return chosen;
}

static void describe(const bj_topology_run *run, const uint32_t *order, size_t count, bj_exchange *pairs) {
    for (size_t i = 0; i < count; i++) {
        const bj_topology_asked *pair = &run->asked[order[i]];
        pairs[i] = (bj_exchange){.cpu_a = run->cpus[pair->a], .cpu_b = run->cpus[pair->b], .bytes = run->line_bytes};
    }
}

/* Some disjoint pairs alone and together: how many may run at once. */
static bj_status check_at_once(bj_topology_run *run, uint32_t *order, bool *busy, bj_error *error) {
    static const bj_curve_axes axes = {"topology.at_once", "cpu", "", "together_by_alone", "ratio"};
    bj_exchange pairs[AT_ONCE_MOST];
    double alone[AT_ONCE_MOST], together[AT_ONCE_MOST], ratios[AT_ONCE_MOST];
    size_t count = choose_disjoint(run, order, run->asked_count, AT_ONCE_MOST, busy);
    describe(run, order, count, pairs);
    run->at_once = 1;
    if (count < 2)
        return BJ_OK;
    for (size_t i = 0; i < count; i++)
        BJ_TRY(bj_topology_exchange(run, &pairs[i], 1, REPETITIONS, &alone[i], error));
    BJ_TRY(bj_topology_exchange(run, pairs, count, REPETITIONS, together, error));
    run->rounds.round = bj_kit_count_rounds(run->samples, axes.id);
    for (size_t i = 0; i < count; i++) {
        ratios[i] = together[i] / alone[i];
        if (isnan(ratios[i]))
            return BJ_OK;
        BJ_TRY(bj_kit_record(&run->rounds, &axes, pairs[i].cpu_a, ratios[i], error));
    }
    bj_stats_sort_samples(ratios, count);
    if (fabs(bj_stats_quantile_sorted(ratios, count, 0.5) - 1) < UNDISTURBED &&
        fabs(bj_stats_quantile_sorted(ratios, count, 0.9) - 1) < MOSTLY_UNDISTURBED)
        run->at_once = count;
    return BJ_OK;
}

static bj_status measure_round(bj_topology_run *run, size_t round, uint32_t *order, bool *busy, double share,
                               bj_error *error) {
    bj_exchange pairs[AT_ONCE_MOST];
    double ns[AT_ONCE_MOST];
    bj_random_shuffle_u32(&run->rounds.random, order, run->asked_count);
    for (size_t done = 0; done < run->asked_count;) {
        size_t count = choose_disjoint(run, order + done, run->asked_count - done, run->at_once, busy);
        describe(run, order + done, count, pairs);
        BJ_TRY(bj_topology_exchange(run, pairs, count, REPETITIONS, ns, error));
        for (size_t i = 0; i < count; i++) {
            const bj_topology_asked *pair = &run->asked[order[done + i]];
            BJ_TRY(record(run, pair->part, pair->a, pair->b, round, ns[i], error));
        }
        done += count;
        BJ_TRY(bj_probe_report(run->request, share, error));
    }
    return BJ_OK;
}

bj_status bj_topology_repeat(bj_topology_run *run, size_t first_round, unsigned rounds, bj_error *error) {
    uint32_t *order = malloc((run->asked_count + 1) * sizeof *order);
    bool *busy = malloc(run->cpu_count * sizeof *busy);
    bj_status status = BJ_OK;
    if (order == NULL || busy == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", run->asked_count);
    for (size_t i = 0; i < run->asked_count && status == BJ_OK; i++)
        order[i] = (uint32_t)i;
    if (status == BJ_OK) {
        bj_random_shuffle_u32(&run->rounds.random, order, run->asked_count);
        status = check_at_once(run, order, busy, error);
    }
    for (unsigned i = 0; i < rounds && status == BJ_OK && !bj_probe_is_late(run->request); i++)
        status = measure_round(run, first_round + i, order, busy, 0.5 + 0.3 * i / rounds, error);
    free(busy);
    free(order);
    return status;
}
