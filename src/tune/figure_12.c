#include "tune/figure_12.h"

#include <math.h>

/* Falling by less than this is noise, and the edges of the blocks. */
#define FALLS_BY 0.05
enum { TIMES_THE_MODEL = 3, GRAIN = 8 };

size_t bj_tune_list_points(size_t model_size, size_t sizes[BJ_TUNE_POINTS_MAX]) {
    size_t most = TIMES_THE_MODEL * model_size, step = GRAIN, count = 0;
    while (most / step > BJ_TUNE_POINTS_MAX)
        step += GRAIN;
    for (size_t n = step; n <= most && count < BJ_TUNE_POINTS_MAX; n += step)
        sizes[count++] = n;
    return count;
}

size_t bj_tune_find_knee(const bj_tune_point *points, size_t count, size_t model_size) {
    double full = 0;
    for (size_t i = 0; i < count && points[i].n <= model_size; i++)
        full = fmax(full, points[i].gflops);
    for (size_t i = count; i > 0; i--)
        if (points[i - 1].gflops >= (1 - FALLS_BY) * full)
            return i < count ? points[i - 1].n : 0;
    return 0;
}

bj_status bj_tune_time_points(const bj_tune_measuring *measuring, const bj_tune_objects *objects,
                              void (*take)(void *context, const bj_tune_point *point), bj_error *error) {
    const bj_tune_job *job = measuring->job;
    bj_timer_bench_options options = {.caches = measuring->caches, .seed = measuring->seed};
    bj_timer_bench *bench = NULL;
    size_t sizes[BJ_TUNE_POINTS_MAX], count = bj_tune_list_points(job->model.block_2012, sizes);
    char name[BJ_TUNE_NAME_ROOM];
    snprintf(name, sizeof name, "%.15s_2012", job->name);
    if (measuring->say != NULL)
        measuring->say(measuring->context, "timing the kernel of 2012 over n");
    bj_status status = bj_timer_open_bench(&options, &bench, error);
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        bj_kernel_function *kernel = NULL;
        bj_tune_point point = {.n = sizes[i]};
        bj_tune_request_of_size asked = {
            .type = job->machine.type, .n = sizes[i], .kernels = &kernel, .count = 1, .residency = BJ_RESIDENT_WARM};
        status = bj_tune_load_timed(measuring, objects->rivals, name, point.n, &kernel, error);
        if (status == BJ_OK)
            status = bj_tune_time_products(bench, &asked, &point.gflops, error);
        if (status == BJ_OK && isfinite(point.gflops))
            take(measuring->context, &point);
    }
    bj_timer_close_bench(bench);
    return status;
}
