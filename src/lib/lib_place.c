/* Which cpu each thread is to run on. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lib/lib.h"
#include "profile/placement.h"

/* As for `emit`: what has no confidence was written by a person. */
static bool is_sure(const void *context, const bj_answer *answer) {
    (void)context;
    return answer->status == BJ_ANSWER_OK && answer->confidence != BJ_CONFIDENCE_LOW;
}

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

static bj_lib_result place_in_order(const bj_lib_profile *profile, size_t count, int *cpus, const char *why,
                                    bj_lib_error *error) {
    size_t allowed = profile->whole.environment.cpus_allowed_count;
    if (allowed == 0)
        return bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "%s; the profile names no cpus", why);
    int *sorted = malloc(allowed * sizeof *sorted);
    if (sorted == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory for %zu cpus", allowed);
    memcpy(sorted, profile->whole.environment.cpus_allowed, allowed * sizeof *sorted);
    qsort(sorted, allowed, sizeof *sorted, compare_cpus);
    for (size_t i = 0; i < count; i++)
        cpus[i] = sorted[i % allowed];
    free(sorted);
    return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "%s: cpus in the system's order", why);
}

bj_lib_result bj_lib_place_threads(const bj_lib_profile *profile, size_t count, bj_lib_placement how, int *cpus,
                                   bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    static const char key[] = "topology.tree";
    bj_error trouble;
    int *placed = NULL;
    if (profile == NULL || (cpus == NULL && count > 0))
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile and a place for the cpus are needed");
    if (how != BJ_LIB_PLACE_NEAR && how != BJ_LIB_PLACE_SPREAD)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "placement: expected near or spread");
    if (count == 0)
        return BJ_LIB_OK;
    const bj_answer *tree = bj_data_find_answer(&profile->whole.answers, key);
    if (tree == NULL)
        return place_in_order(profile, count, cpus, "the profile has no topology.tree", error);
    if (tree->structured == NULL || !is_sure(NULL, tree))
        return place_in_order(profile, count, cpus, "topology.tree is not sure", error);
    (void)bj_base_take_no_memory(); /* of what this thread did before */
    bj_status status =
        bj_profile_place_by_answers(&profile->whole, tree, how == BJ_LIB_PLACE_NEAR ? BJ_ORDER_NEAR : BJ_ORDER_SPREAD,
                                    count, is_sure, NULL, &placed, &(size_t){0}, &trouble);
    if (bj_base_take_no_memory()) {
        free(placed); /* NULL where placing failed */
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory to read topology.tree");
    }
    if (status == BJ_ERR_INPUT)
        return place_in_order(profile, count, cpus, trouble.text, error);
    if (status != BJ_OK)
        return bj_inside_translate(status, &trouble, error);
    memcpy(cpus, placed, count * sizeof *placed);
    free(placed);
    return BJ_LIB_OK;
}
