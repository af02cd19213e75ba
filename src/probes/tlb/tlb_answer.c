#include "probes/tlb/tlb_answer.h"

#include <math.h>
#include <stdlib.h>

#include "probes/kit/spells.h"
#include "probes/tlb/tlb_paper.h"
#include "probes/tlb/tlb_twins.h"

/* What is answered of one kind of pages. */
typedef struct {
    const char *prefix; /* "tlb" or "tlb.huge" */
    bj_answers *answers;
    bj_tlb_twins twins;
    double entries[BJ_TLB_LEVELS_MAX][BJ_TLB_RESAMPLES], cost[BJ_TLB_LEVELS_MAX][BJ_TLB_RESAMPLES]; /* replicates */
    size_t replicate_count;
    bj_estimate of_entries[BJ_TLB_LEVELS_MAX], of_cost[BJ_TLB_LEVELS_MAX];
    bj_confidence confidence[BJ_TLB_LEVELS_MAX];
} tlb_answer;

static double file_resample(void *context, const size_t *index, size_t count) {
    tlb_answer *a = context;
    bj_tlb_levels found;
    if (!bj_tlb_refit_rounds(&a->twins, index, count, &found))
        return NAN;
    for (size_t k = 0; k < found.count; k++) {
        a->entries[k][a->replicate_count] = found.level[k].entries;
        a->cost[k][a->replicate_count] = found.level[k].cost;
    }
    a->replicate_count++;
    return NAN;
}

/* What can be known of a level besides how often resamples find it. */
static bj_confidence judge_level(const bj_tlb_twins *twins, const bj_tlb_level *level, bool is_first) {
    /* As many lines in other sets overfill a cache a little earlier or later: where it fills up by more than the level
     * costs, the difference of the twins may be that. */
    bool is_cache = bj_tlb_measure_caches(twins, level->entries) > level->cost;
    /* Where the ramp is not the model's, each run reads another number off it; behind the first level that is what page
     * walks of a guest and of its host make of it, on top of each other. */
    bool fits = level->misfit < BJ_TLB_POOR_FIT;
    if (!fits && !is_first)
        return BJ_CONFIDENCE_LOW;
    return fits && level->ways > BJ_TLB_FEW_WAYS && !is_cache ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
}

/* One number of one level, for kit/spells.h. */
typedef struct {
    const bj_tlb_twins *twins;
    size_t level;
    bool is_cost;
} level_number;

static double find_number(void *context, const size_t *index, size_t count) {
    const level_number *number = context;
    bj_tlb_levels found;
    if (!bj_tlb_refit_rounds(number->twins, index, count, &found) || number->level >= found.count)
        return NAN;
    const bj_tlb_level *level = &found.level[number->level];
    return number->is_cost ? level->cost : level->entries;
}

static bj_status heed_spells(const tlb_answer *a, size_t level, bool is_cost, uint64_t seed, bj_estimate *estimate,
                             bj_error *error) {
    level_number number = {&a->twins, level, is_cost};
    bj_estimate_request request = {.rounds = a->twins.rounds,
                                   .seed = seed,
                                   .statistic = find_number,
                                   .context = &number,
                                   .curve = a->twins.spread};
    return bj_kit_heed_spells(&request, NULL, estimate, error);
}

static bj_status estimate_levels(tlb_answer *a, uint64_t seed, bj_error *error) {
    bj_confidence before = BJ_CONFIDENCE_HIGH;
    for (size_t i = 0; i < a->twins.found.count; i++) {
        const bj_tlb_level *level = &a->twins.found.level[i];
        a->of_entries[i] =
            (bj_estimate){.value = level->entries,
                          .tolerance = fmax(BJ_TLB_ENTRIES_RIGHT / level->entries, BJ_TLB_ENTRIES_TOLERANCE),
                          .rounds = a->twins.rounds};
        a->of_cost[i] =
            (bj_estimate){.value = level->cost, .tolerance = BJ_TLB_COST_TOLERANCE, .rounds = a->twins.rounds};
        bj_kit_take_replicates(&a->of_entries[i], a->entries[i], a->replicate_count, BJ_TLB_RESAMPLES);
        bj_kit_take_replicates(&a->of_cost[i], a->cost[i], a->replicate_count, BJ_TLB_RESAMPLES);
        BJ_TRY(heed_spells(a, i, false, seed, &a->of_entries[i], error));
        BJ_TRY(heed_spells(a, i, true, seed, &a->of_cost[i], error));
        bj_kit_widen(&a->of_cost[i], BJ_TLB_SYSTEMATIC, BJ_TLB_SYSTEMATIC);
        /* Where a level before may be none, this one is another than its number says. */
        a->confidence[i] = bj_kit_judge(&a->of_entries[i], bj_kit_least(judge_level(&a->twins, level, i == 0), before));
        before = bj_kit_least(before, a->confidence[i]);
    }
    return BJ_OK;
}

/* An answer of a level, or of all of them where `level` is 0. */
static bj_status put(const tlb_answer *a, size_t level, const char *name, const char *unit, bj_answer **answer,
                     bj_error *error) {
    BJ_TRY(level == 0 ? bj_kit_put_answer(a->answers, unit, answer, error, "%s.%s", a->prefix, name)
                      : bj_kit_put_answer(a->answers, unit, answer, error, "%s.L%zu.%s", a->prefix, level, name));
    bj_data_cite_curve(*answer, a->twins.spread->id);
    bj_data_cite_curve(*answer, a->twins.packed->id);
    return BJ_OK;
}

static bj_status answer_count(const tlb_answer *a, bj_error *error) {
    size_t count = a->twins.found.count;
    bool looked_far = a->twins.all.pages[a->twins.all.count - 1] >= BJ_TLB_LOOKED_FAR;
    bj_answer *levels;
    BJ_TRY(put(a, 0, "levels", "count", &levels, error));
    levels->value = (double)count;
    /* The last one's is the least of all. */
    levels->confidence = looked_far ? a->confidence[count - 1] : BJ_CONFIDENCE_LOW;
    levels->has_interval = true;
    levels->interval[0] = (double)count;
    /* What lies beyond has not been looked at. */
    levels->interval[1] = (double)count + (looked_far ? 0 : 1);
    return BJ_OK;
}

static bj_status answer_levels(const tlb_answer *a, bj_error *error) {
    bj_status status = answer_count(a, error);
    for (size_t i = 0; i < a->twins.found.count && status == BJ_OK; i++) {
        bj_answer *answer;
        status = put(a, i + 1, "entries", "count", &answer, error);
        if (status != BJ_OK)
            return status;
        bj_kit_fill_answer(answer, &a->of_entries[i], a->confidence[i]);
        status = put(a, i + 1, "miss_ns", "ns", &answer, error);
        if (status == BJ_OK)
            bj_kit_fill_answer(answer, &a->of_cost[i], a->confidence[i]);
    }
    return status;
}

static bj_status answer_twins(tlb_answer *a, uint64_t seed, bj_error *error) {
    const bj_tlb_curve *all = &a->twins.all;
    bj_bootstrap unused = {0};
    bj_answer *levels;
    bj_status status;
    if (a->twins.found.count == 0) {
        status = bj_kit_put_answer(a->answers, "count", &levels, error, "%s.levels", a->prefix);
        if (status == BJ_OK && a->twins.rounds < BJ_TLB_ROUNDS_LEAST)
            bj_kit_refuse(levels, BJ_ANSWER_UNDETERMINED, "too few rounds");
        else if (status == BJ_OK)
            bj_kit_refuse(levels, BJ_ANSWER_UNDETERMINED,
                          "up to %.0f pages cost no more than their lines in fewer pages",
                          all->count > 0 ? all->pages[all->count - 1] : 0.0);
        return status;
    }
    status = bj_stats_bootstrap_rounds(a->twins.rounds, BJ_TLB_RESAMPLES, seed, file_resample, a, &unused, error);
    bj_stats_free_bootstrap(&unused);
    if (status != BJ_OK)
        return status;
    BJ_TRY(estimate_levels(a, seed, error));
    return answer_levels(a, error);
}

/* The lowest time of the largest number of pages; NaN: not known. */
static double find_last_time(const bj_curve *curve) {
    double lowest = NAN;
    for (size_t r = 0; curve != NULL && curve->x_count > 0 && r < curve->round_count; r++)
        lowest = fmin(lowest, curve->rounds[r][curve->x_count - 1]);
    return lowest;
}

/* What small pages inside few huge ones cost, if that is as much as base pages do: no huge pages are held. Else NaN. */
static double find_inside_cost(const bj_curves *samples, const bj_answers *answers) {
    double cost = find_last_time(bj_data_find_curve(samples, BJ_TLB_INSIDE_SPREAD)) -
                  find_last_time(bj_data_find_curve(samples, BJ_TLB_INSIDE_PACKED));
    return cost > BJ_TLB_INSIDE_MOST * bj_kit_find_number(answers, "tlb.L1.miss_ns") ? cost : NAN;
}

/* `missing` says why there may be no curves. */
static bj_status answer_pages(const bj_curves *samples, const char *const ids[2], const char *prefix,
                              const char *missing, double inside_cost, uint64_t seed, bj_answers *answers,
                              bj_error *error) {
    const bj_curve *spread = bj_data_find_curve(samples, ids[0]), *packed = bj_data_find_curve(samples, ids[1]);
    if (spread == NULL || packed == NULL || !isnan(inside_cost)) {
        bj_answer *levels;
        bj_status status = bj_kit_put_answer(answers, "count", &levels, error, "%s.levels", prefix);
        if (status == BJ_OK && (spread == NULL || packed == NULL))
            bj_kit_refuse(levels, BJ_ANSWER_UNDETERMINED, "%s", missing);
        else if (status == BJ_OK)
            bj_kit_refuse(levels, BJ_ANSWER_UNDETERMINED,
                          "the hypervisor seems not to back huge pages: small pages inside few huge ones miss as well, "
                          "at %.3g ns",
                          inside_cost);
        return status;
    }
    tlb_answer *a = calloc(1, sizeof *a);
    if (a == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", spread->x_count);
    a->prefix = prefix;
    a->answers = answers;
    bj_status status = bj_tlb_read_twins(spread, packed, &a->twins, error);
    if (status == BJ_OK)
        status = answer_twins(a, seed, error);
    free(a->twins.column);
    free(a);
    return status;
}

bj_status bj_tlb_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    static const char *const base[2] = {BJ_TLB_SPREAD, BJ_TLB_PACKED};
    static const char *const huge[2] = {BJ_TLB_HUGE_SPREAD, BJ_TLB_HUGE_PACKED};
    const bj_curve *spread = bj_data_find_curve(samples, BJ_TLB_SPREAD);
    if (bj_probe_is_method(request->method, BJ_TLB_QT_CLUSTER))
        return bj_tlb_analyse_paper(samples, request, answers, error);
    if (request->from_table && spread != NULL)
        return bj_tlb_analyse_table(spread, request, answers, error);
    bj_status status =
        answer_pages(samples, base, "tlb", "the memory limit allows too few pages", NAN, request->seed, answers, error);
    if (status != BJ_OK)
        return status;
    return answer_pages(samples, huge, "tlb.huge", "huge pages are not granted, or too few of them",
                        find_inside_cost(samples, answers), request->seed, answers, error);
}
