/* What does a message between two ranks of a parallel program cost?
 *
 * Section III-D of Servet: pairs of ranks with similar cost are a layer; a pair of each layer shows cost by size; pairs
 * at once show how the layer scales. Times are half a round trip, so no two clocks are compared. Experiments of each
 * part are interleaved in rounds. comm_explore.c says which pairs are measured, comm_answer.c what follows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/comm/comm_answer.h"
#include "probes/comm/comm_run.h"
#include "probes/kit/estimate.h"

#define RANDOM_PURPOSE 0x636f6d6du
#define USUAL_L1_BYTES 32768u
#define CURVE_MOST_BYTES ((size_t)16 << 20)
/* Longer messages than take this long are left out of a curve: 16 MiB over a link of 1 Gbit/s still fit. */
#define CURVE_MOST_US 150e3

static const unsigned rounds_of[BJ_EFFORT_COUNT] = {4, 6, 12};

static bj_status record_places(bj_comm_run *run, bj_error *error) {
    static const char *const ids[] = {BJ_COMM_HOSTS, BJ_COMM_CPUS};
    for (unsigned which = 0; which < 2; which++) {
        const bj_curve_axes axes = {ids[which], "rank", "number", which == 0 ? "host" : "cpu", "number"};
        bj_curve *curve;
        BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, &curve, error));
        BJ_TRY(bj_data_make_grid(curve, run->rank_count, 1, error));
        for (size_t i = 0; i < run->rank_count; i++) {
            curve->x[i] = (double)i;
            curve->rounds[0][i] = which == 0 ? (double)run->ranks[i].host : (double)run->ranks[i].cpu;
        }
    }
    return BJ_OK;
}

static void choose_sizes(bj_comm_run *run) {
    const bj_measure_request *request = run->rounds.request;
    double l1 = bj_kit_find_number(request->earlier, "cache.L1.size_bytes");
    run->size_count = 1;
    run->bytes[0] = l1 >= 1024 && l1 <= 1048576 ? (size_t)l1 : USUAL_L1_BYTES;
    for (size_t i = 0; i < request->message_count && i < SIZES_MOST; i++) {
        run->bytes[i] = request->message_bytes[i];
        run->size_count = i + 1;
    }
}

static void plan_curves(const bj_comm_run *run, const bj_comm_table *table, size_t layer, bj_comm_jobs *jobs) {
    const bj_measure_request *request = run->rounds.request;
    bool fine = request->effort != BJ_EFFORT_QUICK;
    size_t chosen[2];
    bj_comm_choose_pairs(table, layer, chosen);
    for (size_t which = 0; which < 2; which++) {
        if (chosen[which] >= table->pair_count)
            continue;
        const bj_comm_pair *pair = &table->pairs[chosen[which]];
        size_t longest = table->size_count - 1, most = request->message_most;
        double us = table->us[chosen[which] * table->size_count + longest];
        double affordable = (double)table->bytes[longest] * CURVE_MOST_US / us;
        most = most == 0 || most > CURVE_MOST_BYTES ? CURVE_MOST_BYTES : most;
        bj_comm_add_job(jobs, BJ_COMM_CURVE, layer, which);
        bj_comm_add_message(jobs, pair->a, pair->b, 0);
        for (size_t bytes = 1; bytes <= most && (double)bytes <= affordable; bytes *= 2) {
            bj_comm_add_job(jobs, BJ_COMM_CURVE, layer, which);
            bj_comm_add_message(jobs, pair->a, pair->b, bytes);
            if (fine && bytes >= 16 && 2 * bytes <= most) {
                bj_comm_add_job(jobs, BJ_COMM_CURVE, layer, which);
                bj_comm_add_message(jobs, pair->a, pair->b, bytes + bytes / 2);
            }
        }
    }
}

/* Disjoint pairs of exactly this layer inside one group of it: members sorted by the groups of the layer below, each
 * with the one half of them further, or as many as there are beside one that has more than half. */
static size_t match_ranks(const bj_comm_table *table, size_t layer, size_t rank, size_t *group_of, size_t *below,
                          bj_comm_ranks *matches) {
    size_t count = 0, largest = 0, first_of_largest = 0;
    size_t *members = calloc(table->rank_count + 1, sizeof *members);
    bj_comm_join_ranks(table, (int)layer, group_of);
    bj_comm_join_ranks(table, (int)layer - 1, below);
    for (size_t lead = 0; members != NULL && lead < table->rank_count; lead++) {
        size_t begin = count;
        if (below[lead] != lead || group_of[lead] != group_of[rank])
            continue;
        for (size_t i = lead; i < table->rank_count; i++)
            if (below[i] == lead)
                members[count++] = i;
        if (count - begin > largest) {
            largest = count - begin;
            first_of_largest = begin;
        }
    }
    size_t pairs = 2 * largest > count ? count - largest : count / 2;
    for (size_t i = 0, other = 0; i < pairs; i++) {
        if (2 * largest <= count) {
            matches[i] = (bj_comm_ranks){members[i], members[i + count / 2]};
            continue;
        }
        if (other == first_of_largest)
            other += largest;
        matches[i] = (bj_comm_ranks){members[first_of_largest + i], members[other++]};
    }
    free(members);
    return pairs;
}

static bj_status plan_scaling(bj_comm_run *run, const bj_comm_table *table, size_t layer, bj_comm_jobs *jobs,
                              bj_error *error) {
    size_t chosen[2], *group_of = calloc(2 * table->rank_count + 2, sizeof *group_of);
    bj_comm_ranks *matches = calloc(table->rank_count + 1, sizeof *matches);
    bj_comm_choose_pairs(table, layer, chosen);
    if (group_of != NULL && matches != NULL && chosen[0] < table->pair_count) {
        size_t count =
            match_ranks(table, layer, table->pairs[chosen[0]].a, group_of, group_of + table->rank_count + 1, matches);
        /* The same order of pairs in late rounds: it must not depend on the rounds' own random numbers. */
        bj_random random;
        bj_random_seed(&random, bj_random_mix(RANDOM_PURPOSE, layer));
        for (size_t i = count; i > 1; i--) {
            size_t j = bj_random_below(&random, i);
            bj_comm_ranks kept = matches[i - 1];
            matches[i - 1] = matches[j];
            matches[j] = kept;
        }
        for (size_t n = 1; count > 1 && n <= count; n = n < count && 2 * n > count ? count : 2 * n) {
            bj_comm_add_job(jobs, BJ_COMM_SCALING, layer, 0);
            for (size_t i = 0; i < n; i++)
                bj_comm_add_message(jobs, matches[i].a, matches[i].b, run->bytes[0]);
        }
    }
    bj_status status = group_of == NULL || matches == NULL
                           ? bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for pairs of ranks")
                           : BJ_OK;
    free(group_of);
    free(matches);
    return status;
}

/* Curves and scaling of every layer that the pairs show. */
static bj_status measure_layers(bj_comm_run *run, size_t first, unsigned rounds, bj_error *error) {
    bj_comm_table table = {0};
    bj_comm_jobs jobs = {0};
    bj_status status = bj_comm_read_table(run->rounds.samples, &table, error);
    if (status == BJ_OK)
        status = bj_comm_find_layers(&table, NULL, 0, false, error);
    for (size_t layer = 0; layer < table.layer_count && status == BJ_OK; layer++) {
        plan_curves(run, &table, layer, &jobs);
        status = plan_scaling(run, &table, layer, &jobs, error);
    }
    bj_comm_free_table(&table);
    if (status == BJ_OK)
        status = bj_comm_run_jobs(run, &jobs, first, rounds, error);
    bj_comm_free_jobs(&jobs);
    return status;
}

/* Late rounds: the same pairs once more, then the same curves. */
static bj_status measure_again(bj_comm_run *run, unsigned rounds, bj_error *error) {
    bj_comm_table table = {0};
    bj_comm_jobs jobs = {0};
    bj_status status = bj_comm_read_table(run->rounds.samples, &table, error);
    bj_comm_ranks *pairs = calloc(table.pair_count + 1, sizeof *pairs);
    size_t first = table.rounds, count = table.pair_count;
    for (size_t i = 0; pairs != NULL && i < count; i++)
        pairs[i] = (bj_comm_ranks){table.pairs[i].a, table.pairs[i].b};
    bj_comm_free_table(&table);
    if (status == BJ_OK && pairs == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the pairs of ranks");
    if (status == BJ_OK)
        status = measure_layers(run, bj_kit_count_rounds(run->rounds.samples, "comm.curve.1.1"), rounds, error);
    if (status == BJ_OK)
        status = bj_comm_plan_pairs(run, pairs, count, &jobs, error);
    if (status == BJ_OK)
        status = bj_comm_run_jobs(run, &jobs, first, rounds, error);
    bj_comm_free_jobs(&jobs);
    free(pairs);
    return status;
}

static void find_rows(bj_comm_run *run) {
    const bj_curves *samples = run->rounds.samples;
    for (size_t i = 0; i < run->rank_count * SIZES_MOST; i++)
        run->row_of[i] = SIZE_MAX;
    for (size_t i = 0; i < samples->count; i++) {
        double rank, bytes;
        if (!bj_data_get_attribute_number(&samples->items[i], "rank", &rank) || !(rank < (double)run->rank_count) ||
            !bj_data_get_attribute_number(&samples->items[i], "bytes", &bytes))
            continue;
        for (size_t s = 0; s < run->size_count; s++)
            if (run->bytes[s] == (size_t)bytes)
                run->row_of[(size_t)rank * SIZES_MOST + s] = i;
    }
}

/* A rank that is lost ends the measurement, but what was measured before it still tells something: the answer then says
 * that it is not whole. */
static bj_status keep_part(bj_comm_run *run, bj_status status, bj_error *error) {
    bj_curves *samples = run->rounds.samples;
    for (size_t i = 0; i < samples->count; i++) {
        char why[24];
        /* "rank 7": the host has no place in an answer. */
        snprintf(why, sizeof why, "%.*s", (int)(strcspn(error->text, "(") % sizeof why), error->text);
        why[strcspn(why, " ") + strspn(why + strcspn(why, " "), " 0123456789")] = '\0';
        for (size_t end = strlen(why); end > 0 && why[end - 1] == ' '; end--)
            why[end - 1] = '\0';
        if (samples->count > 2 && strcmp(samples->items[i].id, BJ_COMM_HOSTS) == 0)
            return bj_data_set_attribute_text(&samples->items[i], "lost", why, error);
    }
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const bj_machine_facts *facts = &request->machine->facts;
    if (facts->rank_count < 2)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                                 "no ranks to send messages: blackjack-comm measures this, under mpirun or srun");
    bj_comm_run run = {.ranks = facts->ranks, .rank_count = facts->rank_count, .progress_to = 0.6};
    bj_kit_open_rounds(&run.rounds, request, "comm", samples, RANDOM_PURPOSE);
    for (size_t i = 0; i < run.rank_count; i++)
        run.host_count = run.ranks[i].host >= run.host_count ? run.ranks[i].host + 1 : run.host_count;
    choose_sizes(&run);
    unsigned rounds = bj_kit_count_wanted(request, rounds_of[request->effort]);
    run.row_of = calloc(run.rank_count * SIZES_MOST, sizeof *run.row_of);
    bj_status status = run.row_of == NULL
                           ? bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu ranks", run.rank_count)
                           : BJ_OK;
    if (status == BJ_OK)
        find_rows(&run);
    if (status == BJ_OK && request->more_rounds > 0) {
        status = measure_again(&run, rounds, error);
    } else if (status == BJ_OK) {
        status = record_places(&run, error);
        if (status == BJ_OK)
            status = bj_comm_explore(&run, rounds, error);
        run.progress_from = 0.6;
        run.progress_to = 1;
        if (status == BJ_OK)
            status = measure_layers(&run, 0, rounds, error);
    }
    if (status == BJ_ERR_FAILED)
        status = keep_part(&run, status, error);
    free(run.row_of);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

const bj_probe bj_probe_comm = {
    .name = "comm",
    .question = "What does a message between two ranks cost, by who they are, size, and how many there are at once?",
    .revision = 1,
    .compares_cpus = true,
    .provides = (const bj_probe_key[]){{"comm.layers", "", 0, 0,
                                        "pairs of ranks of similar cost, near to far: groups, times by size, scaling",
                                        .tolerance = 0},
                                       {"comm.ranks", "", 0, 0, "host and cpu of every rank", .tolerance = 0},
                                       {0}},
    .methods = (const char *const[]){"gaps", BJ_COMM_FIRST_COME, NULL},
    .servet_method = BJ_COMM_FIRST_COME,
    .on_request = true,
    .cost_s = {10, 20, 60},
    .memory_bytes = {128u << 20, 128u << 20, 128u << 20},
    .measure = measure,
    .analyse = bj_comm_analyse,
};
