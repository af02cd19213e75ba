/* From rates to answers: which buffer was whose, what is sustained and what is best. */
#include <math.h>

#include "probes/bandwidth/bandwidth_constants.h"
#include "probes/bandwidth/bandwidth_samples.h"
#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "stats/quantile.h"

typedef struct {
    const bj_curves *samples;
    const bj_analyse_request *request;
    bj_answers *answers;
    bj_known_caches caches;
} analysis;

/* One key: a level (from 0; the one after the last cache is memory), a kind, and the median or the best. */
typedef struct {
    size_t level;
    const bj_bandwidth_kind *kind;
    bool best;
} question;

static const char *name_statistic(const question *asked) {
    return asked->best ? "_best" : "";
}

static bj_status fill_answer(const analysis *a, const question *asked, const bj_curve *curve, size_t point,
                             bj_confidence most, bj_answer *answer, bj_error *error) {
    bj_estimate rate;
    BJ_TRY(bj_kit_estimate_point(curve, point, asked->best ? BEST_QUANTILE : SUSTAINED_QUANTILE, TOLERANCE,
                                 a->request->seed, &rate, error));
    bool stable = rate.single[BJ_SINGLE_HIGH] <= STABLE_SCATTER * rate.single[BJ_SINGLE_LOW];
    if (!stable) {
        rate.interval[0] = rate.single[BJ_SINGLE_LEAST];
        rate.interval[1] = rate.single[BJ_SINGLE_GREATEST];
    }
    bj_kit_widen(&rate, 0, SYSTEMATIC);
    bj_kit_fill_answer(answer, &rate, most);
    if (!stable)
        bj_kit_call_unstable(answer, "rounds gave %.3g to %.3g GB/s", rate.single[BJ_SINGLE_LEAST],
                             rate.single[BJ_SINGLE_GREATEST]);
    bj_data_cite_curve(answer, curve->id);
    return BJ_OK;
}

/* The share of a buffer that goes through the caches, where it can be found again. */
static double share_cached(const bj_bandwidth_kind *kind) {
    return !kind->past_caches ? 1 : kind->stream == BJ_STREAM_COPY ? 0.5 : 0;
}

/* How sure a buffer lets us be that its bytes came from the level and not from a nearer one. */
static bj_confidence trust_buffer(const analysis *a, const question *asked, double bytes) {
    double nearer = bj_known_caches_find_nearer(&a->caches, asked->level), share = share_cached(asked->kind);
    if (asked->level == a->caches.count && bytes < OVER_LAST * CUT * nearer)
        return BJ_CONFIDENCE_LOW;
    return share == 0 || share * bytes >= OVER_NEARER_SURE * nearer ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
}

/* The share of a buffer that a pass leaves in a nearer level which replaces at random, the worst case: a line survives
 * the misses of a pass with probability h = exp(-(1 - h) times), the root below 1. */
static double survivors(double times) {
    double share = 0;
    for (int i = 0; i < 100; i++)
        share = exp(-(1 - share) * times);
    return share;
}

/* Where the buffer is not far beyond the nearer level, some of it may have come from there: how slow the rest was. */
static void open_interval(const analysis *a, const question *asked, double bytes, bj_answer *answer) {
    double nearer = bj_known_caches_find_nearer(&a->caches, asked->level), share = share_cached(asked->kind);
    /* Of the nearer level only ordinary stores are known. */
    const char *name = bj_bandwidth_kinds[asked->kind->stream].name;
    double nearer_gbs =
        bj_kit_find_number(a->answers, "cache.L%zu.%s%s_gbs", asked->level, name, name_statistic(asked));
    if (share == 0 || nearer == 0 || share * bytes >= OVER_NEARER_SURE * nearer || !(nearer_gbs > answer->value))
        return;
    share *= survivors(share * bytes / nearer);
    answer->interval[0] = fmin(answer->interval[0], (1 - share) / (1 / answer->value - share / nearer_gbs));
}

/* The point measured in the level: inside it, outside the nearer ones; curve->x_count: none. */
static size_t find_point(const bj_curve *curve, const bj_known_caches *caches, size_t level) {
    double nearer = bj_known_caches_find_nearer(caches, level);
    size_t point = 0;
    while (point < curve->x_count && curve->x[point] < OVER_NEARER_LEAST * CUT * nearer)
        point++;
    if (level < caches->count && (point == curve->x_count || curve->x[point] > caches->fits_bytes[level]))
        return curve->x_count;
    /* Memory: the largest that there is. */
    return level < caches->count || point == curve->x_count ? point : curve->x_count - 1;
}

/* Whether the machine was asked and has no such stores: the curve of the medians says so for both. */
static bool is_unsupported(const analysis *a, const question *asked) {
    const bj_curve *curve = bj_data_find_curve(a->samples, asked->kind->median_id);
    return curve != NULL && bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED);
}

static bj_status answer_key(const analysis *a, const question *asked, bj_error *error) {
    const char *name = asked->kind->name, *statistic = name_statistic(asked);
    bool memory = asked->level == a->caches.count;
    bj_answer *answer;
    bj_status status = memory
                           ? bj_kit_put_answer(a->answers, "GB/s", &answer, error, "memory.%s%s_gbs", name, statistic)
                           : bj_kit_put_answer(a->answers, "GB/s", &answer, error, "cache.L%zu.%s%s_gbs",
                                               asked->level + 1, name, statistic);
    if (status != BJ_OK)
        return status;
    const bj_curve *curve = bj_data_find_curve(a->samples, asked->best ? asked->kind->best_id : asked->kind->median_id);
    size_t point = curve != NULL ? find_point(curve, &a->caches, asked->level) : 0;
    if (is_unsupported(a, asked))
        bj_kit_refuse(answer, BJ_ANSWER_UNSUPPORTED,
                      "no stores past the caches are known for this processor and compiler");
    else if (a->caches.count == 0)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the caches are not known");
    else if (curve == NULL)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "this was not measured");
    else if (point == curve->x_count)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      memory ? "no buffer well beyond the last cache was allowed"
                             : "no buffer lies inside this level and well outside the nearer one");
    else {
        double bytes = curve->x[point];
        status = fill_answer(a, asked, curve, point, trust_buffer(a, asked, bytes), answer, error);
        if (status == BJ_OK && asked->level > 0)
            open_interval(a, asked, bytes, answer);
    }
    return status;
}

bj_status bj_bandwidth_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    analysis a = {.samples = samples, .request = request, .answers = answers};
    bj_known_caches_read(request->earlier, &a.caches);
    for (size_t level = 0; level <= a.caches.count; level++)
        for (size_t i = 0; i < BJ_BANDWIDTH_KINDS; i++) {
            if (bj_bandwidth_kinds[i].past_caches && level < a.caches.count)
                continue;
            question asked = {.level = level, .kind = &bj_bandwidth_kinds[i]};
            BJ_TRY(answer_key(&a, &asked, error));
            asked.best = true;
            BJ_TRY(answer_key(&a, &asked, error));
        }
    return BJ_OK;
}
