/* For gcc: the cache parameters that its loop optimisations and prefetching go by, on one line for a command line.
 *
 * gcc counts caches in kilobytes, and reads l2-cache-size as what a loop may fill, so it gets the effective size. */
#include <math.h>

#include "emit/emit.h"

static bj_status take_kib(const bj_emit_request *request, unsigned level, double *kib, bj_error *error) {
    bj_emit_value value;
    BJ_TRY(bj_emit_take_cache(request, level, "size_bytes", &value, error));
    *kib = floor(value.value / 1024);
    /* gcc's parameters are int. */
    if (!(*kib >= 1 && *kib <= 2147483647))
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s needs cache.L%u.size_bytes from 1 KiB to 2 TiB",
                                 request->emitter->name, level);
    return BJ_OK;
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    double l1_kib = 0, l2_kib = 0;
    bj_emit_value levels, line;
    bj_status status = bj_emit_take_levels(request, 1, &levels, error);
    if (status == BJ_OK)
        status = take_kib(request, 1, &l1_kib, error);
    if (status == BJ_OK)
        status = bj_emit_take(request, "cache.line_bytes", &line, error);
    if (status == BJ_OK && !(line.value >= 1 && line.value <= 65536))
        status = bj_base_set_error(error, BJ_ERR_FAILED, "%s needs cache.line_bytes from 1 to 65536",
                                   request->emitter->name);
    if (status == BJ_OK && levels.value > 1)
        status = take_kib(request, 2, &l2_kib, error);
    if (status != BJ_OK)
        return status;
    fprintf(out, "--param l1-cache-size=%.0f --param l1-cache-line-size=%.0f", l1_kib, line.value);
    if (levels.value > 1)
        fprintf(out, " --param l2-cache-size=%.0f", l2_kib);
    putc('\n', out);
    return BJ_OK;
}

const bj_emitter bj_emitter_gcc_params = {
    .name = "gcc-params",
    .summary = "--param options for gcc's command line: first and second level, line",
    .emit = emit,
};
