#include "tune/search.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"

/* Kernels in one file: what a compiler translates in some seconds. */
enum { IN_FILE = 24, FINALISTS = 10, TURNS = BJ_TIMING_KERNELS_MAX - 1 };

/* ---- which there are */

static size_t count_blocks(size_t whole, size_t most) {
    return most > 0 ? (whole + most - 1) / most : 0;
}

/* Tiles differ by one at most, so their number says all about them. */
static bool is_same(size_t vectors, size_t n, const bj_tune_candidate *a, const bj_tune_candidate *b) {
    return count_blocks(vectors, a->rows) == count_blocks(vectors, b->rows) &&
           count_blocks(n, a->columns) == count_blocks(n, b->columns) && a->packed == b->packed &&
           (a->unroll < n ? a->unroll : n) == (b->unroll < n ? b->unroll : n);
}

size_t bj_tune_list_candidates(const bj_tune_machine *machine, size_t n,
                               bj_tune_candidate candidates[BJ_TUNE_CANDIDATES_MAX]) {
    static const unsigned unrolls[] = {1, 2, 4, 8};
    size_t count = 0, vectors = n / machine->lanes;
    for (unsigned rows = 1; rows <= BJ_TUNE_ROWS_MAX; rows++)
        for (unsigned columns = 1; columns <= BJ_TUNE_COLUMNS_MAX; columns++)
            for (unsigned i = 0; i < 8; i++) {
                bj_tune_candidate one = {
                    .rows = rows, .columns = columns, .unroll = unrolls[i / 2], .packed = i % 2 == 1};
                if (rows * columns + rows + 1 > machine->registers || count == BJ_TUNE_CANDIDATES_MAX)
                    break;
                one.same_as = (unsigned)count;
                for (size_t k = 0; k < count && one.same_as == count; k++)
                    if (is_same(vectors, n, &candidates[k], &one))
                        one.same_as = (unsigned)k;
                candidates[count++] = one;
            }
    return count;
}

static bj_tune_kernel plan_candidate(const bj_tune_machine *machine, bool subtract, size_t n,
                                     const bj_tune_candidate *candidate) {
    return (bj_tune_kernel){.type = machine->type,
                            .subtract = subtract,
                            .lanes = machine->lanes,
                            .n = n,
                            .rows = candidate->rows,
                            .columns = candidate->columns,
                            .unroll = candidate->unroll,
                            .pack_from = candidate->packed ? 1 : 0};
}

/* ---- building */

static void name_candidate(size_t n, size_t index, char name[BJ_TUNE_NAME_ROOM]) {
    snprintf(name, BJ_TUNE_NAME_ROOM, "try_%zu_%zu", n, index);
}

/* The candidates of one size that have a kernel of their own. */
static size_t list_kernels(const bj_tune_job *job, size_t n, bj_tune_candidate *candidates, unsigned *kernels) {
    size_t count = bj_tune_list_candidates(&job->machine, n, candidates), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (candidates[i].same_as == i)
            kernels[kept++] = (unsigned)i;
    return kept;
}

static bj_status build_some(const bj_tune_measuring *measuring, size_t n, const bj_tune_candidate *candidates,
                            const unsigned *kernels, size_t count, unsigned number, bj_error *error) {
    const bj_tune_job *job = measuring->job;
    bj_text_stream stream;
    char *text = NULL, name[BJ_TUNE_NAME_ROOM], symbol[BJ_TUNE_NAME_ROOM + 16], file[40], library[256];
    size_t length = 0;
    BJ_TRY(bj_base_open_text_stream(&stream, error));
    FILE *out = stream.out;
    bj_tune_write_prelude(out, job->machine.type, job->machine.lanes);
    for (size_t i = 0; i < count; i++) {
        bj_tune_kernel kernel = plan_candidate(&job->machine, job->subtract, n, &candidates[kernels[i]]);
        name_candidate(n, kernels[i], name);
        kernel.name = name;
        bj_tune_write_fixed(out, &kernel);
        bj_tune_write_timed(out, &kernel);
    }
    bj_status status = bj_base_close_text_stream(&stream, &text, &length, error);
    snprintf(symbol, sizeof symbol, "%s_timed", name);
    snprintf(file, sizeof file, "try%u.c", number);
    if (status == BJ_OK)
        status = bj_tune_build_one(&measuring->build, file, number, symbol, text, length, library, error);
    free(text);
    return status;
}

bj_status bj_tune_build_candidates(const bj_tune_measuring *measuring, unsigned first, bj_error *error) {
    const bj_tune_job *job = measuring->job;
    bj_tune_candidate candidates[BJ_TUNE_CANDIDATES_MAX];
    unsigned kernels[BJ_TUNE_CANDIDATES_MAX];
    for (size_t s = 0; s < job->size_count; s++) {
        size_t n = job->sizes[s], count = list_kernels(job, n, candidates, kernels);
        char what[100];
        snprintf(what, sizeof what, "building %zu kernels of n = %zu for the search", count, n);
        if (measuring->say != NULL)
            measuring->say(measuring->context, what);
        for (size_t i = 0; i < count; i += IN_FILE)
            BJ_TRY(build_some(measuring, n, candidates, kernels + i, count - i < IN_FILE ? count - i : IN_FILE, first++,
                              error));
    }
    return BJ_OK;
}

/* ---- timing */

typedef struct {
    const bj_tune_measuring *measuring;
    bj_timer_bench *bench;
    size_t n;
    bj_kernel_function *model;
    bj_kernel_function *functions[BJ_TUNE_CANDIDATES_MAX]; /* by candidate */
    double ratios[BJ_TUNE_CANDIDATES_MAX];
    void (*take)(void *context, const bj_tune_speed *speed);
} search;

/* Some candidates in turns with the model's choice. */
static bj_status time_some(search *s, const unsigned *kernels, size_t count, bj_error *error) {
    bj_kernel_function *functions[BJ_TIMING_KERNELS_MAX] = {s->model};
    double gflops[BJ_TIMING_KERNELS_MAX];
    bj_tune_request_of_size asked = {.type = s->measuring->job->machine.type,
                                     .n = s->n,
                                     .kernels = functions,
                                     .count = count + 1,
                                     .residency = BJ_RESIDENT_WARM};
    for (size_t i = 0; i < count; i++)
        functions[i + 1] = s->functions[kernels[i]];
    BJ_TRY(bj_tune_time_products(s->bench, &asked, gflops, error));
    for (size_t i = 0; i <= count; i++) {
        bj_tune_speed speed = {.index = i > 0 ? kernels[i - 1] : BJ_TUNE_CANDIDATES_MAX,
                               .n = s->n,
                               .gflops = gflops[i],
                               .ratio = gflops[i] / gflops[0]};
        if (!isfinite(speed.ratio))
            return bj_base_set_error(error, BJ_ERR_FAILED, "a candidate of n = %zu could not be timed", s->n);
        if (i > 0)
            s->ratios[kernels[i - 1]] = speed.ratio;
        s->take(s->measuring->context, &speed);
    }
    return BJ_OK;
}

static bj_status time_finalists(search *s, const unsigned *kernels, size_t count, bj_error *error) {
    unsigned best[FINALISTS];
    size_t kept = 0;
    for (; kept < FINALISTS && kept < count; kept++) {
        unsigned leader = BJ_TUNE_CANDIDATES_MAX;
        for (size_t i = 0; i < count; i++) {
            bool taken = false;
            for (size_t k = 0; k < kept; k++)
                taken = taken || best[k] == kernels[i];
            if (!taken && (leader == BJ_TUNE_CANDIDATES_MAX || s->ratios[kernels[i]] > s->ratios[leader]))
                leader = kernels[i];
        }
        best[kept] = leader;
    }
    return time_some(s, best, kept, error);
}

static bj_status time_size(search *s, const bj_tune_objects *objects, unsigned *number, bj_error *error) {
    const bj_tune_job *job = s->measuring->job;
    bj_tune_candidate candidates[BJ_TUNE_CANDIDATES_MAX];
    unsigned kernels[BJ_TUNE_CANDIDATES_MAX];
    char name[BJ_TUNE_NAME_ROOM], library[PATH_MAX];
    size_t count = list_kernels(job, s->n, candidates, kernels);
    bj_tune_name_kernel(job, s->n, name);
    BJ_TRY(bj_tune_load_timed(s->measuring, objects->fixed, name, s->n, &s->model, error));
    for (size_t i = 0; i < count; i++) {
        snprintf(library, sizeof library, "%s/kernel%zu.so", s->measuring->build.folder, *number + i / IN_FILE);
        name_candidate(s->n, kernels[i], name);
        BJ_TRY(bj_tune_load_timed(s->measuring, library, name, s->n, &s->functions[kernels[i]], error));
    }
    *number += (unsigned)((count + IN_FILE - 1) / IN_FILE);
    for (size_t i = 0; i < count; i += TURNS)
        BJ_TRY(time_some(s, kernels + i, count - i < TURNS ? count - i : TURNS, error));
    return time_finalists(s, kernels, count, error);
}

bj_status bj_tune_time_candidates(const bj_tune_measuring *measuring, const bj_tune_objects *objects, unsigned first,
                                  void (*take)(void *context, const bj_tune_speed *speed), bj_error *error) {
    const bj_tune_job *job = measuring->job;
    bj_timer_bench_options options = {.caches = measuring->caches, .seed = measuring->seed};
    search *s = calloc(1, sizeof *s);
    if (s == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the search");
    s->measuring = measuring;
    s->take = take;
    bj_status status = bj_timer_open_bench(&options, &s->bench, error);
    for (size_t i = 0; i < job->size_count && status == BJ_OK; i++) {
        char what[60];
        s->n = job->sizes[i];
        snprintf(what, sizeof what, "searching n = %zu", s->n);
        if (measuring->say != NULL)
            measuring->say(measuring->context, what);
        status = time_size(s, objects, &first, error);
    }
    bj_timer_close_bench(s->bench);
    free(s);
    return status;
}
