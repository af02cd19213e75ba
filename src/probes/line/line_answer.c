/* Walks give an upper bound of every level's line: what is fetched along can only make it look longer, and lines do not
 * get shorter from level to level. The first level's is safe, since its walk stays inside the second. An outer one's is
 * told when it looks like the nearer level's, or when false sharing sees the same longer extent. */
#include "probes/line/line_answer.h"

#include <math.h>
#include <stdio.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/line/line_constants.h"
#include "probes/line/line_paper.h"
#include "stats/quantile.h"
#include "stats/rise.h"
#include "stats/steps.h"

/* What to look for in a curve. */
typedef struct {
    double least_ns; /* the rise that counts; NaN: a share of the whole */
    double clear;    /* the share of the whole that it must reach */
    bool falls;      /* false sharing: dear up to the extent */
    bj_point_summary summary;
} extent_context;

/* What a second access costs more beyond the level's line than inside it, per access of the walk; NaN: not known. */
static double find_least_rise(size_t level, const bj_answers *earlier) {
    double first = bj_known_caches_find_latency(earlier, 1), here = bj_known_caches_find_latency(earlier, level);
    double next = bj_known_caches_find_latency(earlier, level + 1);
    double share = level > 1 ? RISE_SHARE : RISE_SHARE_FIRST;
    return next > here && here >= first ? BJ_LINE_SECONDS * (here - first + share * (next - here)) : NAN;
}

/* The last extent that is shared: nearer to the dearest than to the cheapest. */
static double find_fall(const bj_point_summary *summary) {
    size_t count = summary->curve->x_count, shared = count;
    while (shared > 0 && !(summary->of_point[shared - 1] > sqrt(summary->least * summary->most)))
        shared--;
    return shared > 0 && shared < count ? summary->curve->x[shared - 1] : NAN;
}

static double find_extent(void *argument, const size_t *index, size_t count) {
    extent_context *context = argument;
    bj_point_summary *summary = &context->summary;
    /* Two cpus at once: what they do to each other goes both ways, so the median. */
    bj_kit_summarise(summary, index, count, context->falls ? 0.5 : BJ_LOW_QUANTILE);
    if (!(summary->most > (context->falls ? LEAST_BOUNCE : LEAST_CONTRAST) * summary->least))
        return NAN;
    if (context->falls)
        return find_fall(summary);
    double whole = summary->most - summary->least;
    double rise = isnan(context->least_ns) ? RISE_OF_ALL * whole : fmax(context->least_ns, LEAST_OF_ALL * whole);
    size_t points = summary->curve->x_count, after = bj_stats_find_rise(summary->of_point, points, rise);
    if (after == 0 || after == points || summary->of_point[after] - summary->least < context->clear * whole)
        return NAN;
    return summary->curve->x[after - 1];
}

double bj_line_find_extent(const bj_curve *curve, size_t level, const bj_answers *earlier) {
    extent_context context = {.least_ns = find_least_rise(level, earlier)};
    bj_error error;
    if (curve == NULL || bj_kit_open_summary(&context.summary, curve, &error) != BJ_OK)
        return NAN;
    double extent = find_extent(&context, NULL, curve->round_count);
    bj_kit_close_summary(&context.summary);
    return extent;
}

/* What a curve says: the extent that is fetched, or shared, at once. */
typedef struct {
    bj_estimate bytes; /* value NaN: no step, or no curve */
    bj_confidence confidence;
} seen_extent;

static bj_status look_at(const bj_curve *curve, extent_context context, uint64_t seed, seen_extent *seen,
                         bj_error *error) {
    *seen = (seen_extent){.bytes.value = NAN};
    if (curve == NULL || curve->round_count == 0 || curve->x_count < POINTS_NEEDED)
        return BJ_OK;
    bj_estimate_request request = {
        .rounds = curve->round_count, .seed = seed, .statistic = find_extent, .context = &context, .curve = curve};
    BJ_TRY(bj_kit_open_summary(&context.summary, curve, error));
    bj_status status = bj_kit_estimate(&request, &seen->bytes, error);
    seen->confidence = bj_kit_judge(&seen->bytes, BJ_CONFIDENCE_HIGH);
    bj_kit_close_summary(&context.summary);
    return status;
}

static void fill_answer(bj_answer *answer, const seen_extent *seen, bj_confidence most) {
    bj_kit_fill_answer(answer, &seen->bytes, bj_kit_least(seen->confidence, most));
}

static void name_method(bj_answer *answer, const char *method) {
    snprintf(answer->method, sizeof answer->method, "%s/%u", method, BJ_LINE_REVISION);
}

typedef struct {
    seen_extent walks, memory, sharing; /* of the first level's walk, the paper's pairs, false sharing */
    seen_extent first;                  /* what the first level's line is taken to be */
} all_seen;

static void fill_first(bj_answer *answer, const all_seen *seen) {
    fill_answer(answer, &seen->first, BJ_CONFIDENCE_HIGH);
    if (seen->sharing.bytes.value < seen->walks.bytes.value)
        bj_kit_call_unstable(answer, "pairs of accesses say %.0f bytes, false sharing between two cpus %.0f",
                             seen->walks.bytes.value, seen->sharing.bytes.value);
}

static bj_status answer_line(const all_seen *seen, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    double walks = seen->walks.bytes.value, sharing = seen->sharing.bytes.value;
    BJ_TRY(bj_data_put_answer(answers, "cache.line_bytes", "bytes", &answer, error));
    bj_data_cite_curve(answer, BJ_LINE_FIRST);
    if (!isnan(sharing))
        bj_data_cite_curve(answer, BJ_LINE_SHARING);
    if (sharing == walks)
        name_method(answer, "pairs+sharing");
    if (!isnan(walks)) {
        fill_first(answer, seen);
    } else if (!isnan(sharing)) {
        /* Coherence may go by the line of an outer level. */
        fill_answer(answer, &seen->sharing, BJ_CONFIDENCE_MEDIUM);
        name_method(answer, "sharing");
    } else {
        bj_kit_refuse(
            answer, BJ_ANSWER_UNDETERMINED,
            "the second access of a pair cost the same at any distance, and no two cpus were seen to share lines");
    }
    return BJ_OK;
}

/* Which extent is an outer level's line, and how sure that is at most; NULL: it cannot be told. */
static const seen_extent *choose_outer(const all_seen *seen, const seen_extent *nearer, const seen_extent *own,
                                       bj_confidence *most) {
    double line = nearer->bytes.value, looks = own->bytes.value;
    *most = looks == line ? nearer->confidence : BJ_CONFIDENCE_MEDIUM;
    if (looks == line)
        return own;
    /* Nothing comes along from memory: nothing does from any level. Few rounds say so, and a walk of the level's own
     * that says otherwise weighs more. */
    if (seen->memory.bytes.value == line && !(looks > line))
        return nearer;
    return looks > line && looks == seen->sharing.bytes.value ? own : NULL;
}

/* `nearer` becomes this level's line where it can be told. */
static void fill_outer(bj_answer *answer, const all_seen *seen, const seen_extent *own, seen_extent *nearer) {
    bj_confidence most;
    const seen_extent *chosen = choose_outer(seen, nearer, own, &most);
    if (chosen != NULL) {
        fill_answer(answer, chosen, most);
        *nearer = *chosen;
        nearer->confidence = answer->confidence;
        return;
    }
    double looks = isnan(own->bytes.value) ? seen->memory.bytes.value : own->bytes.value;
    if (isnan(nearer->bytes.value) || isnan(looks))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "no step: no buffer was large enough, or all distances cost the same");
    else
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "%.0f bytes arrive at once: longer lines than the first level's, or neighbours fetched along",
                      looks);
}

static bj_status answer_level(const bj_curves *samples, const bj_analyse_request *request, size_t level,
                              const all_seen *seen, seen_extent *nearer, bj_answers *answers, bj_error *error) {
    char id[48];
    bj_answer *answer;
    seen_extent own = seen->walks;
    snprintf(id, sizeof id, BJ_LINE_LEVEL, level);
    const bj_curve *curve = bj_data_find_curve(samples, id);
    extent_context clear_rise = {.least_ns = find_least_rise(level, request->earlier), .clear = CLEAR_OF_ALL};
    if (level > 1)
        BJ_TRY(look_at(curve, clear_rise, request->seed, &own, error));
    BJ_TRY(bj_kit_put_answer(answers, "bytes", &answer, error, "cache.L%zu.line_bytes", level));
    bj_data_cite_curve(answer, curve != NULL ? id : BJ_LINE_MEMORY);
    if (level > 1)
        fill_outer(answer, seen, &own, nearer);
    else if (!isnan(own.bytes.value))
        fill_first(answer, seen);
    else
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the second access cost the same at any distance");
    return BJ_OK;
}

static bj_status answer_fetch(const bj_curve *curve, const seen_extent *memory, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(answers, "cache.fetch_bytes", "bytes", &answer, error));
    name_method(answer, "paper_pairs");
    if (isnan(memory->bytes.value)) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      curve == NULL ? "no buffer beyond the last cache was allowed"
                                    : "no step up to the largest distance");
    } else {
        fill_answer(answer, memory, BJ_CONFIDENCE_HIGH);
        bj_data_cite_curve(answer, BJ_LINE_MEMORY);
    }
    return BJ_OK;
}

static void fill_from_table(bj_answer *answer, const bj_point_summary *summary) {
    const bj_curve *curve = summary->curve;
    const double *y = summary->of_point;
    bj_step step;
    double rest = 0;
    if (!bj_stats_find_biggest_step(y, curve->x_count, &step) || step.magnitude <= LEAST_CONTRAST - 1) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no step: the second read cost the same at any distance");
        return;
    }
    for (size_t i = 1; i < curve->x_count; i++)
        if (i != step.after)
            rest = fmax(rest, fabs(y[i] - y[i - 1]));
    double bytes = curve->x[step.after];
    bool is_clear = rest < CLEAR_STEP * (y[step.after] - y[step.before]);
    bool is_power = bytes >= 8 && log2(bytes) == floor(log2(bytes));
    answer->value = answer->interval[0] = answer->interval[1] = bytes;
    answer->has_interval = true;
    answer->confidence = is_clear && is_power ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_LOW;
}

/* Somebody's curve, by the paper's biggest step. x is a distance, so the line is the first that is dear. */
static bj_status analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    bj_point_summary summary;
    bj_answer *answer;
    if (request->level > 0)
        BJ_TRY(bj_kit_put_answer(answers, "bytes", &answer, error, "cache.L%u.line_bytes", request->level));
    else
        BJ_TRY(bj_data_put_answer(answers, "cache.line_bytes", "bytes", &answer, error));
    BJ_TRY(bj_kit_open_summary(&summary, curve, error));
    bj_kit_summarise(&summary, NULL, curve->round_count, BJ_LOW_QUANTILE);
    fill_from_table(answer, &summary);
    bj_kit_close_summary(&summary);
    return BJ_OK;
}

static bj_status look_at_all(const bj_curves *samples, const bj_analyse_request *request, all_seen *seen,
                             bj_error *error) {
    const extent_context first = {.least_ns = find_least_rise(1, request->earlier)}, all = {.least_ns = NAN};
    const extent_context fall = {.falls = true};
    uint64_t seed = request->seed;
    BJ_TRY(look_at(bj_data_find_curve(samples, BJ_LINE_FIRST), first, seed, &seen->walks, error));
    BJ_TRY(look_at(bj_data_find_curve(samples, BJ_LINE_MEMORY), all, seed, &seen->memory, error));
    BJ_TRY(look_at(bj_data_find_curve(samples, BJ_LINE_SHARING), fall, seed, &seen->sharing, error));
    seen->first = seen->walks;
    if (!(seen->sharing.bytes.value < seen->walks.bytes.value))
        return BJ_OK;
    if (seen->sharing.confidence < BJ_CONFIDENCE_HIGH) {
        /* Cpus that a busy system keeps from running at once see less sharing than there is. */
        seen->sharing.bytes.value = NAN;
    } else {
        /* No two cpus share less than a line: something is fetched along, or a walk was disturbed. */
        seen->first = seen->sharing;
        seen->first.bytes.interval[1] = seen->walks.bytes.interval[1];
        seen->first.confidence = BJ_CONFIDENCE_LOW;
    }
    return BJ_OK;
}

bj_status bj_line_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error) {
    if (request->from_table)
        return analyse_table(bj_data_find_curve(samples, BJ_LINE_TABLE), request, answers, error);
    if (bj_probe_is_method(request->method, BJ_LINE_BIGGEST_STEP))
        return bj_line_analyse_paper(samples, request, answers, error);
    bj_known_caches caches;
    all_seen seen;
    bj_known_caches_read(request->earlier, &caches);
    BJ_TRY(look_at_all(samples, request, &seen, error));
    BJ_TRY(answer_line(&seen, answers, error));
    seen_extent nearer = seen.first;
    for (size_t level = 1; level <= caches.count; level++)
        BJ_TRY(answer_level(samples, request, level, &seen, &nearer, answers, error));
    return answer_fetch(bj_data_find_curve(samples, BJ_LINE_MEMORY), &seen.memory, answers, error);
}
