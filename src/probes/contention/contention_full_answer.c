/* The keys of full density. */
#include <math.h>
#include <stdlib.h>

#include "probes/contention/contention_answer.h"
#include "probes/contention/contention_constants.h"
#include "probes/contention/contention_samples.h"
#include "probes/kit/estimate.h"
#include "stats/quantile.h"

static void tell_scatter(bj_answer *answer, const bj_estimate *estimate) {
    if (estimate->single[BJ_SINGLE_HIGH] > STABLE_SCATTER * estimate->single[BJ_SINGLE_LOW])
        bj_kit_call_unstable(answer, "rounds gave %.3g to %.3g %s", estimate->single[BJ_SINGLE_LEAST],
                             estimate->single[BJ_SINGLE_GREATEST], answer->unit);
}

/* The one point of a curve: its median. */
static bj_status answer_point(const bj_curves *samples, const bj_analyse_request *request, const char *id,
                              const char *key, const char *unit, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    const bj_curve *curve = bj_data_find_curve(samples, id);
    bj_estimate estimate;
    BJ_TRY(bj_data_put_answer(answers, key, unit, &answer, error));
    if (curve == NULL || curve->x_count == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "one cpu, or no memory for buffers of all: nothing to measure");
        return BJ_OK;
    }
    BJ_TRY(bj_kit_estimate_point(curve, curve->x_count - 1, 0.5, TOLERANCE, request->seed, &estimate, error));
    bj_kit_fill_answer(answer, &estimate, BJ_CONFIDENCE_HIGH);
    tell_scatter(answer, &estimate);
    bj_data_cite_curve(answer, id);
    return BJ_OK;
}

typedef struct {
    const bj_curve *curve;
    double limit_ns;
    double *scratch;
} size_context;

/* Where the curve passes the limit, between the last size that fits and the first that does not. NaN: it does not. */
static double find_size(void *context, const size_t *index, size_t count) {
    const size_context *c = context;
    double last = NAN, last_ns = NAN;
    for (size_t i = 0; i < c->curve->x_count; i++) {
        double ns = bj_kit_quantile_of_point(c->curve, i, index, count, 0.5, c->scratch);
        if (isnan(ns))
            continue;
        if (ns > c->limit_ns) {
            double part = (c->limit_ns - last_ns) / (ns - last_ns);
            return last * pow(c->curve->x[i] / last, part);
        }
        last = c->curve->x[i];
        last_ns = ns;
    }
    return NAN;
}

static bj_status answer_size(const bj_curve *curve, const bj_analyse_request *request, double limit_ns,
                             bj_answer *answer, bj_error *error) {
    size_context context = {curve, limit_ns, malloc((curve->round_count + 1) * sizeof(double))};
    if (context.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
    bj_estimate estimate;
    bj_estimate_request wanted = {.rounds = curve->round_count,
                                  .seed = request->seed,
                                  .tolerance = SIZE_TOLERANCE,
                                  .statistic = find_size,
                                  .context = &context};
    bj_status status = bj_kit_estimate(&wanted, &estimate, error);
    free(context.scratch);
    if (status != BJ_OK)
        return status;
    if (isnan(estimate.value))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "no size around its share passes a tenth of the way to the "
                      "next level");
    else
        bj_kit_fill_answer(answer, &estimate, BJ_CONFIDENCE_HIGH);
    bj_data_cite_curve(answer, curve->id);
    return BJ_OK;
}

static bj_status answer_level(const bj_curve *curve, size_t level, const bj_analyse_request *request,
                              bj_answers *answers, bj_error *error) {
    const bj_answers *earlier = request->earlier;
    double own = bj_kit_find_number(earlier, "cache.L%zu.latency_ns", level);
    double next = bj_kit_find_number(earlier, "cache.L%zu.latency_ns", level + 1);
    next = isnan(next) ? bj_kit_find_number(earlier, "memory.latency_ns") : next;
    bj_answer *answer;
    BJ_TRY(bj_kit_put_answer(answers, "bytes", &answer, error, "cache.L%zu.full.size_bytes", level));
    BJ_TRY(answer_size(curve, request, own + MARGIN * (next - own), answer, error));
    BJ_TRY(bj_kit_put_answer(answers, "ns", &answer, error, "cache.L%zu.full.latency_ns", level));
    bj_estimate estimate;
    double bytes = NAN;
    size_t point = 0;
    bj_data_get_attribute_number(curve, CONTENTION_LATENCY_BYTES, &bytes);
    while (point < curve->x_count && curve->x[point] != bytes)
        point++;
    if (point == curve->x_count) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "no set is inside a cpu's share of this level and well outside "
                      "its share of the nearer one");
        return BJ_OK;
    }
    BJ_TRY(bj_kit_estimate_point(curve, point, 0.5, TOLERANCE, request->seed, &estimate, error));
    bj_kit_fill_answer(answer, &estimate, BJ_CONFIDENCE_HIGH);
    tell_scatter(answer, &estimate);
    bj_data_cite_curve(answer, curve->id);
    return BJ_OK;
}

bj_status bj_contention_answer_full(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                    bj_error *error) {
    BJ_TRY(answer_point(samples, request, CONTENTION_READ, "memory.full.read_gbs", "GB/s", answers, error));
    BJ_TRY(answer_point(samples, request, CONTENTION_COPY, "memory.full.copy_gbs", "GB/s", answers, error));
    BJ_TRY(answer_point(samples, request, CONTENTION_LATENCY, "memory.full.latency_ns", "ns", answers, error));
    for (size_t i = 0; i < samples->count; i++) {
        double level = NAN;
        if (bj_data_has_attribute_text(&samples->items[i], CONTENTION_KIND, CONTENTION_WALK) &&
            bj_data_get_attribute_number(&samples->items[i], CONTENTION_LEVEL, &level) && level >= 1 && level <= 8 &&
            samples->items[i].x_count > 0)
            BJ_TRY(answer_level(&samples->items[i], (size_t)level, request, answers, error));
    }
    return BJ_OK;
}
