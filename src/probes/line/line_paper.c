#include "probes/line/line_paper.h"

#include <math.h>

#include "probes/kit/known_caches.h"
#include "probes/kit/paper_pairs.h"
#include "probes/kit/walks.h"
#include "probes/line/line_constants.h"

#define RANDOM_PURPOSE 0x6c696e70u
#define MIB 1048576.0
/* "Much larger than the cache", of which segments may use an eighth of the sets. */
#define OVER_LAST 8.0
#define LEAST_BUFFER_BYTES (32 * MIB)

typedef struct {
    unsigned rounds, repetitions;
    double most_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 1, 64 * MIB}, {12, 2, 256 * MIB}, {30, 3, 512 * MIB}};

static bj_status measure_extent(void *context, const uint32_t *points, size_t count, bj_error *error) {
    static const bj_curve_axes axes = {BJ_LINE_PAPER, "extent", "bytes", "time_per_access", "ns"};
    (void)count;
    return bj_kit_measure_paper_pairs(context, &axes, *points, error);
}

bj_status bj_line_measure_paper(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    const effort_plan *effort = &plans[request->effort];
    bj_known_caches caches;
    bj_rounds rounds;
    bj_known_caches_read(request->earlier, &caches);
    double bytes = fmin(fmax(OVER_LAST * bj_known_caches_largest(&caches), LEAST_BUFFER_BYTES), effort->most_bytes);
    bytes = floor(bj_kit_limit_arena(request, bytes) / MIB) * MIB;
    bj_round_plan plan = {.count = effort->rounds,
                          .first_round = bj_kit_count_rounds(samples, BJ_LINE_PAPER),
                          .least_bytes = (size_t)bytes,
                          .point_count = BJ_PAPER_EXTENTS,
                          .context = &rounds,
                          .measure = measure_extent};
    if (bytes < MIB)
        return BJ_OK;
    bj_kit_open_rounds(&rounds, request, "line", samples, RANDOM_PURPOSE);
    rounds.pages = BJ_PAGES_BASE;
    rounds.repetitions = effort->repetitions;
    rounds.arena_bytes = (size_t)bytes;
    if (request->more_rounds > 0)
        (void)bj_kit_recall_arena(&rounds, bj_data_find_curve(samples, BJ_LINE_PAPER));
    bj_status status = bj_kit_run_rounds(&rounds, &plan, error);
    if (status == BJ_OK)
        status = bj_kit_keep_arena(&rounds, (bj_curve *)bj_data_find_curve(samples, BJ_LINE_PAPER), error);
    bj_kit_close_rounds(&rounds);
    return status;
}

static double find_line(void *context, const size_t *index, size_t count) {
    bj_point_summary *summary = context;
    double line = bj_kit_find_paper_line(summary, index, count);
    return summary->most > LEAST_CONTRAST * summary->least ? line : NAN;
}

/* The line, and what arrives at once: to the paper they are one. */
bj_status bj_line_analyse_paper(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                bj_error *error) {
    static const char *const keys[] = {"cache.line_bytes", "cache.fetch_bytes"};
    const bj_curve *curve = bj_data_find_curve(samples, BJ_LINE_PAPER);
    bj_point_summary summary;
    bj_estimate line = {.value = NAN};
    if (curve != NULL && curve->round_count > 0) {
        bj_estimate_request resampling = {.rounds = curve->round_count,
                                          .seed = request->seed,
                                          .statistic = find_line,
                                          .context = &summary,
                                          .curve = curve};
        BJ_TRY(bj_kit_open_summary(&summary, curve, error));
        bj_status status = bj_kit_estimate(&resampling, &line, error);
        bj_kit_close_summary(&summary);
        BJ_TRY(status);
    }
    for (size_t i = 0; i < 2; i++) {
        bj_answer *answer;
        BJ_TRY(bj_data_put_answer(answers, keys[i], "bytes", &answer, error));
        bj_data_cite_curve(answer, BJ_LINE_PAPER);
        if (isnan(line.value))
            bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                          curve == NULL ? "no buffer beyond the last cache was allowed"
                                        : "the second access of a pair cost the same at any distance");
        else
            /* What a prefetcher fetches along looks like line to it. */
            bj_kit_fill_answer(answer, &line, BJ_CONFIDENCE_MEDIUM);
    }
    return BJ_OK;
}
