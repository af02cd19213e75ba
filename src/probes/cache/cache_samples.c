#include "probes/cache/cache_samples.h"

#include <math.h>

#include "data/number.h"

const bj_cache_revisit bj_cache_revisits[BJ_REVISIT_CURVES] = {
    {"cache.revisit_8", 8}, {"cache.revisit_4", 4}, {"cache.revisit_2", 2}};

bj_status bj_cache_record(bj_rounds *rounds, const char *id, const char *x_name, double bytes, double ns,
                          bj_error *error) {
    bool huge = rounds->pages == BJ_PAGES_HUGE;
    bj_curve_axes axes = {id, x_name, "bytes", huge ? "latency_huge_pages" : "latency_base_pages", "ns"};
    bj_curve *curve;
    BJ_TRY(bj_kit_open_curve(rounds, &axes, &curve, error));
    BJ_TRY(bj_data_set_attribute_text(curve, BJ_CACHE_PAGES, huge ? BJ_CACHE_PAGES_HUGE : BJ_CACHE_PAGES_BASE, error));
    return bj_data_record_sample(curve, bytes, rounds->round, ns, error);
}

static bool is_usable(double number) {
    return number >= BJ_LEAST_SAMPLE && number <= BJ_MOST_SAMPLE;
}

static bool is_curve_usable(const bj_curve *curve) {
    for (size_t i = 0; i < curve->x_count; i++) {
        if (!is_usable(curve->x[i]))
            return false;
        for (size_t r = 0; r < curve->round_count; r++)
            if (!isnan(curve->rounds[r][i]) && !is_usable(curve->rounds[r][i]))
                return false;
    }
    return true;
}

bj_status bj_cache_check_samples(const bj_curves *samples, const bj_cache_method *method, bj_error *error) {
    for (size_t i = 0; i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        if (!is_curve_usable(curve))
            return bj_base_set_error(error, BJ_ERR_INPUT, "curve %s: expected sizes and times from %g to %g", curve->id,
                                     BJ_LEAST_SAMPLE, BJ_MOST_SAMPLE);
        if (method->finder != NULL && curve->x_count > BJ_METHOD_POINTS_MOST)
            return bj_base_set_error(error, BJ_ERR_INPUT,
                                     "curve %s: expected at most %u different sizes for the method %s", curve->id,
                                     BJ_METHOD_POINTS_MOST, method->name);
    }
    return BJ_OK;
}

bj_status bj_cache_find_hierarchy(const bj_curves *samples, const bj_cache_method *method, uint64_t seed,
                                  bool levels_only, bj_hierarchy *found, bj_error *error) {
    const bj_curve *walk = bj_data_find_curve(samples, BJ_CACHE_WALK);
    bj_finder_context context = {.variant = method->variant, .page_bytes = BJ_MODEL_PAGE_BYTES};
    bj_yardstick yardstick;
    context.as_printed = bj_data_get_attribute_number(walk, BJ_CACHE_PAGE_BYTES, &context.page_bytes);
    bj_hierarchy_request request = {
        .curves = {.walk = walk,
                   .spread = bj_data_find_curve(samples, BJ_CACHE_SPREAD),
                   .packed = bj_data_find_curve(samples, BJ_CACHE_PACKED),
                   .lucky_frames = bj_data_has_attribute_text(walk, BJ_CACHE_PAGES, BJ_CACHE_PAGES_BASE),
                   .huge_pages = bj_data_has_attribute_text(walk, BJ_CACHE_PAGES, BJ_CACHE_PAGES_HUGE),
                   .levels_only = levels_only,
                   .finder = method->finder,
                   .finder_context = &context,
                   .finder_takes_mean = method->takes_mean},
        .yardstick = bj_kit_find_yardstick(samples, "cache", &yardstick) ? &yardstick : NULL,
        .seed = seed};
    for (size_t i = 0; i < BJ_REVISIT_CURVES; i++)
        request.curves.revisits[i] =
            (bj_revisits){bj_data_find_curve(samples, bj_cache_revisits[i].curve), bj_cache_revisits[i].visits};
    return bj_cache_fit_hierarchy(&request, found, error);
}
