#include "probes/cache/cache_samples.h"

#include <math.h>

#include "data/number.h"

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
        if (method->finder != NULL && curve->x_count > BJ_CACHE_METHOD_POINTS)
            return bj_base_set_error(error, BJ_ERR_INPUT,
                                     "curve %s: expected at most %u different sizes for the method %s", curve->id,
                                     BJ_CACHE_METHOD_POINTS, method->name);
    }
    return BJ_OK;
}
