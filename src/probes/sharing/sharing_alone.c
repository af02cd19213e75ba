/* Walks of single cpus: what the others are compared with. */
#include <math.h>
#include <stdlib.h>

#include "probes/sharing/sharing_constants.h"
#include "probes/sharing/sharing_round.h"

/* The most cpus that walk alone in the first round, and in each later one: more say little more. */
#define ALONE_FIRST 32u
#define ALONE_LATER 6u

static bj_status record_alone(bj_sharing_run *run, const bj_sharing_plan *plan, const char *kind, size_t who, double y,
                              bj_error *error) {
    bj_curve *curve;
    BJ_TRY(bj_sharing_open_curve(run, plan, kind, -1, &curve, error));
    return bj_data_record_sample(curve, run->all.cpus[who], run->rounds.round, y, error);
}

/* One walk alone, or where frames of base pages decide, two in the same frames. */
static bj_status walk_alone(bj_sharing_run *run, const bj_sharing_plan *plan, size_t who, double *ns, bj_error *error) {
    double again_ns;
    BJ_TRY(bj_sharing_walk_at_once(run, plan, &who, 1, plan->is_paired ? &again_ns : ns, plan->is_paired ? ns : NULL,
                                   error));
    BJ_TRY(record_alone(run, plan, SHARING_ALONE, who, *ns, error));
    if (plan->is_paired)
        BJ_TRY(record_alone(run, plan, SHARING_AGAIN, who, again_ns / *ns, error));
    return bj_probe_report(run->rounds.request, 0, error);
}

/* Who took longer than some and has nobody near may have been disturbed: the lower of two walks counts. Where frames
 * decide, all are lonely, and no ratio is to these times. */
static bj_status ask_lonely(bj_sharing_run *run, const bj_sharing_plan *plan, const size_t *who, double *ns,
                            size_t count, bj_error *error) {
    for (size_t i = 0; i < count && !plan->is_paired; i++) {
        bool is_near = false, is_slower = false;
        double again_ns;
        for (size_t j = 0; j < count; j++) {
            is_near = is_near || (j != i && fmax(ns[i], ns[j]) <= (1 + LONELY) * fmin(ns[i], ns[j]));
            is_slower = is_slower || ns[i] > ns[j];
        }
        if (is_near || !is_slower)
            continue;
        BJ_TRY(bj_sharing_walk_at_once(run, plan, &who[i], 1, &again_ns, NULL, error));
        ns[i] = fmin(ns[i], again_ns);
        BJ_TRY(record_alone(run, plan, SHARING_ALONE, who[i], ns[i], error));
    }
    return BJ_OK;
}

bj_status bj_sharing_measure_alone(bj_sharing_run *run, const bj_sharing_plan *plan, bj_error *error) {
    size_t count = run->all.count, wanted = run->rounds.round == 0 ? ALONE_FIRST : ALONE_LATER;
    /* The first level's walks are short, and say which cpus there are. */
    if (run->rounds.round == 0 && plan->level == 1)
        wanted = count;
    wanted = wanted < count ? wanted : count;
    size_t *order = malloc((count + 1) * sizeof *order);
    double *ns = malloc((count + 1) * sizeof *ns);
    bj_status status = BJ_OK;
    if (order == NULL || ns == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    if (status == BJ_OK) {
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        bj_sharing_shuffle(run, order, count);
    }
    for (size_t i = 0; i < wanted && status == BJ_OK; i++)
        status = walk_alone(run, plan, order[i], &ns[i], error);
    if (status == BJ_OK)
        status = ask_lonely(run, plan, order, ns, wanted, error);
    free(order);
    free(ns);
    return status;
}
