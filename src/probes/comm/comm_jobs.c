/* Experiments of messages in rounds: planning, running and recording them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/comm/comm_run.h"
#include "stats/quantile.h"

/* Of each experiment; the least of them is the sample of a message that is alone. */
enum { REPETITIONS = 3 };

void bj_comm_free_jobs(bj_comm_jobs *jobs) {
    free(jobs->messages);
    free(jobs->jobs);
    *jobs = (bj_comm_jobs){0};
}

static void *grow(void *items, size_t count, size_t *room, size_t bytes, bool *failed) {
    if (count < *room)
        return items;
    size_t more = *room * 2 + 64;
    void *grown = realloc(items, more * bytes);
    if (grown == NULL) {
        *failed = true;
        return items;
    }
    *room = more;
    return grown;
}

void bj_comm_add_job(bj_comm_jobs *jobs, bj_comm_kind kind, size_t layer, size_t which) {
    jobs->jobs = grow(jobs->jobs, jobs->job_count, &jobs->job_room, sizeof *jobs->jobs, &jobs->failed);
    if (!jobs->failed)
        jobs->jobs[jobs->job_count++] =
            (bj_comm_job){.kind = kind, .first = jobs->message_count, .layer = layer, .which = which};
}

void bj_comm_add_message(bj_comm_jobs *jobs, size_t a, size_t b, size_t bytes) {
    jobs->messages =
        grow(jobs->messages, jobs->message_count, &jobs->message_room, sizeof *jobs->messages, &jobs->failed);
    if (jobs->failed || jobs->job_count == 0)
        return;
    jobs->messages[jobs->message_count++] = (bj_message){.rank_a = a, .rank_b = b, .bytes = bytes};
    jobs->jobs[jobs->job_count - 1].count++;
}

bj_status bj_comm_plan_pairs(const bj_comm_run *run, const bj_comm_ranks *pairs, size_t count, bj_comm_jobs *jobs,
                             bj_error *error) {
    /* Pairs of a host in the order in which they come: the n-th of each host are in one experiment. */
    size_t *done = calloc(run->host_count + 1, sizeof *done), *turn = calloc(count + 1, sizeof *turn), most = 0;
    size_t *begin = NULL;
    if (done == NULL || turn == NULL)
        goto done;
    for (size_t i = 0; i < count; i++) {
        const bj_rank *a = &run->ranks[pairs[i].a], *b = &run->ranks[pairs[i].b];
        turn[i] = a->host == b->host ? ++done[a->host] : 0;
        most = turn[i] > most ? turn[i] : most;
    }
    /* Sorted by turn, by counting. */
    begin = calloc(most + 2, sizeof *begin);
    size_t *sorted = calloc(count + 1, sizeof *sorted);
    if (begin == NULL || sorted == NULL) {
        jobs->failed = true;
        free(sorted);
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        begin[turn[i] + 1]++;
    for (size_t t = 1; t < most + 2; t++)
        begin[t] += begin[t - 1];
    for (size_t i = 0; i < count; i++)
        sorted[begin[turn[i]]++] = i;
    for (size_t size = 0; size < run->size_count; size++)
        for (size_t i = 0; i < count; i++) {
            bool is_first = i == 0 || turn[sorted[i]] != turn[sorted[i - 1]] || turn[sorted[i]] == 0;
            if (is_first)
                bj_comm_add_job(jobs, BJ_COMM_PAIRS, 0, size);
            bj_comm_add_message(jobs, pairs[sorted[i]].a, pairs[sorted[i]].b, run->bytes[size]);
        }
    free(sorted);
done:
    jobs->failed = jobs->failed || begin == NULL;
    free(done);
    free(turn);
    free(begin);
    return jobs->failed ? bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", count) : BJ_OK;
}

/* A rank's row is found by its index: with thousands of them, by name would take longer than measuring. */
static bj_status record_pair(bj_comm_run *run, const bj_message *message, size_t size, double us, bj_error *error) {
    bj_curves *samples = run->rounds.samples;
    size_t *row = &run->row_of[message->rank_a * SIZES_MOST + size];
    if (*row == SIZE_MAX) {
        char id[48];
        bj_curve *curve;
        snprintf(id, sizeof id, "comm.pairs.%zu.%zu", message->rank_a, message->bytes);
        BJ_TRY(bj_data_add_curve(samples, id, "comm", &curve, error));
        bj_data_name_axes(curve, "rank", "number", "one_way", "us");
        BJ_TRY(bj_data_set_attribute_number(curve, "rank", (double)message->rank_a, error));
        BJ_TRY(bj_data_set_attribute_number(curve, "bytes", (double)message->bytes, error));
        *row = samples->count - 1;
    }
    return bj_data_record_sample(&samples->items[*row], (double)message->rank_b, run->rounds.round, us, error);
}

static bj_status record_point(bj_comm_run *run, const bj_comm_job *job, const bj_message *message, double us,
                              bj_error *error) {
    bool is_curve = job->kind == BJ_COMM_CURVE;
    char id[48];
    bj_curve *curve;
    snprintf(id, sizeof id, is_curve ? "comm.curve.%zu.%zu" : "comm.scaling.%zu", job->layer + 1, job->which + 1);
    const bj_curve_axes axes = {id, is_curve ? "message" : "pairs", is_curve ? "bytes" : "count", "one_way", "us"};
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, &curve, error));
    if (curve->x_count == 0) {
        BJ_TRY(bj_data_set_attribute_number(curve, "rank_a", (double)message->rank_a, error));
        BJ_TRY(bj_data_set_attribute_number(curve, "rank_b", (double)message->rank_b, error));
        BJ_TRY(bj_data_set_attribute_text(curve, "shows", is_curve ? "sizes" : "scaling", error));
        if (!is_curve)
            BJ_TRY(bj_data_set_attribute_number(curve, "message", (double)message->bytes, error));
    }
    double x = is_curve ? (double)message->bytes : (double)job->count;
    return bj_data_record_sample(curve, x, run->rounds.round, us, error);
}

static bj_status run_job(bj_comm_run *run, const bj_comm_jobs *jobs, const bj_comm_job *job, double *ns,
                         bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    const bj_message *messages = &jobs->messages[job->first];
    BJ_TRY(machine->verbs->run_messages(machine, messages, job->count, REPETITIONS, ns, error));
    for (size_t i = 0; i < job->count; i++) {
        /* Alone, disturbance only adds time; beside others, what is usual counts. */
        bool alone = job->kind != BJ_COMM_SCALING || job->count == 1;
        double *of_message = &ns[i * REPETITIONS];
        ns[i] = bj_stats_quantile(of_message, REPETITIONS, alone ? 0 : 0.5) / 1000;
        if (job->kind == BJ_COMM_PAIRS)
            BJ_TRY(record_pair(run, &messages[i], job->which, ns[i], error));
    }
    if (job->kind == BJ_COMM_PAIRS)
        return BJ_OK;
    return record_point(run, job, &messages[0], bj_stats_median(ns, job->count), error);
}

bj_status bj_comm_run_jobs(bj_comm_run *run, const bj_comm_jobs *jobs, size_t first, unsigned rounds, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    size_t most = 1;
    for (size_t i = 0; i < jobs->job_count; i++)
        most = jobs->jobs[i].count > most ? jobs->jobs[i].count : most;
    double *ns = calloc(most * REPETITIONS, sizeof *ns);
    uint32_t *order = calloc(jobs->job_count + 1, sizeof *order);
    bj_status status = BJ_OK;
    if (ns == NULL || order == NULL || jobs->failed)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu experiments", jobs->job_count);
    for (size_t i = 0; status == BJ_OK && i < jobs->job_count; i++)
        order[i] = (uint32_t)i;
    for (unsigned r = 0; r < rounds && status == BJ_OK && jobs->job_count > 0; r++) {
        if (r > 0 && bj_probe_is_late(request))
            break;
        run->rounds.round = first + r;
        bj_random_shuffle_u32(&run->rounds.random, order, jobs->job_count);
        for (size_t i = 0; i < jobs->job_count && status == BJ_OK; i++) {
            double share = ((double)r + (double)i / (double)jobs->job_count) / rounds;
            status =
                bj_probe_report(request, run->progress_from + share * (run->progress_to - run->progress_from), error);
            if (status == BJ_OK)
                status = run_job(run, jobs, &jobs->jobs[order[i]], ns, error);
        }
    }
    free(ns);
    free(order);
    return status;
}
