/* What the processor's counters say, by the recipe of multicore-bottlenecks-2011 (3.4): where misses of the last level
 * grow with density it is the cache; else, where a cpu draws more than its share alone, it is bandwidth. Of DRAM rows
 * no counter with a common name tells. Misses are those that processors count by that name: what is fetched ahead may
 * be missing, so that "neither" is no proof. */
#include <math.h>

#include "diagnose/diagnose.h"
#include "diagnose/diagnose_constants.h"
#include "stats/quantile.h"

typedef struct {
    const bj_diagnose_request *request;
    const bj_diagnose_round *rounds;
    double cpus; /* of a copy at least density, whose misses are counted together */
} testimony;

typedef double figure(const testimony *t, const bj_diagnose_round *round);

static double median_of(const testimony *t, const size_t *index, size_t count, figure *of_round) {
    double values[BJ_DIAGNOSE_ROUNDS];
    for (size_t i = 0; i < count; i++)
        values[i] = of_round(t, &t->rounds[index[i]]);
    return bj_stats_median(values, count);
}

static double miss_rate(const bj_trial_notes *notes) {
    return notes->counts[BJ_COUNT_MISSES] / notes->counts[BJ_COUNT_INSTRUCTIONS];
}

static double rate_at_least(const testimony *t, const bj_diagnose_round *round) {
    (void)t;
    return miss_rate(&round->notes[0]);
}

static double rate_at_full(const testimony *t, const bj_diagnose_round *round) {
    return miss_rate(&round->notes[t->request->density_count - 1]);
}

/* Of one of its cpus. */
static double gbs_at_least(const testimony *t, const bj_diagnose_round *round) {
    double bytes = round->notes[0].counts[BJ_COUNT_MISSES] * t->request->chip->line_bytes;
    return bytes / (round->densities[0] * t->cpus) * 1e-9;
}

static double find_growth(void *context, const size_t *index, size_t count) {
    const testimony *t = context;
    return median_of(t, index, count, rate_at_full) / median_of(t, index, count, rate_at_least);
}

static double find_gbs(void *context, const size_t *index, size_t count) {
    const testimony *t = context;
    return median_of(t, index, count, gbs_at_least);
}

/* A limit lies above the interval (-1), below it (1), or inside. */
static int compare_to(const bj_estimate *estimate, double limit) {
    return estimate->interval[1] < limit ? -1 : estimate->interval[0] > limit ? 1 : 0;
}

/* What the misses that came with density cost, as a share of the time, if one took as long as an access of the
 * antagonists that walk through most. Twice a few misses are still few. */
static double cost_growth(const testimony *t, const bj_diagnosis *diagnosis) {
    size_t last = t->request->density_count - 1, points = diagnosis->point_count[BJ_RESOURCE_CACHE];
    double more = diagnosis->densities[last].notes.counts[BJ_COUNT_MISSES] -
                  diagnosis->densities[0].notes.counts[BJ_COUNT_MISSES];
    double access_ns = points > 0 ? diagnosis->points[BJ_RESOURCE_CACHE][points - 1].achieved : NAN;
    return more * access_ns * 1e-9 / (diagnosis->densities[last].seconds.value * t->cpus);
}

static bj_verdict judge_witness(const bj_diagnose_witness *w, double share_gbs, double cost) {
    int grows = compare_to(&w->miss_growth, exp(LEAD)), exceeds = compare_to(&w->miss_gbs, share_gbs);
    bool matters = !(cost < LEAD);
    if (grows > 0 && matters)
        return BJ_VERDICT_CACHE;
    if (grows == 0 && matters)
        return BJ_VERDICT_UNDETERMINED;
    return exceeds > 0 ? BJ_VERDICT_BANDWIDTH : exceeds < 0 ? BJ_VERDICT_NONE : BJ_VERDICT_UNDETERMINED;
}

bj_status bj_diagnose_hear_witness(const bj_diagnose_request *request, const bj_diagnose_samples *samples,
                                   bj_diagnosis *diagnosis, bj_error *error) {
    bj_diagnose_witness *w = &diagnosis->witness;
    testimony t = {request, samples->rounds, 1};
    bj_estimate_request ask = {.rounds = samples->round_count,
                               .resamples = RESAMPLES,
                               .seed = request->seed,
                               .tolerance = TIME_TOLERANCE,
                               .statistic = find_growth,
                               .context = &t};
    const bj_trial_notes *least = &diagnosis->densities[0].notes,
                         *full = &diagnosis->densities[request->density_count - 1].notes;
    if (request->strong)
        t.cpus = (double)(request->total_cpus > 0 ? request->total_cpus : request->densities[0]);
    *w = (bj_diagnose_witness){.points_to = BJ_VERDICT_UNDETERMINED};
    w->counted = isfinite(least->counts[BJ_COUNT_CYCLES]) && isfinite(full->counts[BJ_COUNT_CYCLES]);
    if (!w->counted)
        return BJ_OK;
    BJ_TRY(bj_kit_estimate(&ask, &w->miss_growth, error));
    ask.statistic = find_gbs;
    BJ_TRY(bj_kit_estimate(&ask, &w->miss_gbs, error));
    if (isfinite(w->miss_growth.value) && isfinite(w->miss_gbs.value))
        w->points_to = judge_witness(w, diagnosis->share_gbs, cost_growth(&t, diagnosis));
    return BJ_OK;
}
