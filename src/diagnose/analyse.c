/* Times, sensitivities and the verdict, with intervals and confidence from resampled rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "diagnose/diagnose_constants.h"
#include "diagnose/reading.h"
#include "stats/quantile.h"

const char *bj_diagnose_name_verdict(bj_verdict verdict) {
    static const char *const names[BJ_VERDICTS] = {"cache", "bandwidth", "dram_rows", "other", "none", "undetermined"};
    return names[verdict];
}

typedef struct {
    const bj_diagnose_request *request;
    const bj_diagnose_samples *samples;
    /* Of a ratio of two cells of the program, or of two densities: */
    bj_company company, base;
    size_t density;
    double factor;
    /* Of verdicts: how often each came. */
    size_t counts[BJ_VERDICTS], total;
} inquiry;

static double cell_ratio(void *context, const size_t *index, size_t count) {
    const inquiry *q = context;
    const bj_diagnose_round *rounds = q->samples->rounds;
    return bj_diagnose_cell(rounds, index, count, BJ_SUBJECT_PROGRAM, q->company, false) /
           bj_diagnose_cell(rounds, index, count, BJ_SUBJECT_PROGRAM, q->base, false);
}

static double density_seconds(const inquiry *q, size_t density, const size_t *index, size_t count) {
    double values[BJ_DIAGNOSE_ROUNDS];
    for (size_t i = 0; i < count; i++)
        values[i] = q->samples->rounds[index[i]].densities[density];
    return bj_stats_median(values, count);
}

static double seconds_of(void *context, const size_t *index, size_t count) {
    const inquiry *q = context;
    return density_seconds(q, q->density, index, count);
}

static double efficiency_of(void *context, const size_t *index, size_t count) {
    const inquiry *q = context;
    return q->factor * density_seconds(q, 0, index, count) / density_seconds(q, q->density, index, count);
}

static double take_verdict(void *context, const size_t *index, size_t count) {
    inquiry *q = context;
    bj_reading reading = bj_diagnose_read(q->request, q->samples, index, count);
    q->counts[reading.verdict]++;
    q->total++;
    return reading.verdict;
}

static bj_status estimate(inquiry *q, bj_bootstrap_statistic statistic, bj_estimate *result, bj_error *error) {
    bj_estimate_request request = {.rounds = q->samples->round_count,
                                   .resamples = RESAMPLES,
                                   .seed = q->request->seed,
                                   .tolerance = TIME_TOLERANCE,
                                   .statistic = statistic,
                                   .context = q};
    return bj_kit_estimate(&request, result, error);
}

static bj_trial_notes find_notes(const bj_diagnose_samples *samples, size_t density) {
    double hits[BJ_DIAGNOSE_ROUNDS], counts[BJ_DIAGNOSE_ROUNDS];
    bj_trial_notes notes;
    for (size_t r = 0; r < samples->round_count; r++)
        hits[r] = samples->rounds[r].notes[density].row_hits;
    notes.row_hits = bj_stats_median(hits, samples->round_count);
    for (size_t c = 0; c < BJ_COUNTS; c++) {
        for (size_t r = 0; r < samples->round_count; r++)
            counts[r] = samples->rounds[r].notes[density].counts[c];
        notes.counts[c] = bj_stats_median(counts, samples->round_count);
    }
    return notes;
}

static bj_status fill_densities(inquiry *q, bj_diagnosis *diagnosis, bj_error *error) {
    const bj_diagnose_request *request = q->request;
    diagnosis->density_count = request->density_count;
    for (size_t i = 0; i < request->density_count; i++) {
        bj_diagnose_density *density = &diagnosis->densities[i];
        density->cpus = request->densities[i];
        q->density = i;
        /* The same work on more cpus should take that much less time, unless it always has as many. */
        q->factor = request->strong && request->total_cpus == 0
                        ? (double)request->densities[0] / (double)request->densities[i]
                        : 1;
        BJ_TRY(estimate(q, seconds_of, &density->seconds, error));
        BJ_TRY(estimate(q, efficiency_of, &density->efficiency, error));
        density->notes = find_notes(q->samples, i);
    }
    return BJ_OK;
}

/* A point of a sensitivity: the slowdown by one company over that by another. */
static bj_status add_point(inquiry *q, bj_diagnosis *diagnosis, bj_resource resource, bj_company company,
                           bj_company base, double pressure, bj_error *error) {
    bj_diagnose_point *point = &diagnosis->points[resource][diagnosis->point_count[resource]++];
    *point = (bj_diagnose_point){.pressure = pressure};
    point->achieved =
        bj_diagnose_cell(q->samples->rounds, NULL, q->samples->round_count, BJ_SUBJECT_PROGRAM, company, true);
    if (resource != BJ_RESOURCE_CACHE)
        point->pressure = point->achieved;
    q->company = company;
    q->base = base;
    return estimate(q, cell_ratio, &point->slowdown, error);
}

static bj_status fill_sensitivity(inquiry *q, bj_diagnosis *diagnosis, bj_error *error) {
    static const bj_company in_order[] = {BJ_BESIDE_HALF, BJ_BESIDE_FULL, BJ_BESIDE_TWINS};
    static const bj_company scattered[] = {BJ_BESIDE_HALF_SCATTERED, BJ_BESIDE_FULL_SCATTERED,
                                           BJ_BESIDE_TWINS_SCATTERED};
    for (size_t i = 0; i < BJ_DIAGNOSE_LEVELS; i++)
        BJ_TRY(add_point(q, diagnosis, BJ_RESOURCE_CACHE, (bj_company)(BJ_BESIDE_CACHE + i), BJ_BESIDE_NULL,
                         bj_diagnose_cache_shares[i] * q->request->chip->cache_bytes, error));
    for (size_t i = 0; i < 3; i++) {
        BJ_TRY(add_point(q, diagnosis, BJ_RESOURCE_BANDWIDTH, in_order[i], BJ_BESIDE_NULL, NAN, error));
        BJ_TRY(add_point(q, diagnosis, BJ_RESOURCE_ROWS, scattered[i], in_order[i], NAN, error));
    }
    return BJ_OK;
}

static int compare_points(const void *a, const void *b) {
    const bj_diagnose_point *left = a, *right = b;
    return (left->pressure > right->pressure) - (left->pressure < right->pressure);
}

static void fill_memory(const inquiry *q, bj_diagnosis *diagnosis) {
    const bj_diagnose_round *rounds = q->samples->rounds;
    size_t count = q->samples->round_count;
    diagnosis->total_gbs = bj_diagnose_cell(rounds, NULL, count, BJ_SUBJECT_LINES, BJ_BESIDE_FULL, true) +
                           1 / bj_diagnose_cell(rounds, NULL, count, BJ_SUBJECT_LINES, BJ_BESIDE_FULL, false);
    diagnosis->scattered_gbs =
        bj_diagnose_cell(rounds, NULL, count, BJ_SUBJECT_SCATTERED, BJ_BESIDE_FULL_SCATTERED, true) +
        1 / bj_diagnose_cell(rounds, NULL, count, BJ_SUBJECT_SCATTERED, BJ_BESIDE_FULL_SCATTERED, false);
    diagnosis->share_gbs = diagnosis->total_gbs / (double)q->request->chip->count;
    diagnosis->demand_gbs = bj_diagnose_find_demand(rounds, NULL, count);
}

static void take_reading(const inquiry *q, const bj_reading *reading, bj_diagnosis *diagnosis) {
    for (size_t i = 0; i < 3; i++) {
        diagnosis->seen[i] = exp(reading->seen[i]);
        for (size_t c = 0; c < BJ_RESOURCES; c++)
            diagnosis->cross_talk[i][c] = exp(reading->talk[i][c]);
    }
    memcpy(diagnosis->pressure, reading->pressure, sizeof diagnosis->pressure);
    diagnosis->condition = reading->condition;
    diagnosis->own_cache_bytes = q->samples->twin_share * q->request->chip->cache_bytes;
    diagnosis->walk_is_past = q->samples->walk_is_past;
    diagnosis->closure = reading->closure;
}

/* The verdict of all rounds, as sure as resampled rounds agree; where they mostly do not, there is none. */
static bj_status find_verdict(inquiry *q, bj_diagnosis *diagnosis, bj_error *error) {
    bj_estimate agreement;
    bj_reading reading = bj_diagnose_read(q->request, q->samples, NULL, q->samples->round_count);
    BJ_TRY(estimate(q, take_verdict, &agreement, error));
    for (size_t i = 0; i < BJ_VERDICTS; i++)
        diagnosis->support[i] = q->total > 0 ? (double)q->counts[i] / (double)q->total : 0;
    take_reading(q, &reading, diagnosis);
    diagnosis->verdict = reading.verdict;
    diagnosis->confidence = bj_kit_judge_support(diagnosis->support[reading.verdict]);
    if (q->samples->round_count < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        diagnosis->confidence = BJ_CONFIDENCE_LOW;
    bj_diagnose_tell_reason(q->request, &reading, diagnosis);
    if (reading.verdict == BJ_VERDICT_UNDETERMINED)
        diagnosis->confidence = BJ_CONFIDENCE_NONE;
    else if (diagnosis->support[reading.verdict] < 0.5) {
        diagnosis->verdict = BJ_VERDICT_UNDETERMINED;
        diagnosis->confidence = BJ_CONFIDENCE_NONE;
        snprintf(diagnosis->reason, sizeof diagnosis->reason,
                 "the rounds disagree: all together say %s, but only %.0f%% of resampled rounds do. More rounds "
                 "(--effort thorough) or a quieter machine may tell",
                 bj_diagnose_name_verdict(reading.verdict), 100 * diagnosis->support[reading.verdict]);
    }
    return BJ_OK;
}

bj_status bj_diagnose_analyse(const bj_diagnose_request *request, const bj_diagnose_samples *samples,
                              bj_diagnosis *diagnosis, bj_error *error) {
    inquiry q = {.request = request, .samples = samples};
    *diagnosis = (bj_diagnosis){.verdict = BJ_VERDICT_UNDETERMINED};
    if (samples->round_count == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no round was finished in time");
    BJ_TRY(fill_densities(&q, diagnosis, error));
    if (request->times_only)
        return BJ_OK;
    BJ_TRY(fill_sensitivity(&q, diagnosis, error));
    for (size_t c = BJ_RESOURCE_BANDWIDTH; c < BJ_RESOURCES; c++)
        qsort(diagnosis->points[c], diagnosis->point_count[c], sizeof diagnosis->points[c][0], compare_points);
    fill_memory(&q, diagnosis);
    q.company = BJ_BESIDE_NULL;
    q.base = BJ_BESIDE_IDLE;
    BJ_TRY(estimate(&q, cell_ratio, &diagnosis->null_cost, error));
    BJ_TRY(bj_diagnose_hear_witness(request, samples, diagnosis, error));
    return find_verdict(&q, diagnosis, error);
}
