#include "probes/cache/servet.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "probes/cache/cache_constants.h"
#include "stats/quantile.h"

/* Half of the absolute values of normal noise lie below this many standard deviations. */
#define MEDIAN_OF_HALF_NORMAL 0.6744897501960817

typedef struct {
    double *size_bytes, *latency; /* usable points only; size_bytes owns the memory of all four */
    size_t *index;                /* where they were */
    size_t count;
    double *gradients, *scratch;
    bj_gradient_peak *peaks;
} gradient_curve;

static bool is_usable(double y) {
    return isfinite(y) && y > 0;
}

void bj_cache_compute_gradients(const double *y, size_t count, double *gradients) {
    for (size_t k = 0; k + 1 < count; k++)
        gradients[k] = is_usable(y[k]) && is_usable(y[k + 1]) ? y[k + 1] / y[k] : NAN;
}

double bj_cache_estimate_gradient_tolerance(const double *gradients, size_t gradient_count, double *scratch) {
    size_t falls = 0;
    for (size_t k = 0; k < gradient_count; k++)
        if (gradients[k] > 0 && gradients[k] <= 1)
            scratch[falls++] = -log(gradients[k]);
    if (falls == 0)
        return BJ_SERVET_TOLERANCE_MIN;
    /* The median, so that the way back from one spike does not hide real rises. */
    double sigma = bj_stats_median(scratch, falls) / MEDIAN_OF_HALF_NORMAL;
    return fmax(expm1(BJ_SERVET_TOLERANCE_SIGMAS * sigma), BJ_SERVET_TOLERANCE_MIN);
}

/* The peak that starts at `first` and the end of its run; it ends early where a valley parts it from a next one. */
static bj_gradient_peak trace_peak(const double *gradients, size_t gradient_count, size_t first, double tolerance) {
    bj_gradient_peak traced = {first, first, first, gradients[first]};
    size_t valley = first;
    for (size_t k = first + 1; k < gradient_count && gradients[k] > 1 + tolerance; k++) {
        if (gradients[k] < gradients[valley])
            valley = k;
        double floor_log = log(gradients[valley]);
        bool parted = valley > traced.peak && 2 * floor_log < log(traced.gradient) &&
                      2 * floor_log < log(gradients[k]) && gradients[k] > gradients[valley] * (1 + tolerance);
        if (parted) {
            /* The rise across the valley is the next level's: point `valley` ends this one and starts that one. */
            traced.last = valley - 1;
            return traced;
        }
        if (gradients[k] > traced.gradient) {
            traced.peak = valley = k;
            traced.gradient = gradients[k];
        }
        traced.last = k;
    }
    return traced;
}

size_t bj_cache_find_gradient_peaks(const double *gradients, size_t gradient_count, double tolerance,
                                    bj_gradient_peak *peaks) {
    size_t found = 0;
    for (size_t k = 0; k < gradient_count; k++) {
        if (!(gradients[k] > 1 + tolerance))
            continue;
        peaks[found] = trace_peak(gradients, gradient_count, k, tolerance);
        k = peaks[found++].last;
    }
    return found;
}

static double size_by_model(const gradient_curve *s, const bj_gradient_peak *peak, const bj_servet_options *options) {
    bj_binomial_request request = {
        .size_bytes = s->size_bytes + peak->first,
        .latency = s->latency + peak->first,
        .count = peak->last + 1 - peak->first + 1,
        .page_bytes = options->page_bytes,
        .model = options->model,
        .scale = options->scale,
    };
    bj_binomial_fit fit;
    return bj_cache_fit_binomial_size(&request, &fit) ? fit.size_bytes : NAN;
}

static bj_servet_level decide_level(const gradient_curve *s, size_t number, const bj_servet_options *options) {
    const bj_gradient_peak *peak = &s->peaks[number];
    bj_servet_level level = {.first = s->index[peak->first],
                             .last = s->index[peak->last + 1],
                             .peak = s->index[peak->peak],
                             .gradient = peak->gradient,
                             .size_bytes = s->size_bytes[peak->peak]};
    if (number == 0)
        level.rule = BJ_SERVET_FIRST_PEAK;
    else if (peak->last + 2 == s->count)
        level.rule = BJ_SERVET_TRAILING;
    else if (peak->first == peak->last)
        level.rule = BJ_SERVET_SINGLE_PEAK;
    else
        level.rule = BJ_SERVET_WIDE_PEAK;
    if (level.rule == BJ_SERVET_WIDE_PEAK || level.rule == BJ_SERVET_TRAILING)
        level.size_bytes = size_by_model(s, peak, options);
    return level;
}

static bool allocate_curve(gradient_curve *s, size_t count) {
    s->size_bytes = malloc(4 * count * sizeof *s->size_bytes);
    s->index = malloc(count * sizeof *s->index);
    s->peaks = malloc(count * sizeof *s->peaks);
    if (s->size_bytes == NULL || s->index == NULL || s->peaks == NULL)
        return false;
    s->latency = s->size_bytes + count;
    s->gradients = s->latency + count;
    s->scratch = s->gradients + count;
    return true;
}

static void free_curve(gradient_curve *s) {
    free(s->size_bytes);
    free(s->index);
    free(s->peaks);
}

static size_t find_peaks(gradient_curve *s, const double *size_bytes, const double *latency, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!is_usable(latency[i]))
            continue;
        s->size_bytes[s->count] = size_bytes[i];
        s->latency[s->count] = latency[i];
        s->index[s->count++] = i;
    }
    if (s->count < 2)
        return 0;
    bj_cache_compute_gradients(s->latency, s->count, s->gradients);
    double tolerance = bj_cache_estimate_gradient_tolerance(s->gradients, s->count - 1, s->scratch);
    return bj_cache_find_gradient_peaks(s->gradients, s->count - 1, tolerance, s->peaks);
}

bj_status bj_cache_find_servet_levels(const double *size_bytes, const double *latency, size_t count,
                                      const bj_servet_options *options, bj_servet_level **levels, size_t *level_count,
                                      bj_error *error) {
    *levels = NULL;
    *level_count = 0;
    if (count < 2)
        return BJ_OK;
    bj_status status = BJ_OK;
    gradient_curve s = {.count = 0};
    if (!allocate_curve(&s, count)) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the gradients of %zu sizes", count);
        goto cleanup;
    }
    size_t found = find_peaks(&s, size_bytes, latency, count);
    if (found == 0)
        goto cleanup;
    *levels = malloc(found * sizeof **levels);
    if (!*levels) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cache levels", found);
        goto cleanup;
    }
    for (size_t i = 0; i < found; i++)
        (*levels)[i] = decide_level(&s, i, options);
    *level_count = found;
cleanup:
    free_curve(&s);
    return status;
}
