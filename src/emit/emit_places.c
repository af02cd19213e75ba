/* The order in which threads or ranks fill the cpus of `topology.tree`: for OpenMP the value of OMP_PLACES, one place a
 * cpu, and for Open MPI a rankfile, one rank a cpu. */
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

/* Where nothing is known of who is close to whom: the cpus that the run was allowed, in the system's order. That is no
 * answer to who wants them far apart. */
static bj_status list_cpus(const bj_emit_request *request, const bj_error *why, int **cpus, size_t *count,
                           bj_error *error) {
    const bj_profile *profile = request->profile;
    size_t allowed = profile->environment.cpus_allowed_count;
    if (request->options.order == BJ_ORDER_SPREAD || allowed == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s", why->text);
    *cpus = calloc(allowed, sizeof **cpus);
    if (*cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", allowed);
    memcpy(*cpus, profile->environment.cpus_allowed, allowed * sizeof **cpus);
    qsort(*cpus, allowed, sizeof **cpus, compare_cpus);
    *count = allowed;
    bj_emit_note_left_out(request, "the order by closeness", why->text);
    return BJ_OK;
}

static bool accepts(const void *context, const bj_answer *answer) {
    bj_emit_value value;
    return bj_emit_accepts(context, answer, &value) && !value.claimed;
}

/* All cpus of the tree as threads would fill them; *cpus is the caller's to free. */
static bj_status order_cpus(const bj_emit_request *request, int **cpus, size_t *count, bj_error *error) {
    static const char key[] = "topology.tree";
    bj_emit_value value;
    bj_error why;
    bj_status status = bj_emit_take_answer(request, key, &value, &why);
    if (status == BJ_OK && !value.claimed && value.answer->structured != NULL)
        return bj_profile_place_by_answers(request->profile, value.answer, request->options.order, 0, accepts, request,
                                           cpus, count, error);
    if (status == BJ_OK)
        bj_base_set_error(&why, BJ_ERR_FAILED, "%s needs %s as a tree, which it is not", request->emitter->name, key);
    return list_cpus(request, &why, cpus, count, error);
}

static bj_status emit_places(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = order_cpus(request, &cpus, &count, error);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "%s{%d}", i > 0 ? "," : "", cpus[i]);
    if (status == BJ_OK)
        putc('\n', out);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_omp_places = {
    .name = "omp-places",
    .summary = "a value for OMP_PLACES, cpus in the order of --order, which takes topology.tree",
    .emit = emit_places,
};

static bj_status emit_ranks(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = order_cpus(request, &cpus, &count, error);
    if (status == BJ_OK)
        fputs("# Slots are the operating system's cpu numbers, for Open MPI 4: --mca rmaps_rank_file_physical 1.\n"
              "# It binds a rank to the whole core of its slot, siblings included.\n"
              "# Open MPI 5 takes logical indexes only: there this holds only where hwloc numbers the cpus alike.\n",
              out);
    for (size_t i = 0; i < request->notes->left_out.count && status == BJ_OK; i++) {
        fputs("# ", out);
        bj_emit_print_safely(out, request->notes->left_out.items[i], "");
        putc('\n', out);
    }
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "rank %zu=%s slot=%d\n", i, request->options.host, cpus[i]);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_rankfile = {
    .name = "rankfile",
    .summary = "a rankfile for Open MPI, cpus in the order of --order, which takes topology.tree",
    .has_comments = true,
    .emit = emit_ranks,
};
