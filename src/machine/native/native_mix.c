/* Walks and streams at once on the real machine, each on its own pinned thread. Walks or streams alone are a mix of
 * one kind. */
#include "machine/native/native_mix.h"

#include <stdlib.h>

#include "machine/machine_check.h"
#include "machine/native/native_machine.h"

/* The jobs lie one after the other, so each takes the room of the larger kind, aligned for either. */
static size_t job_bytes(void) {
    const size_t aligned = _Alignof(max_align_t);
    size_t walk = bj_native_walk_job_bytes(), stream = bj_native_stream_job_bytes();
    return ((walk > stream ? walk : stream) + aligned - 1) / aligned * aligned;
}

static bj_status make_jobs(const bj_mix *mix, double batch_ns, char *jobs, double *ns_per_access, double *gbs,
                           bj_error *error) {
    for (size_t i = 0; i < mix->walk_count; i++, jobs += job_bytes())
        BJ_TRY(bj_native_make_walk_job((bj_native_job *)(void *)jobs, &mix->walks[i], mix->walk_effort, batch_ns,
                                       ns_per_access + i * mix->walk_effort->repetitions, error));
    for (size_t i = 0; i < mix->stream_count; i++, jobs += job_bytes())
        BJ_TRY(bj_native_make_stream_job((bj_native_job *)(void *)jobs, &mix->streams[i], mix->stream_effort, batch_ns,
                                         gbs + i * mix->stream_effort->repetitions, error));
    return BJ_OK;
}

bj_status bj_native_run_mix(bj_machine *machine, const bj_mix *mix, double *ns_per_access, double *gbs,
                            bj_error *error) {
    size_t count = mix->walk_count + mix->stream_count;
    bj_machine_clear_mix(mix, ns_per_access, gbs);
    BJ_TRY(bj_machine_check_mix(mix, error));
    double batch_ns = 0;
    BJ_TRY(bj_native_warm_up(machine, mix->walk_count > 0 ? mix->walks[0].cpu : mix->streams[0].cpu, &batch_ns, error));
    char *jobs = calloc(count, job_bytes());
    if (jobs == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks and streams", count);
    bj_status status = make_jobs(mix, batch_ns, jobs, ns_per_access, gbs, error);
    if (status == BJ_OK)
        status = bj_native_run_jobs(jobs, job_bytes(), count, error);
    free(jobs);
    return status;
}

bj_status bj_native_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count,
                              const bj_walk_effort *effort, double *ns_per_access, bj_error *error) {
    const bj_mix mix = {.walks = walks, .walk_count = walk_count, .walk_effort = effort};
    return bj_native_run_mix(machine, &mix, ns_per_access, NULL, error);
}

bj_status bj_native_run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                                const bj_stream_effort *effort, double *gbs, bj_error *error) {
    const bj_mix mix = {.streams = streams, .stream_count = count, .stream_effort = effort};
    return bj_native_run_mix(machine, &mix, NULL, gbs, error);
}
