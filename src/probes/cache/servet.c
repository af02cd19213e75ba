#include "probes/cache/servet.h"

#include <math.h>
#include <stdlib.h>

#include "probes/cache/cache_constants.h"
#include "stats/quantile.h"

/* Terms that no longer change the sum. */
#define NEGLIGIBLE 1e-17
/* Stretching a rise of less to 0 … 1 would stretch the rounding of 1 - sum as well. */
#define RISE_REPRESENTABLE 1e-9
/* Half of the absolute values of normal noise lie below this many standard deviations. */
#define MEDIAN_OF_HALF_NORMAL 0.6744897501960817

static bool is_usable(double y) {
    return isfinite(y) && y > 0;
}

/* ---- Figure 3: the binomial model */

typedef struct {
    double size_bytes;
    unsigned ways;
    double divergence, rise;
} candidate;

typedef struct {
    candidate best[BJ_BINOMIAL_BEST_FITS]; /* ascending by divergence */
    size_t count;
} ranking;

typedef struct {
    double hit, miss;         /* latencies of miss shares 0 and 1 on the measured scale */
    double smallest, largest; /* usable sizes */
    size_t points;
} window;

static double log_binomial_mass(double trials, double probability, double hits) {
    /* The plain lgamma writes a global. */
    int sign;
    return lgamma_r(trials + 1, &sign) - lgamma_r(hits + 1, &sign) - lgamma_r(trials - hits + 1, &sign) +
           hits * log(probability) + (trials - hits) * log1p(-probability);
}

double bj_cache_compute_binomial_tail(uint64_t trials, double probability, uint64_t limit) {
    if (limit >= trials || !(probability > 0))
        return 0;
    if (probability >= 1)
        return 1;
    double n = (double)trials, k = (double)limit, odds = probability / (1 - probability);
    /* Start at the boundary and sum away from the mode: terms only shrink, nothing cancels, and a boundary
     * too improbable for a double leaves the right 0 or 1. */
    bool boundary_above_mean = k + 1 > n * probability;
    double hits = boundary_above_mean ? k + 1 : k;
    double term = exp(log_binomial_mass(n, probability, hits)), sum = 0;
    while (term > sum * NEGLIGIBLE) {
        sum += term;
        if (boundary_above_mean) {
            term *= (n - hits) / (hits + 1) * odds;
            hits++;
        } else {
            term *= hits / ((n - hits + 1) * odds);
            hits--;
        }
    }
    return fmin(boundary_above_mean ? sum : fmax(1 - sum, 0), 1);
}

double bj_cache_predict_miss_share(bj_binomial_model model, uint64_t pages, double cache_bytes, unsigned ways,
                                   double page_bytes) {
    if (pages == 0 || ways == 0)
        return 0;
    double probability = ways * page_bytes / cache_bytes;
    if (model == BJ_BINOMIAL_LITERAL)
        return bj_cache_compute_binomial_tail(pages, probability, ways);
    return bj_cache_compute_binomial_tail(pages - 1, probability, ways - 1);
}

static double predict_at(const bj_binomial_request *request, double size_bytes, const candidate *tried) {
    const double most = 0x1p53; /* a table may have sizes beyond all integers */
    uint64_t pages = (uint64_t)fmin(fmax(floor(size_bytes / request->page_bytes), 1), most);
    return bj_cache_predict_miss_share(request->model, pages, tried->size_bytes, tried->ways, request->page_bytes);
}

/* False: the candidate cannot be compared. */
static bool compute_divergence(const bj_binomial_request *request, const window *seen, candidate *tried) {
    /* More pages never miss less, so the ends of the window are the extremes. */
    double low = predict_at(request, seen->smallest, tried);
    tried->rise = predict_at(request, seen->largest, tried) - low;
    double stretch = tried->rise;
    if (request->scale != BJ_BINOMIAL_SCALE_MATCHED) {
        low = 0;
        stretch = 1;
    } else if (stretch < RISE_REPRESENTABLE) {
        return false;
    }
    double sum = 0;
    for (size_t i = 0; i < request->count; i++) {
        if (!is_usable(request->latency[i]))
            continue;
        double measured = (request->latency[i] - seen->hit) / (seen->miss - seen->hit);
        double predicted = (predict_at(request, request->size_bytes[i], tried) - low) / stretch;
        sum += fabs(measured - predicted);
    }
    tried->divergence = sum / (double)seen->points;
    return isfinite(tried->divergence);
}

static void rank_candidate(ranking *ranked, const candidate *tried) {
    size_t at = ranked->count;
    while (at > 0 && tried->divergence < ranked->best[at - 1].divergence)
        at--;
    if (at == BJ_BINOMIAL_BEST_FITS)
        return;
    if (ranked->count < BJ_BINOMIAL_BEST_FITS)
        ranked->count++;
    for (size_t i = ranked->count - 1; i > at; i--)
        ranked->best[i] = ranked->best[i - 1];
    ranked->best[at] = *tried;
}

static void try_size(const bj_binomial_request *request, const window *seen, double size_bytes, ranking *ranked) {
    for (unsigned ways = 1; ways <= BJ_BINOMIAL_WAYS_MAX && ways * request->page_bytes <= size_bytes; ways++) {
        candidate tried = {.size_bytes = size_bytes, .ways = ways};
        if (compute_divergence(request, seen, &tried))
            rank_candidate(ranked, &tried);
    }
}

static void try_sizes(const bj_binomial_request *request, const window *seen, ranking *ranked) {
    double lowest = seen->smallest / 2, highest = seen->largest * 2;
    for (size_t i = 0; i < request->candidate_count; i++)
        if (request->candidate_bytes[i] >= lowest && request->candidate_bytes[i] <= highest)
            try_size(request, seen, request->candidate_bytes[i], ranked);
    if (request->candidate_bytes != NULL)
        return;
    for (double octave = exp2(floor(log2(lowest))); octave <= highest; octave *= 2) {
        for (int i = 0; i < BJ_BINOMIAL_SIZES_PER_OCTAVE; i++) {
            double size_bytes = octave * (1 + (double)i / BJ_BINOMIAL_SIZES_PER_OCTAVE);
            if (size_bytes >= lowest && size_bytes <= highest)
                try_size(request, seen, size_bytes, ranked);
        }
    }
}

static double find_mode(const ranking *ranked) {
    size_t mode = 0, most = 0;
    for (size_t i = 0; i < ranked->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < ranked->count; j++)
            same += ranked->best[j].size_bytes == ranked->best[i].size_bytes;
        if (same > most) {
            most = same;
            mode = i;
        }
    }
    return ranked->best[mode].size_bytes;
}

static bool describe_window(const bj_binomial_request *request, window *seen) {
    *seen = (window){.hit = INFINITY, .miss = -INFINITY, .smallest = INFINITY, .largest = 0};
    for (size_t i = 0; i < request->count; i++) {
        if (!is_usable(request->latency[i]))
            continue;
        seen->hit = fmin(seen->hit, request->latency[i]);
        seen->miss = fmax(seen->miss, request->latency[i]);
        seen->smallest = fmin(seen->smallest, request->size_bytes[i]);
        seen->largest = fmax(seen->largest, request->size_bytes[i]);
        seen->points++;
    }
    return seen->points >= BJ_BINOMIAL_POINTS_MIN && seen->miss > seen->hit && seen->smallest > 0 &&
           isfinite(seen->largest) && request->page_bytes > 0;
}

bool bj_cache_fit_binomial_size(const bj_binomial_request *request, bj_binomial_fit *fit) {
    window seen;
    if (!describe_window(request, &seen))
        return false;
    ranking ranked = {.count = 0};
    try_sizes(request, &seen, &ranked);
    if (ranked.count == 0)
        return false;
    /* All candidates compete first: without the ones that only show their toe, a smaller cache would win. */
    if (request->scale == BJ_BINOMIAL_SCALE_MATCHED && ranked.best[0].rise < BJ_BINOMIAL_RISE_MIN)
        return false;
    *fit = (bj_binomial_fit){.size_bytes = find_mode(&ranked),
                             .best_size_bytes = ranked.best[0].size_bytes,
                             .best_ways = ranked.best[0].ways,
                             .divergence = ranked.best[0].divergence,
                             .rise = ranked.best[0].rise};
    return true;
}

/* ---- Figure 4: gradients */

typedef struct {
    double *size_bytes, *latency; /* usable points only; size_bytes owns the memory of all four */
    size_t *index;                /* where they were */
    size_t count;
    double *gradients, *scratch;
    bj_gradient_peak *peaks;
} gradient_curve;

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
static bj_gradient_peak trace_peak(const double *gradients, size_t gradient_count, size_t first,
                                   const bj_peak_rules *rules) {
    bj_gradient_peak traced = {first, first, first, gradients[first]};
    size_t valley = first;
    for (size_t k = first + 1; k < gradient_count && gradients[k] > 1 + rules->tolerance; k++) {
        if (gradients[k] < gradients[valley])
            valley = k;
        double floor_log = log(gradients[valley]);
        bool parted = valley > traced.peak && floor_log < rules->valley * log(traced.gradient) &&
                      floor_log < rules->valley * log(gradients[k]) &&
                      gradients[k] > gradients[valley] * (1 + rules->tolerance);
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

size_t bj_cache_find_gradient_peaks(const double *gradients, size_t gradient_count, const bj_peak_rules *rules,
                                    bj_gradient_peak *peaks) {
    size_t found = 0;
    for (size_t k = 0; k < gradient_count; k++) {
        if (!(gradients[k] > 1 + rules->tolerance))
            continue;
        bj_gradient_peak traced = trace_peak(gradients, gradient_count, k, rules);
        double rise = 1;
        for (size_t i = traced.first; i <= traced.last; i++)
            rise *= gradients[i];
        k = traced.last;
        if (rise >= rules->least_rise)
            peaks[found++] = traced;
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
        .candidate_bytes = options->as_printed ? s->size_bytes : NULL,
        .candidate_count = options->as_printed ? s->count : 0,
    };
    bj_binomial_fit fit;
    return bj_cache_fit_binomial_size(&request, &fit) ? fit.size_bytes : NAN;
}

static bj_servet_level decide_level(const gradient_curve *s, size_t number, const bj_servet_options *options) {
    const bj_gradient_peak *peak = &s->peaks[number];
    /* The first level is virtually indexed, and a single gradient means coloured pages: there the peak is the size. */
    bool is_single = peak->first == peak->last, still_rises = peak->last + 2 == s->count;
    bool by_model = number > 0 && (!is_single || still_rises);
    return (bj_servet_level){.size_bytes = by_model ? size_by_model(s, peak, options) : s->size_bytes[peak->peak],
                             .by_model = by_model,
                             .first = s->index[peak->first],
                             .last = s->index[peak->last + 1],
                             .peak = s->index[peak->peak]};
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

static size_t find_peaks(gradient_curve *s, const double *size_bytes, const double *latency, size_t count,
                         bool as_printed) {
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
    const bj_peak_rules rules = {.tolerance =
                                     bj_cache_estimate_gradient_tolerance(s->gradients, s->count - 1, s->scratch),
                                 .valley = as_printed ? BJ_SERVET_VALLEY_PRINTED : BJ_SERVET_VALLEY,
                                 .least_rise = as_printed ? BJ_SERVET_RISE_PRINTED : 1};
    return bj_cache_find_gradient_peaks(s->gradients, s->count - 1, &rules, s->peaks);
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
    size_t found = find_peaks(&s, size_bytes, latency, count, options->as_printed);
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
