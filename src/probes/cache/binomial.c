#include "probes/cache/binomial.h"

#include <math.h>

#include "probes/cache/cache_constants.h"

/* Terms that no longer change the sum. */
#define NEGLIGIBLE 1e-17
/* Stretching a rise of less to 0 … 1 would stretch the rounding of 1 - sum as well. */
#define RISE_REPRESENTABLE 1e-9

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

static bool is_usable(const bj_binomial_request *request, size_t i) {
    return isfinite(request->latency[i]) && request->latency[i] > 0;
}

static double predict_at(const bj_binomial_request *request, double size_bytes, const candidate *tried) {
    uint64_t pages = (uint64_t)fmax(floor(size_bytes / request->page_bytes), 1);
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
        if (!is_usable(request, i))
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

static void try_default_sizes(const bj_binomial_request *request, const window *seen, ranking *ranked) {
    double lowest = seen->smallest / 2, highest = seen->largest * 2;
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
        if (!is_usable(request, i))
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
    if (request->candidate_bytes) {
        for (size_t i = 0; i < request->candidate_count; i++)
            try_size(request, &seen, request->candidate_bytes[i], &ranked);
    } else {
        try_default_sizes(request, &seen, &ranked);
    }
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
