#include "tune/measure.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/text_stream.h"
#include "platform/library.h"
#include "tune/verify.h"

enum { LIBRARY_ROOM = 256 };

static void say(const bj_tune_measuring *measuring, const char *what) {
    if (measuring->say != NULL)
        measuring->say(measuring->context, what);
}

bj_status bj_tune_build_one(const bj_timer_build *build, const char *file, unsigned number, const char *symbol,
                            const char *text, size_t length, char *library, bj_error *error) {
    char path[PATH_MAX], *made = NULL;
    bj_timer_build one = *build;
    one.number = number;
    snprintf(path, sizeof path, "%s/%s", build->folder, file);
    BJ_TRY(bj_base_write_file_atomically(path, text, length, error));
    BJ_TRY(bj_timer_build_kernel(&one, path, symbol, &made, error));
    bj_status status = BJ_OK;
    if (strlen(made) >= LIBRARY_ROOM)
        status = bj_base_set_error(error, BJ_ERR_INPUT, "%.200s: too long a path", made);
    else
        memcpy(library, made, strlen(made) + 1);
    free(made);
    return status;
}

bj_status bj_tune_build_objects(const bj_tune_measuring *measuring, bj_tune_objects *objects, bj_error *error) {
    const bj_tune_job *job = measuring->job;
    char name[BJ_TUNE_NAME_ROOM], symbol[BJ_TUNE_NAME_ROOM + 16];
    const char *const files[] = {"general.c", "fixed.c", "rivals.c"};
    char *const libraries[] = {objects->general, objects->fixed, objects->rivals};
    for (unsigned i = 0; i < 3; i++) {
        char *text = NULL;
        size_t length = 0;
        bj_text_stream stream;
        BJ_TRY(bj_base_open_text_stream(&stream, error));
        FILE *out = stream.out;
        if (i == 0)
            bj_tune_write_general_file(out, job, BJ_TUNE_FOR_TIMING);
        else if (i == 1)
            bj_tune_write_fixed_file(out, job, BJ_TUNE_FOR_TIMING);
        else
            bj_tune_write_rivals_file(out, job);
        bj_status status = bj_base_close_text_stream(&stream, &text, &length, error);
        bj_tune_name_kernel(job, i == 1 ? job->sizes[0] : 0, name);
        snprintf(symbol, sizeof symbol, i == 2 ? "%s_plain_timed" : "%s_timed", name);
        say(measuring, files[i]);
        if (status == BJ_OK)
            status = bj_tune_build_one(&measuring->build, files[i], 10 + i, symbol, text, length, libraries[i], error);
        free(text);
        BJ_TRY(status);
    }
    return BJ_OK;
}

typedef struct {
    const bj_tune_measuring *measuring;
    const bj_tune_objects *objects;
    bj_tune_peers *peers;
    bj_timer_bench *bench;
    bj_kernel_function *kernels[BJ_TUNE_PEERS + BJ_TUNE_PEERS_MAX];
    size_t kernel_count;
} session;

static bj_status load(const char *library, const char *symbol, bj_kernel_function **kernel, bj_error *error) {
    bj_any_function *found = NULL;
    BJ_TRY(bj_platform_load_function(library, symbol, &found, error));
    *kernel = (bj_kernel_function *)found;
    return BJ_OK;
}

/* The kernels of one size, each compared with a plain computation. */
static bj_status load_size(session *s, size_t n, bj_error *error) {
    const bj_tune_job *job = s->measuring->job;
    bj_tune_kernel plan = {.type = job->machine.type, .subtract = job->subtract};
    char name[BJ_TUNE_NAME_ROOM], symbols[BJ_TUNE_PEERS][BJ_TUNE_NAME_ROOM + 16];
    const char *libraries[] = {s->objects->general, s->objects->fixed, s->objects->rivals, s->objects->rivals};
    bj_tune_name_kernel(job, n, name);
    snprintf(symbols[BJ_TUNE_GENERAL], sizeof symbols[0], "%s_timed", job->name);
    snprintf(symbols[BJ_TUNE_FIXED], sizeof symbols[0], "%s_timed", name);
    snprintf(symbols[BJ_TUNE_2012], sizeof symbols[0], "%s_2012_timed", job->name);
    snprintf(symbols[BJ_TUNE_PLAIN], sizeof symbols[0], "%s_plain_timed", job->name);
    for (size_t i = 0; i < BJ_TUNE_PEERS; i++)
        BJ_TRY(load(libraries[i], symbols[i], &s->kernels[i], error));
    s->kernel_count = BJ_TUNE_PEERS;
    for (size_t i = 0; i < s->peers->count; i++)
        s->kernels[s->kernel_count++] = s->peers->items[i].kernel;
    for (size_t i = 0; i < s->kernel_count; i++) {
        bool ours = i < BJ_TUNE_PEERS;
        plan.name = ours ? symbols[i] : s->peers->items[i - BJ_TUNE_PEERS].name;
        bool adds = !ours && s->peers->items[i - BJ_TUNE_PEERS].adds;
        BJ_TRY(bj_tune_verify_timed(s->kernels[i], &plan, n, adds, error));
    }
    return BJ_OK;
}

static bj_status verify_shapes(const session *s, bj_error *error) {
    const bj_tune_job *job = s->measuring->job;
    bj_any_function *found = NULL;
    bj_tune_kernel kernel = bj_tune_plan_general(&job->machine, &job->model, job->subtract);
    kernel.name = job->name;
    BJ_TRY(bj_platform_load_function(s->objects->general, job->name, &found, error));
    return bj_tune_verify_general(found, &kernel, error);
}

bj_status bj_tune_load_timed(const bj_tune_measuring *measuring, const char *library, const char *name, size_t n,
                             bj_kernel_function **kernel, bj_error *error) {
    const bj_tune_job *job = measuring->job;
    bj_tune_kernel plan = {.name = name, .type = job->machine.type, .subtract = job->subtract};
    char symbol[BJ_TUNE_NAME_ROOM + 16];
    snprintf(symbol, sizeof symbol, "%.40s_timed", name);
    BJ_TRY(load(library, symbol, kernel, error));
    return bj_tune_verify_timed(*kernel, &plan, n, false, error);
}

bj_status bj_tune_time_products(bj_timer_bench *bench, const bj_tune_request_of_size *asked, double *gflops,
                                bj_error *error) {
    size_t n = asked->n, bytes = n * n * bj_tune_size_of(asked->type);
    bj_timer_operand operands[3] = {
        {.name = "a", .bytes = bytes, .direction = BJ_DIRECTION_IN, .residency = BJ_RESIDENT_UNSAID},
        {.name = "b", .bytes = bytes, .direction = BJ_DIRECTION_IN, .residency = BJ_RESIDENT_UNSAID},
        {.name = "c", .bytes = bytes, .direction = BJ_DIRECTION_INOUT, .residency = BJ_RESIDENT_UNSAID}};
    bj_timing timings[BJ_TIMING_KERNELS_MAX];
    bj_timing_request request = {
        .kernel_count = asked->count, .n = n, .operands = operands, .operand_count = 3, .context = asked->residency};
    memcpy(request.kernels, asked->kernels, asked->count * sizeof asked->kernels[0]);
    BJ_TRY(bj_timer_time_kernels(bench, &request, timings, NULL, error));
    for (size_t k = 0; k < asked->count; k++) {
        const bj_answer *time_ns = &timings[k].time_ns;
        bool known = bj_data_has_value(time_ns) && time_ns->value > 0;
        gflops[k] = known ? 2.0 * (double)(n * n * n) / time_ns->value : NAN;
    }
    return BJ_OK;
}

static bj_status time_size(session *s, size_t index, bj_error *error) {
    const bj_tune_job *job = s->measuring->job;
    const int residencies[BJ_TUNE_CONTEXTS] = {BJ_RESIDENT_WARM, BJ_RESIDENT_COLD};
    bj_tune_result result = {.n = job->sizes[index]};
    bj_tune_request_of_size asked = {
        .type = job->machine.type, .n = result.n, .kernels = s->kernels, .count = s->kernel_count};
    for (size_t c = 0; c < BJ_TUNE_CONTEXTS; c++) {
        for (size_t k = 0; k < BJ_TUNE_PEERS + BJ_TUNE_PEERS_MAX; k++)
            result.gflops[c][k] = NAN;
        asked.residency = residencies[c];
        if (s->measuring->contexts[c])
            BJ_TRY(bj_tune_time_products(s->bench, &asked, result.gflops[c], error));
    }
    s->measuring->take(s->measuring->context, index, &result);
    return BJ_OK;
}

static bj_status measure(session *s, bj_error *error) {
    const bj_tune_job *job = s->measuring->job;
    bj_timer_bench_options options = {.caches = s->measuring->caches, .seed = s->measuring->seed};
    say(s->measuring, "verifying");
    BJ_TRY(verify_shapes(s, error));
    BJ_TRY(bj_timer_open_bench(&options, &s->bench, error));
    bj_status status = BJ_OK;
    for (size_t i = 0; i < job->size_count && status == BJ_OK; i++) {
        char what[40];
        snprintf(what, sizeof what, "timing n = %zu", job->sizes[i]);
        say(s->measuring, what);
        status = load_size(s, job->sizes[i], error);
        if (status == BJ_OK)
            status = time_size(s, i, error);
    }
    bj_timer_close_bench(s->bench);
    return status;
}

/* OpenBLAS takes old kernels on a processor that it does not know, which makes a comparison worthless: the reader must
 * see which. */
static void say_core(const bj_tune_measuring *measuring) {
    bj_any_function *found = NULL;
    bj_error ignored;
    char text[120];
    if (bj_platform_find_function("libopenblas.so.0", "openblas_get_corename", &found, &ignored) != BJ_OK)
        return;
    snprintf(text, sizeof text, "OpenBLAS uses its kernels for %.30s (OPENBLAS_CORETYPE)", ((char *(*)(void))found)());
    say(measuring, text);
}

bj_status bj_tune_measure(const bj_tune_measuring *measuring, const bj_tune_objects *objects, bj_tune_peers *peers,
                          bj_error *error) {
    const bj_tune_job *job = measuring->job;
    session s = {.measuring = measuring, .objects = objects, .peers = peers};
    memset(peers, 0, sizeof *peers);
    bj_tune_calm_peers();
    for (size_t i = 0; i < measuring->against_count; i++)
        BJ_TRY(bj_tune_add_peer(peers, measuring->against[i], job->machine.type, job->subtract, error));
    say(measuring, "looking for other libraries");
    bj_tune_find_peers(peers, &measuring->build, job->machine.type, job->subtract);
    say_core(measuring);
    return measure(&s, error);
}
