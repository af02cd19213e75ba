/* For Open MPI: a rankfile, one rank a cpu, in the order that was asked for. */
#include <stdlib.h>

#include "emit/place_order.h"

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = bj_emit_order_cpus(request, &cpus, &count, error);
    if (status == BJ_OK)
        fputs("# Slots are the operating system's cpu numbers, for Open MPI 4: --mca rmaps_rank_file_physical 1.\n"
              "# Open MPI 5 takes logical indexes only: there this holds only where hwloc numbers the cpus alike.\n",
              out);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "rank %zu=%s slot=%d\n", i, request->options.host, cpus[i]);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_rankfile = {
    .name = "rankfile",
    .summary = "a rankfile for Open MPI, cpus in the order of --order; needs topology.tree",
    .emit = emit,
};
