#include "probes/cache/memory_answer.h"

#include <math.h>
#include <stdio.h>

#include "probes/cache/cache_samples.h"
#include "probes/cache/memory_walk.h"

static bj_status put(bj_answers *answers, const char *key, const bj_curve *curve, bj_answer **answer, bj_error *error) {
    static const char *const kinds[] = {BJ_CACHE_PAGES_HUGE, BJ_CACHE_PAGES_BASE};
    BJ_TRY(bj_kit_put_answer(answers, "ns", answer, error, "memory.%s", key));
    bj_data_cite_curve(*answer, curve->id);
    for (size_t i = 0; i < 2; i++)
        if (bj_data_has_attribute_text(curve, BJ_CACHE_PAGES, kinds[i]))
            snprintf((*answer)->pages, sizeof(*answer)->pages, "%s", kinds[i]);
    return BJ_OK;
}

/* Low, as all of the sweep: disturbance only adds time. */
static bj_status estimate(const bj_memory_request *request, const bj_curve *curve, size_t point, bj_estimate *latency,
                          bj_error *error) {
    BJ_TRY(bj_kit_estimate_point(curve, point, BJ_LOW_OF_ROUNDS, BJ_LATENCY_TOLERANCE, request->seed, latency, error));
    bj_kit_widen(latency, BJ_SYSTEMATIC, 0);
    return BJ_OK;
}

/* What TLBs that do not reach so far cost a walk, as the twins saw it. */
static double cost_within(const bj_hierarchy *found, double window_bytes) {
    double cost = 0;
    for (size_t i = 0; i < found->twin_step_count; i++)
        if (found->twin_step[i].first_x < window_bytes)
            cost += found->twin_step[i].rise;
    return cost;
}

/* Visits to a page in one turn of its window. The one TLB miss that they share is in the time of all. */
static double visits_of(const bj_curve *curve) {
    double page = NAN, grain = NAN;
    bool known = bj_data_get_attribute_number(curve, BJ_MEMORY_PAGE, &page) &&
                 bj_data_get_attribute_number(curve, BJ_MEMORY_GRAIN, &grain);
    return known ? fmax(page / grain / 2, 1) : 1;
}

/* A prefetcher that learns windows shows by less time in the smaller one, or by less in both than the TLB's misses
 * explain. False: refused. */
static bool is_plain(const bj_memory_request *request, const bj_curve *curve, const bj_estimate *near,
                     const bj_estimate *wide, bj_answer *answer) {
    const bj_estimate *left = &request->found->memory_latency;
    double cost = cost_within(request->found, curve->x[1]);
    if (wide != NULL && wide->value > near->value * (1 + BJ_LATENCY_TOLERANCE) + cost) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "windows of %.0f and %.0f KiB take %.1f and %.1f ns: a prefetcher learns the smaller",
                      curve->x[0] / 1024, curve->x[1] / 1024, near->value, wide->value);
        return false;
    }
    if (near->interval[1] < (1 - BJ_WINDOW_GAIN_MOST) * left->interval[0]) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "windows take %.1f ns where %.1f are left without TLB misses: a prefetcher learns them",
                      near->value, left->value);
        return false;
    }
    return true;
}

/* By the smallest window; the next one is its witness. */
static bj_status answer_in_tlb(const bj_memory_request *request, const bj_curve *curve, const bj_estimate *whole,
                               bj_answers *answers, bj_error *error) {
    const bj_curve *sweep = bj_data_find_curve(request->samples, BJ_CACHE_WALK);
    bj_answer *answer;
    bj_estimate near, wide;
    bool has_wide = curve != NULL && curve->x_count > 2;
    BJ_TRY(put(answers, "latency_in_tlb_ns", curve != NULL ? curve : sweep, &answer, error));
    if (curve == NULL || curve->x_count < 2) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      curve == NULL ? "no walks within the TLB's reach were measured"
                                    : "the TLB reaches so little that a prefetcher would learn it");
        return BJ_OK;
    }
    BJ_TRY(estimate(request, curve, 0, &near, error));
    if (has_wide)
        BJ_TRY(estimate(request, curve, 1, &wide, error));
    if (!is_plain(request, curve, &near, has_wide ? &wide : NULL, answer))
        return BJ_OK;
    near.interval[0] -=
        fmax(whole->value - near.value, 0) / visits_of(curve) + cost_within(request->found, curve->x[0]);
    bj_kit_fill_answer(answer, &near, has_wide ? request->most : bj_kit_least(request->most, BJ_CONFIDENCE_MEDIUM));
    return BJ_OK;
}

bj_status bj_cache_answer_memory(const bj_memory_request *request, bj_answers *answers, bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(request->samples, BJ_MEMORY_WALK), *whole_curve = curve;
    bj_estimate whole;
    bj_answer *answer;
    if (curve == NULL || curve->x_count == 0 || curve->round_count == 0) {
        curve = NULL;
        whole_curve = bj_data_find_curve(request->samples, BJ_CACHE_WALK);
    }
    BJ_TRY(put(answers, "latency_ns", whole_curve, &answer, error));
    BJ_TRY(estimate(request, whole_curve, whole_curve->x_count - 1, &whole, error));
    bj_kit_fill_answer(answer, &whole, request->most);
    return answer_in_tlb(request, curve, &whole, answers, error);
}
