/* Walks of several cpus at once over one level's working set. */
#include <stdlib.h>

#include "probes/sharing/sharing_round.h"

#define REPETITIONS 3u

bj_status bj_sharing_walk_at_once(bj_sharing_run *run, const bj_sharing_plan *plan, const size_t *who, size_t count,
                                  double *ns, double *alone_ns, bj_error *error) {
    bj_partaker *walkers = malloc((count + 1) * sizeof *walkers);
    if (walkers == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", count);
    for (size_t i = 0; i < count; i++)
        walkers[i] = (bj_partaker){run->all.cpus[who[i]], run->all.cpus[who[i]], plan->bytes};
    bj_party party = {.walkers = walkers,
                      .walk_count = count,
                      .order = run->order,
                      .grain_bytes = run->grain_bytes,
                      .alone_ns = alone_ns,
                      .repetitions = REPETITIONS};
    bj_kit_choose_pages(&run->rounds, plan->bytes, plan->most_at_once);
    bj_status status = bj_kit_run_together(&run->rounds, &party, ns, NULL, error);
    free(walkers);
    return status;
}

bj_status bj_sharing_compare_at_once(bj_sharing_run *run, const bj_sharing_plan *plan, const size_t *who, size_t count,
                                     double *ratios, bj_error *error) {
    double *alone_ns = malloc((count + 1) * sizeof *alone_ns);
    if (alone_ns == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", count);
    bj_status status = bj_sharing_walk_at_once(run, plan, who, count, ratios, plan->is_paired ? alone_ns : NULL, error);
    for (size_t i = 0; status == BJ_OK && i < count; i++)
        ratios[i] /= plan->is_paired ? alone_ns[i] : plan->alone_ns[who[i]];
    free(alone_ns);
    return status == BJ_OK ? bj_probe_report(run->rounds.request, 0, error) : status;
}
