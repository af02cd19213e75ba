/* What exhaustive search saw beside the model's choice. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/tune_output.h"

void bj_cli_note_speed(bj_cli_tuning *tuning, const bj_tune_speed *speed) {
    for (size_t s = 0; s < tuning->job.size_count; s++) {
        if (tuning->job.sizes[s] != speed->n)
            continue;
        if (speed->index == BJ_TUNE_CANDIDATES_MAX) {
            tuning->search->chosen[s] = speed->gflops;
        } else if (speed->index < BJ_TUNE_CANDIDATES_MAX) {
            tuning->search->gflops[s][speed->index] = speed->gflops;
            tuning->search->ratios[s][speed->index] = speed->ratio;
        }
    }
}

/* The candidates for all sizes; those that are cut into the same tiles share what was measured. */
typedef struct {
    bj_tune_candidate items[BJ_TUNE_CANDIDATES_MAX];
    size_t count;
    unsigned same_as[BJ_TUNE_SIZES_MAX][BJ_TUNE_CANDIDATES_MAX];
    double means[BJ_TUNE_CANDIDATES_MAX];     /* geometric, of the ratios over n */
    unsigned by_mean[BJ_TUNE_CANDIDATES_MAX]; /* fastest first */
    unsigned best[BJ_TUNE_SIZES_MAX];
    double mean, least; /* of the model's choice by the best of each size */
    size_t least_at;
} summary;

static void order_by_mean(summary *sum) {
    for (size_t i = 0; i < sum->count; i++) {
        size_t at = i;
        for (; at > 0 && sum->means[sum->by_mean[at - 1]] < sum->means[i]; at--)
            sum->by_mean[at] = sum->by_mean[at - 1];
        sum->by_mean[at] = (unsigned)i;
    }
}

static summary *summarise(const bj_cli_tuning *tuning) {
    const bj_tune_job *job = &tuning->job;
    summary *sum = calloc(1, sizeof *sum);
    double logs = 0;
    if (sum == NULL)
        return NULL;
    sum->least = INFINITY;
    for (size_t s = 0; s < job->size_count; s++) {
        const double *ratios = tuning->search->ratios[s];
        sum->count = bj_tune_list_candidates(&job->machine, job->sizes[s], sum->items);
        for (size_t i = 0; i < sum->count; i++) {
            unsigned same = sum->items[i].same_as;
            sum->same_as[s][i] = same;
            sum->means[i] += log(ratios[same]) / (double)job->size_count;
            if (ratios[same] > ratios[sum->best[s]])
                sum->best[s] = same;
        }
        double share = fmin(1, 1 / ratios[sum->best[s]]);
        logs += log(share);
        if (share < sum->least) {
            sum->least = share;
            sum->least_at = job->sizes[s];
        }
    }
    sum->mean = exp(logs / (double)job->size_count);
    for (size_t i = 0; i < sum->count; i++)
        sum->means[i] = exp(sum->means[i]);
    order_by_mean(sum);
    return sum;
}

static json_t *make_candidate(const bj_cli_tuning *tuning, const bj_tune_candidate *candidate) {
    json_t *object = json_object();
    json_object_set_new(object, "mr", json_integer(candidate->rows * tuning->job.machine.lanes));
    json_object_set_new(object, "nr", json_integer(candidate->columns));
    json_object_set_new(object, "kr", json_integer(candidate->unroll));
    json_object_set_new(object, "packed", json_boolean(candidate->packed));
    return object;
}

json_t *bj_cli_make_search(const bj_cli_tuning *tuning) {
    summary *sum = summarise(tuning);
    if (sum == NULL)
        return json_null();
    const bj_tune_job *job = &tuning->job;
    json_t *object = json_object(), *sizes = json_array(), *list = json_array();
    for (size_t s = 0; s < job->size_count; s++) {
        json_t *size = json_object(), *best = make_candidate(tuning, &sum->items[sum->best[s]]);
        double ratio = tuning->search->ratios[s][sum->best[s]];
        json_object_set_new(best, "gflops", json_real(tuning->search->gflops[s][sum->best[s]]));
        json_object_set_new(size, "n", json_integer((json_int_t)job->sizes[s]));
        json_object_set_new(size, "chosen_gflops", json_real(tuning->search->chosen[s]));
        json_object_set_new(size, "best", best);
        json_object_set_new(size, "chosen_by_best", json_real(fmin(1, 1 / ratio)));
        json_array_append_new(sizes, size);
    }
    for (size_t i = 0; i < sum->count; i++) {
        json_t *one = make_candidate(tuning, &sum->items[i]), *gflops = json_array();
        for (size_t s = 0; s < job->size_count; s++)
            json_array_append_new(gflops, json_real(tuning->search->gflops[s][sum->same_as[s][i]]));
        json_object_set_new(one, "gflops", gflops);
        json_array_append_new(list, one);
    }
    json_object_set_new(object, "combinations", json_integer((json_int_t)sum->count));
    json_object_set_new(object, "chosen_by_best", json_real(sum->mean));
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "candidates", list);
    free(sum);
    return object;
}

void bj_cli_print_search(const bj_cli_tuning *tuning) {
    const bj_tune_job *job = &tuning->job;
    unsigned lanes = job->machine.lanes;
    summary *sum = summarise(tuning);
    if (sum == NULL)
        return;
    printf("\nSearch: %zu combinations of block, unrolling and packing, warm, Gflop/s; fastest over all sizes first\n"
           "  mr  nr  kr packed",
           sum->count);
    for (size_t s = 0; s < job->size_count; s++)
        printf(" %6zu", job->sizes[s]);
    puts("  by the model's");
    for (size_t k = 0; k < sum->count; k++) {
        unsigned i = sum->by_mean[k];
        const bj_tune_candidate *one = &sum->items[i];
        printf("%4u %3u %3u %6s", one->rows * lanes, one->columns, one->unroll, one->packed ? "yes" : "no");
        for (size_t s = 0; s < job->size_count; s++)
            printf(" %6.1f", tuning->search->gflops[s][sum->same_as[s][i]]);
        printf("  %.3f\n", sum->means[i]);
    }
    printf("\nThe model's choice beside the best of each size\n     n    chosen      best  chosen/best  mr  nr  kr "
           "packed\n");
    for (size_t s = 0; s < job->size_count; s++) {
        const bj_tune_candidate *one = &sum->items[sum->best[s]];
        printf("%6zu %9.2f %9.2f %12.3f %3u %3u %3u %6s\n", job->sizes[s], tuning->search->chosen[s],
               tuning->search->gflops[s][sum->best[s]], fmin(1, 1 / tuning->search->ratios[s][sum->best[s]]),
               one->rows * lanes, one->columns, one->unroll, one->packed ? "yes" : "no");
    }
    printf("The model's choice is %.3f of the best (geometric mean), least %.3f at n = %zu.\n", sum->mean, sum->least,
           sum->least_at);
    free(sum);
}
