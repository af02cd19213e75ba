/* What one cpu still gets when all of them work: rates while all stream, the memory latency of one that walks while
 * the others stream, and sizes and latencies of shared caches while all walk sets of their own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/contention/contention_constants.h"
#include "probes/contention/contention_round.h"
#include "probes/kit/estimate.h"
#include "stats/quantile.h"

/* Walked at once at most, by whole instances of a level and by one at least: the others would only add time, since
 * they share nothing but memory, which a set of the effective size hardly uses. */
#define PLACES_AT_ONCE 600000.0
/* A walk takes as long as one of so many places at least. */
#define PLACES_LEAST 12000.0
#define REPETITIONS 3u
/* The walk of memory: so many times the last cache. */
#define OVER_LAST 4.0
#define LONGEST_LINE 1024.0
#define MOST_WALK_BYTES (256.0 * 1048576)
/* Sizes of a level's walks, as shares of what each of its sharers would get; then halfway between the last that fits
 * and the first that does not, round by round. */
static const double first_shares[] = {0.4, 0.6, 0.8, 1.0};
#define NEAREST_SIZES 1.06
/* For the latency: the smallest share that frames of base pages fit well, the largest, and how far outside the nearer
 * levels (a cache that replaces at random keeps a fifth of twice its lines). */
#define LATENCY_SHARE 0.4
#define LATENCY_SHARE_MOST 0.6
#define OVER_NEARER 2.0

static bj_status stream_all(bj_contention_run *run, const char *id, bj_stream_kind kind, const size_t *who, double *gbs,
                            bj_error *error) {
    const bj_curve_axes axes = {id, "cpus", "", "bandwidth", "GB/s"};
    bool done;
    BJ_TRY(bj_contention_stream(run, who, run->all.count, kind, gbs, &done, error));
    if (!done)
        return BJ_OK;
    return bj_kit_record(&run->rounds, &axes, (double)run->all.count, bj_stats_median(gbs, run->all.count), error);
}

/* The cpu that the run is about walks, the others stream. */
static bj_status walk_beside_streams(bj_contention_run *run, size_t *who, double *gbs, bj_error *error) {
    const bj_curve_axes axes = {CONTENTION_LATENCY, "cpus", "", "time", "ns"};
    size_t count = run->all.count, walker = 0;
    double largest = 0, ns;
    while (walker + 1 < count && run->all.cpus[walker] != run->rounds.request->cpu)
        walker++;
    who[walker] = who[0];
    who[0] = walker;
    for (size_t i = 0; i < run->cache_count; i++)
        largest = fmax(largest, run->capacity[i]);
    bj_partaker *party_of = malloc((count + 1) * sizeof *party_of);
    size_t *bytes = calloc(count + 1, sizeof *bytes);
    bj_status status = BJ_OK;
    if (party_of == NULL || bytes == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu streams", count);
        goto done;
    }
    size_t grain_bytes = run->grain_bytes;
    for (size_t i = 0; i < run->cache_count; i++) {
        double line = bj_kit_find_number(run->rounds.request->earlier, "cache.L%zu.line_bytes", i + 1);
        grain_bytes = line > (double)grain_bytes && line <= LONGEST_LINE ? (size_t)line : grain_bytes;
    }
    bj_contention_choose_buffers(run, who + 1, count - 1, bytes + 1);
    bytes[0] = (size_t)fmin(OVER_LAST * largest, MOST_WALK_BYTES);
    for (size_t i = 0; i < count; i++)
        party_of[i] = (bj_partaker){run->all.cpus[who[i]], run->all.cpus[who[i]], bytes[i]};
    if (bytes[0] < grain_bytes || !bj_kit_choose_pages_for(&run->rounds, party_of, count))
        goto done;
    bj_party party = {.walkers = party_of,
                      .walk_count = 1,
                      .streamers = party_of + 1,
                      .stream_count = count - 1,
                      .order = BJ_ORDER_RANDOM,
                      .grain_bytes = grain_bytes,
                      .kind = BJ_STREAM_READ,
                      .repetitions = REPETITIONS};
    status = bj_kit_run_together(&run->rounds, &party, &ns, gbs, error);
    if (status == BJ_OK)
        status = bj_kit_record(&run->rounds, &axes, (double)count, ns, error);
done:
    free(party_of);
    free(bytes);
    return status;
}

/* ---- shared caches */

static size_t count_sharers(const bj_contention_run *run, size_t level, size_t cpu) {
    size_t count = 0;
    for (size_t i = 0; i < run->all.count; i++)
        count += run->sharers[level][i] == run->sharers[level][cpu];
    return count;
}

/* The cpus of whole instances as far as they are affordable, those of the measured cpu first. */
static size_t list_walkers(const bj_contention_run *run, size_t level, size_t measured, double places, size_t *who) {
    size_t count = 0, first = run->sharers[level][measured];
    for (size_t turn = 0; turn <= run->all.count; turn++) {
        size_t group = turn == 0 ? first : turn - 1;
        if ((turn > 0 && group == first) || run->sharers[level][group] != group)
            continue;
        size_t size = count_sharers(run, level, group);
        if (count > 0 && (double)(count + size) * fmax(places, PLACES_LEAST) > PLACES_AT_ONCE)
            continue;
        for (size_t i = 0; i < run->all.count; i++)
            if (run->sharers[level][i] == group)
                who[count++] = i;
    }
    return count;
}

static bj_status walk_all(bj_contention_run *run, size_t level, size_t measured, size_t bytes, size_t *who, double *ns,
                          bj_error *error) {
    char id[48];
    size_t count = list_walkers(run, level, measured, (double)(bytes / run->grain_bytes), who);
    bj_partaker *walkers = malloc((count + 1) * sizeof *walkers);
    if (walkers == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu walks", count);
    for (size_t i = 0; i < count; i++)
        walkers[i] = (bj_partaker){run->all.cpus[who[i]], run->all.cpus[who[i]], bytes};
    bj_kit_choose_pages(&run->rounds, bytes, count);
    bj_party party = {.walkers = walkers,
                      .walk_count = count,
                      .order = BJ_ORDER_RANDOM,
                      .grain_bytes = run->grain_bytes,
                      .repetitions = REPETITIONS};
    bj_status status = bj_kit_count_affordable(&run->rounds, bytes) < count
                           ? BJ_OK
                           : bj_kit_run_together(&run->rounds, &party, ns, NULL, error);
    free(walkers);
    if (status != BJ_OK || bj_kit_count_affordable(&run->rounds, bytes) < count)
        return status;
    snprintf(id, sizeof id, "contention.full.L%zu", level + 1);
    const bj_curve_axes axes = {id, "working_set", "bytes", "time", "ns"};
    bj_curve *curve;
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, &curve, error));
    BJ_TRY(bj_data_set_attribute_text(curve, CONTENTION_KIND, CONTENTION_WALK, error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_LEVEL, (double)(level + 1), error));
    BJ_TRY(bj_data_set_attribute_number(curve, CONTENTION_CPUS, (double)count_sharers(run, level, measured), error));
    BJ_TRY(bj_data_record_sample(curve, (double)bytes, run->rounds.round, bj_stats_median(ns, count), error));
    return bj_probe_report(run->rounds.request, 0, error);
}

/* The size at which a level's own latency shows: well outside what nearer levels have for each cpu, inside its share of
 * this one. 0: there is none. */
static double choose_latency_bytes(const bj_contention_run *run, size_t level, size_t measured, double share) {
    double nearer = 0;
    for (size_t i = 0; i < level; i++)
        nearer = fmax(nearer, run->capacity[i] / (double)count_sharers(run, i, measured));
    double bytes = fmax(LATENCY_SHARE * share, OVER_NEARER * nearer);
    return bytes <= LATENCY_SHARE_MOST * share ? floor(bytes / (double)run->grain_bytes) * (double)run->grain_bytes : 0;
}

/* The last size that fits and the first that does not, by the time that a tenth of the way to the next level makes.
 * 0: there is none. */
static void find_bracket(const bj_curve *curve, double limit_ns, double bracket[2], double *scratch) {
    bracket[0] = bracket[1] = 0;
    for (size_t i = 0; i < curve->x_count && bracket[1] == 0; i++) {
        double ns = bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, 0.5, scratch);
        bracket[ns <= limit_ns ? 0 : 1] = curve->x[i];
    }
}

static bj_status measure_level(bj_contention_run *run, size_t level, size_t measured, size_t *who, double *scratch,
                               bj_error *error) {
    const bj_answers *earlier = run->rounds.request->earlier;
    double own = bj_kit_find_number(earlier, "cache.L%zu.latency_ns", level + 1);
    double next = bj_kit_find_number(earlier, "cache.L%zu.latency_ns", level + 2);
    next = isnan(next) ? bj_kit_find_number(earlier, "memory.latency_ns") : next;
    size_t sharers = count_sharers(run, level, measured);
    double share = run->capacity[level] / (double)sharers, grain = (double)run->grain_bytes;
    if (sharers < 2 || isnan(own) || isnan(next) || share < 16 * grain)
        return BJ_OK;
    char id[48];
    snprintf(id, sizeof id, "contention.full.L%zu", level + 1);
    double sizes[6], bracket[2] = {0, 0}, latency_bytes = choose_latency_bytes(run, level, measured, share);
    size_t count = 0;
    if (latency_bytes > 0)
        sizes[count++] = latency_bytes;
    const bj_curve *curve = bj_data_find_curve(run->rounds.samples, id);
    if (curve != NULL) {
        double *of_round = malloc((curve->round_count + 1) * sizeof *of_round);
        if (of_round == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", curve->round_count);
        find_bracket(curve, own + MARGIN * (next - own), bracket, of_round);
        free(of_round);
        double fits = bracket[0] > 0 ? bracket[0] : curve->x[0] / 2;
        double fails = bracket[1] > 0 ? bracket[1] : curve->x[curve->x_count - 1] * 1.3;
        sizes[count++] = fits;
        sizes[count++] = fails;
        if (fails > NEAREST_SIZES * fits)
            sizes[count++] = sqrt(fits * fails);
    } else {
        for (size_t i = 0; i < sizeof first_shares / sizeof *first_shares; i++)
            sizes[count++] = first_shares[i] * share;
    }
    for (size_t i = 0; i < count; i++) {
        double bytes = fmax(floor(sizes[i] / grain), 8) * grain;
        bool is_again = i > 0 && bytes == floor(sizes[i - 1] / grain) * grain;
        if (!is_again)
            BJ_TRY(walk_all(run, level, measured, (size_t)bytes, who, scratch, error));
    }
    return latency_bytes > 0 ? bj_kit_keep_fact(&run->rounds, id, CONTENTION_LATENCY_BYTES, latency_bytes, error)
                             : BJ_OK;
}

bj_status bj_contention_measure_full(bj_contention_run *run, bj_error *error) {
    size_t count = run->all.count, measured = 0;
    size_t *who = malloc((count + 1) * sizeof *who);
    double *scratch = malloc((count + 1) * sizeof *scratch);
    bj_status status = BJ_OK;
    if (who == NULL || scratch == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    for (size_t i = 0; status == BJ_OK && i < count; i++) {
        who[i] = i;
        measured = run->all.cpus[i] == run->rounds.request->cpu ? i : measured;
    }
    if (status == BJ_OK)
        status = stream_all(run, CONTENTION_READ, BJ_STREAM_READ, who, scratch, error);
    if (status == BJ_OK)
        status = stream_all(run, CONTENTION_COPY, BJ_STREAM_COPY, who, scratch, error);
    if (status == BJ_OK)
        status = walk_beside_streams(run, who, scratch, error);
    for (size_t level = 0; status == BJ_OK && level < run->cache_count; level++)
        status = measure_level(run, level, measured, who, scratch, error);
    free(who);
    free(scratch);
    return status;
}
