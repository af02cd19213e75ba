/* Which probes run, in which order, at what cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/pace.h"
#include "runner/runner.h"

typedef struct {
    const bj_probe **order;
    size_t count;
    const bj_probe **path; /* from a probe that was asked for to the one being placed */
    size_t depth;
} ordering;

static bool is_among(const bj_probe *const *probes, size_t count, const bj_probe *probe) {
    for (size_t i = 0; i < count; i++)
        if (probes[i] == probe)
            return true;
    return false;
}

/* Depth first: what a probe needs is placed before it. */
static bj_status place_probe(ordering *state, const bj_probe *probe, bj_error *error) {
    if (is_among(state->order, state->count, probe))
        return BJ_OK;
    if (is_among(state->path, state->depth, probe))
        return bj_base_set_error(error, BJ_ERR_FAILED, "probes %s and %s need each other", probe->name,
                                 state->path[state->depth - 1]->name);
    state->path[state->depth++] = probe;
    for (size_t i = 0; probe->needs != NULL && probe->needs[i] != NULL; i++) {
        const bj_probe *needed = bj_probe_find(probe->needs[i]);
        if (needed == NULL)
            return bj_base_set_error(error, BJ_ERR_FAILED, "probe %s needs '%s', which does not exist", probe->name,
                                     probe->needs[i]);
        BJ_TRY(place_probe(state, needed, error));
    }
    state->depth--;
    state->order[state->count++] = probe;
    return BJ_OK;
}

bj_status bj_runner_order_probes(const bj_run_plan *plan, const bj_probe ***order, size_t *count, bj_error *error) {
    const size_t pointer_bytes = sizeof(void *);
    ordering state = {
        .order = calloc(bj_probe_count + 1, pointer_bytes),
        .path = calloc(bj_probe_count + 1, pointer_bytes),
    };
    bj_status status = BJ_OK;
    if (state.order == NULL || state.path == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the order of probes");
    size_t wanted = plan->probe_count > 0 ? plan->probe_count : bj_probe_count;
    for (size_t i = 0; i < wanted && status == BJ_OK; i++) {
        const bj_probe *probe = plan->probe_count > 0 ? bj_probe_find(plan->probes[i]) : bj_probes[i];
        if (probe == NULL)
            status = bj_base_set_error(error, BJ_ERR_USAGE, "no probe is called '%.60s'", plan->probes[i]);
        else if (plan->probe_count > 0 || plan->on_request || !probe->on_request)
            status = place_probe(&state, probe, error);
    }
    free(state.path);
    if (status != BJ_OK) {
        free(state.order);
        return status;
    }
    *order = state.order;
    *count = state.count;
    return BJ_OK;
}

/* Pairs that a probe of pairs asks for each cpu, unless all are wanted. */
static const double PAIRS_OF_CPU = 3;

double bj_runner_estimate_probe(const bj_probe *probe, const bj_run_plan *plan, size_t cpu_count) {
    double further = cpu_count > 2 ? (double)cpu_count - 2 : 0;
    double times = plan->all_pairs ? fmax((double)cpu_count / 2 / PAIRS_OF_CPU, 1) : 1;
    return probe->requires_cpus > cpu_count
               ? 0
               : probe->cost_s[plan->effort] + probe->cost_cpu_s[plan->effort] * further * times;
}

void bj_runner_estimate_cost(const bj_probe *const *order, size_t count, const bj_run_plan *plan, size_t cpu_count,
                             uint64_t memory_bytes, double *seconds, uint64_t *bytes) {
    *seconds = 0;
    *bytes = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t wanted = order[i]->memory_bytes[plan->effort];
        uint64_t peak = wanted < memory_bytes ? wanted : memory_bytes;
        *seconds += bj_runner_estimate_probe(order[i], plan, cpu_count);
        *bytes = peak > *bytes ? peak : *bytes;
    }
    *seconds *= (1 + BJ_LATE_COST * plan->late_rounds) * (plan->repeats > 1 ? plan->repeats : 1);
    *seconds = fmin(*seconds, plan->budget_s);
}
