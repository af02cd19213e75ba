/* Walks give an upper bound of every level's line: what is fetched along can only make it look longer, and lines do not
 * get shorter from level to level. The first level's is safe, since its walk stays inside the second. An outer one's is
 * told when it looks like the first's, or when false sharing sees the same longer unit. */
#include "probes/line/line_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/known_caches.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/rise.h"
#include "stats/steps.h"

/* Of the cost of one more miss. Prefetchers of the next line hide half of it, since pairs come in both directions; but
 * they bring lines into the second level, where the first level's walk has all of its lines anyway. */
#define RISE_SHARE_FIRST 0.5
#define RISE_SHARE 0.3
/* Of the whole rise, where that cost is not known, and of the paper's pattern: what is no longer free. */
#define RISE_OF_ALL 0.25
/* No rise is less than this of the whole: where a walk spills out of the next level too, its times scatter. */
#define LEAST_OF_ALL 0.15
/* An outer level's line is told by a rise that is nearly all there is: prefetchers that have to fetch more at longer
 * extents make smaller ones. */
#define CLEAR_OF_ALL 0.4
/* A curve that rises by less than this all in all shows nothing. */
#define LEAST_CONTRAST 1.08
#define LEAST_BOUNCE 1.5
#define RESAMPLES 400u
/* Resamples that must agree. */
#define HIGH_AGREEMENT 0.99
#define MEDIUM_AGREEMENT 0.9
/* Of a table: other steps than the biggest, relative to it. */
#define CLEAR_STEP 0.25

typedef struct {
    const bj_curve *curve;
    double *low; /* of each point, scratch */
    double *scratch;
    double least_ns; /* the rise that counts; NaN: a share of the whole */
    double clear;    /* the share of the whole that it must reach */
    bool falls;      /* false sharing: dear up to the unit */
} unit_context;

/* What a second access costs more beyond the level's line than inside it, per access of the walk; NaN: not known. */
static double find_least_rise(size_t level, const bj_answers *earlier) {
    char key[64];
    double first = NAN, here = NAN, next = NAN, share = level > 1 ? RISE_SHARE : RISE_SHARE_FIRST;
    snprintf(key, sizeof key, "cache.L%zu.latency_ns", level);
    if (!bj_data_get_number(earlier, "cache.L1.latency_ns", &first) || !bj_data_get_number(earlier, key, &here))
        return NAN;
    snprintf(key, sizeof key, "cache.L%zu.latency_ns", level + 1);
    if (!bj_data_get_number(earlier, key, &next) && !bj_data_get_number(earlier, "memory.latency_ns", &next))
        return NAN;
    return next > here ? BJ_LINE_SECONDS * (here - first + share * (next - here)) : NAN;
}

static double find_unit(void *argument, const size_t *index, size_t count) {
    unit_context *context = argument;
    const bj_curve *curve = context->curve;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < curve->x_count; i++) {
        for (size_t r = 0; r < count; r++)
            context->scratch[r] = curve->rounds[index[r]][i];
        /* Two cpus at once: what they do to each other goes both ways, so the median. */
        double low =
            context->falls ? bj_stats_median(context->scratch, count) : bj_stats_low_quantile(context->scratch, count);
        context->low[i] = low;
        least = fmin(least, low);
        most = fmax(most, low);
    }
    if (!(most > (context->falls ? LEAST_BOUNCE : LEAST_CONTRAST) * least))
        return NAN;
    if (context->falls) {
        size_t last = curve->x_count;
        while (last > 0 && !(context->low[last - 1] > sqrt(least * most)))
            last--;
        return last > 0 && last < curve->x_count ? curve->x[last - 1] : NAN;
    }
    double whole = most - least;
    double rise = isnan(context->least_ns) ? RISE_OF_ALL * whole : fmax(context->least_ns, LEAST_OF_ALL * whole);
    size_t first = bj_stats_find_rise(context->low, curve->x_count, rise);
    if (first == 0 || first == curve->x_count || context->low[first] - least < context->clear * whole)
        return NAN;
    return curve->x[first - 1];
}

static bj_status open_context(unit_context *context, bj_error *error) {
    context->low = malloc((context->curve->x_count + context->curve->round_count) * sizeof *context->low);
    if (context->low == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a curve of %zu points",
                                 context->curve->x_count);
    context->scratch = context->low + context->curve->x_count;
    return BJ_OK;
}

static double find_of_all(unit_context *context) {
    size_t rounds = context->curve->round_count;
    size_t *all = malloc((rounds + 1) * sizeof *all);
    if (all == NULL)
        return NAN;
    for (size_t i = 0; i < rounds; i++)
        all[i] = i;
    double unit = rounds > 0 ? find_unit(context, all, rounds) : NAN;
    free(all);
    return unit;
}

double bj_line_find_unit(const bj_curve *curve, size_t level, const bj_answers *earlier) {
    unit_context context = {.curve = curve, .least_ns = find_least_rise(level, earlier)};
    bj_error error;
    if (open_context(&context, &error) != BJ_OK)
        return NAN;
    double unit = find_of_all(&context);
    free(context.low);
    return unit;
}

/* What a curve says: the extent that is fetched, or shared, at once. */
typedef struct {
    double bytes; /* NaN: no step, or no curve */
    double low, high;
    bj_confidence confidence;
} seen_unit;

static bj_status look_at(const bj_curve *curve, double least_ns, double clear, bool falls, uint64_t seed,
                         seen_unit *seen, bj_error *error) {
    *seen = (seen_unit){.bytes = NAN};
    if (curve == NULL || curve->round_count == 0 || curve->x_count < 3)
        return BJ_OK;
    unit_context context = {.curve = curve, .least_ns = least_ns, .clear = clear, .falls = falls};
    bj_bootstrap bootstrap = {0};
    bj_status status = open_context(&context, error);
    if (status != BJ_OK)
        return status;
    seen->bytes = find_of_all(&context);
    status = bj_stats_bootstrap_rounds(curve->round_count, RESAMPLES, seed, find_unit, &context, &bootstrap, error);
    free(context.low);
    if (status != BJ_OK || isnan(seen->bytes)) {
        bj_stats_free_bootstrap(&bootstrap);
        return status;
    }
    size_t agree = 0;
    for (size_t i = 0; i < bootstrap.replicate_count; i++)
        agree += bootstrap.replicates[i] == seen->bytes;
    double share = (double)agree / RESAMPLES;
    seen->low = isnan(bootstrap.low) ? seen->bytes : fmin(seen->bytes, bootstrap.low);
    seen->high = isnan(bootstrap.high) ? seen->bytes : fmax(seen->bytes, bootstrap.high);
    seen->confidence = curve->round_count < BJ_BOOTSTRAP_ROUNDS_NEEDED || share < MEDIUM_AGREEMENT ? BJ_CONFIDENCE_LOW
                       : share < HIGH_AGREEMENT ? BJ_CONFIDENCE_MEDIUM
                                                : BJ_CONFIDENCE_HIGH;
    bj_stats_free_bootstrap(&bootstrap);
    return BJ_OK;
}

static void fill_ok(bj_answer *answer, const seen_unit *seen) {
    answer->value = seen->bytes;
    answer->has_interval = true;
    answer->interval[0] = seen->low;
    answer->interval[1] = seen->high;
    answer->confidence = seen->confidence;
}

static bj_confidence at_most(bj_confidence confidence, bj_confidence most) {
    return confidence < most ? confidence : most;
}

/* Something is fetched along, or a walk was disturbed: no two cpus share less than a line. */
static void contradict(bj_answer *answer, const seen_unit *walks, const seen_unit *sharing) {
    fill_ok(answer, sharing);
    answer->status = BJ_ANSWER_UNSTABLE;
    answer->interval[1] = walks->high;
    answer->confidence = BJ_CONFIDENCE_LOW;
    snprintf(answer->reason, sizeof answer->reason,
             "pairs of accesses say %.0f bytes, false sharing between two cpus %.0f", walks->bytes, sharing->bytes);
}

static bj_status answer_line(const seen_unit *walks, const seen_unit *sharing, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, "cache.line_bytes", "bytes", &answer, error);
    if (status != BJ_OK)
        return status;
    snprintf(answer->method, sizeof answer->method, "pairs/%u", BJ_LINE_REVISION);
    bj_data_cite_curve(answer, "line.L1");
    if (!isnan(sharing->bytes))
        bj_data_cite_curve(answer, BJ_LINE_SHARING);
    if (isnan(walks->bytes) && isnan(sharing->bytes)) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason,
                 "the second access of a pair cost the same at any distance, and no two cpus were seen to share lines");
    } else if (isnan(walks->bytes)) {
        /* The unit of coherence may be that of an outer level. */
        snprintf(answer->method, sizeof answer->method, "sharing/%u", BJ_LINE_REVISION);
        fill_ok(answer, sharing);
        answer->confidence = at_most(answer->confidence, BJ_CONFIDENCE_MEDIUM);
    } else if (sharing->bytes < walks->bytes) {
        contradict(answer, walks, sharing);
    } else {
        fill_ok(answer, walks);
        if (sharing->bytes == walks->bytes)
            snprintf(answer->method, sizeof answer->method, "pairs+sharing/%u", BJ_LINE_REVISION);
        else if (!isnan(sharing->bytes)) /* no contradiction: outer levels may have longer lines */
            snprintf(answer->method, sizeof answer->method, "pairs, cpus share by %.0f/%u", sharing->bytes,
                     BJ_LINE_REVISION);
    }
    return BJ_OK;
}

/* An outer level, of which `own` was seen in its own walk and `beyond` from memory; `line` is the nearer one's. */
static void fill_outer(bj_answer *answer, const seen_unit *line, const seen_unit *own, const seen_unit *beyond,
                       const seen_unit *sharing) {
    if (own->bytes == line->bytes) {
        fill_ok(answer, own);
        answer->confidence = at_most(answer->confidence, line->confidence);
        return;
    }
    /* Nothing comes along from memory: nothing does from any level. Few rounds say so, and a walk of the level's own
     * that says otherwise weighs more. */
    if (beyond->bytes == line->bytes && !(own->bytes > line->bytes)) {
        fill_ok(answer, line);
        answer->confidence = at_most(answer->confidence, BJ_CONFIDENCE_MEDIUM);
        return;
    }
    if (own->bytes > line->bytes && own->bytes == sharing->bytes) {
        fill_ok(answer, own);
        answer->confidence = at_most(answer->confidence, BJ_CONFIDENCE_MEDIUM);
        return;
    }
    answer->status = BJ_ANSWER_UNDETERMINED;
    double looks = isnan(own->bytes) ? beyond->bytes : own->bytes;
    if (isnan(line->bytes) || isnan(looks))
        snprintf(answer->reason, sizeof answer->reason,
                 "no step: no buffer was large enough, or all distances cost the same");
    else
        snprintf(answer->reason, sizeof answer->reason,
                 "%.0f bytes arrive at once: longer lines than the first level's, or neighbours fetched along", looks);
}

static bj_status answer_levels(const bj_curves *samples, const bj_analyse_request *request, size_t count,
                               const seen_unit *line, const seen_unit *memory, const seen_unit *sharing,
                               bj_answers *answers, bj_error *error) {
    bj_status status = BJ_OK;
    seen_unit nearer = *line;
    for (size_t level = 1; status == BJ_OK && level <= count; level++) {
        char key[64], id[48];
        seen_unit own = *line;
        snprintf(id, sizeof id, BJ_LINE_LEVEL, level);
        const bj_curve *curve = bj_data_find_curve(samples, id);
        if (level > 1)
            status = look_at(curve, find_least_rise(level, request->earlier), CLEAR_OF_ALL, false, request->seed, &own,
                             error);
        bj_answer *answer;
        snprintf(key, sizeof key, "cache.L%zu.line_bytes", level);
        if (status == BJ_OK)
            status = bj_data_put_answer(answers, key, "bytes", &answer, error);
        if (status != BJ_OK)
            return status;
        snprintf(answer->method, sizeof answer->method, "pairs/%u", BJ_LINE_REVISION);
        bj_data_cite_curve(answer, curve != NULL ? id : BJ_LINE_MEMORY);
        if (level > 1) {
            fill_outer(answer, &nearer, &own, memory, sharing);
        } else if (!isnan(own.bytes)) {
            fill_ok(answer, &own);
            if (sharing->bytes < own.bytes)
                contradict(answer, &own, sharing);
        } else {
            answer->status = BJ_ANSWER_UNDETERMINED;
            snprintf(answer->reason, sizeof answer->reason, "the second access cost the same at any distance");
        }
        if (answer->status != BJ_ANSWER_UNDETERMINED)
            nearer = (seen_unit){answer->value, answer->interval[0], answer->interval[1], answer->confidence};
    }
    return status;
}

static bj_status answer_fetch(const bj_curve *curve, const seen_unit *memory, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, "cache.fetch_bytes", "bytes", &answer, error);
    if (status != BJ_OK)
        return status;
    snprintf(answer->method, sizeof answer->method, "paper_pairs/%u", BJ_LINE_REVISION);
    if (!isnan(memory->bytes)) {
        fill_ok(answer, memory);
        bj_data_cite_curve(answer, BJ_LINE_MEMORY);
        return BJ_OK;
    }
    answer->status = BJ_ANSWER_UNDETERMINED;
    snprintf(answer->reason, sizeof answer->reason, "%s",
             curve == NULL ? "no buffer beyond the last cache was allowed" : "no step up to the largest distance");
    return BJ_OK;
}

/* Somebody's curve, by the paper's biggest step. x is a distance, so the line is the first that is dear. */
static bj_status analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    unit_context context = {.curve = curve};
    bj_answer *answer;
    char key[64] = "cache.line_bytes";
    if (request->level > 0)
        snprintf(key, sizeof key, "cache.L%u.line_bytes", request->level);
    bj_status status = bj_data_put_answer(answers, key, "bytes", &answer, error);
    if (status == BJ_OK)
        status = open_context(&context, error);
    if (status != BJ_OK)
        return status;
    for (size_t i = 0; i < curve->x_count; i++) {
        for (size_t r = 0; r < curve->round_count; r++)
            context.scratch[r] = curve->rounds[r][i];
        context.low[i] = bj_stats_low_quantile(context.scratch, curve->round_count);
    }
    snprintf(answer->method, sizeof answer->method, "biggest_step/%u", BJ_LINE_REVISION);
    bj_step step;
    double rest = 0;
    bool found = bj_stats_find_biggest_step(context.low, curve->x_count, &step) && step.magnitude > LEAST_CONTRAST - 1;
    for (size_t i = 1; found && i < curve->x_count; i++)
        if (i != step.after)
            rest = fmax(rest, fabs(context.low[i] - context.low[i - 1]));
    if (!found) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason, "no step: the second read cost the same at any distance");
    } else {
        double bytes = curve->x[step.after];
        bool clear = rest < CLEAR_STEP * (context.low[step.after] - context.low[step.before]);
        bool power = bytes >= 8 && log2(bytes) == floor(log2(bytes));
        answer->value = bytes;
        answer->has_interval = true;
        answer->interval[0] = answer->interval[1] = bytes;
        answer->confidence = clear && power ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_LOW;
    }
    free(context.low);
    return BJ_OK;
}

bj_status bj_line_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error) {
    if (request->from_table)
        return analyse_table(bj_data_find_curve(samples, BJ_LINE_TABLE), request, answers, error);
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    seen_unit line, memory, sharing;
    const bj_curve *beyond = bj_data_find_curve(samples, BJ_LINE_MEMORY);
    bj_status status = look_at(bj_data_find_curve(samples, "line.L1"), find_least_rise(1, request->earlier), 0, false,
                               request->seed, &line, error);
    if (status == BJ_OK)
        status = look_at(beyond, NAN, 0, false, request->seed, &memory, error);
    if (status == BJ_OK)
        status = look_at(bj_data_find_curve(samples, BJ_LINE_SHARING), NAN, 0, true, request->seed, &sharing, error);
    /* Cpus that a busy system keeps from running at once see less sharing than there is. */
    if (status == BJ_OK && sharing.bytes < line.bytes && sharing.confidence < BJ_CONFIDENCE_HIGH)
        sharing.bytes = NAN;
    if (status == BJ_OK)
        status = answer_line(&line, &sharing, answers, error);
    if (status == BJ_OK)
        status = answer_levels(samples, request, caches.count, &line, &memory, &sharing, answers, error);
    if (status == BJ_OK)
        status = answer_fetch(beyond, &memory, answers, error);
    return status;
}
