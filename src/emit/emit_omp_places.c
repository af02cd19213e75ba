/* For OpenMP: the value of OMP_PLACES, one place a cpu, in the order that was asked for. */
#include <stdlib.h>

#include "emit/place_order.h"

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = bj_emit_order_cpus(request, &cpus, &count, error);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "%s{%d}", i > 0 ? "," : "", cpus[i]);
    if (status == BJ_OK)
        putc('\n', out);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_omp_places = {
    .name = "omp-places",
    .summary = "a value for OMP_PLACES, cpus in the order of --order; needs topology.tree",
    .emit = emit,
};
