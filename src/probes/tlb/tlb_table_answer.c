/* Answers from a table of times against pages that anyone measured (`blackjack analyze tlb`). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/tlb/tlb_answer.h"
#include "probes/tlb/tlb_table.h"
#include "stats/monotone.h"
#include "stats/quantile.h"

typedef struct {
    const char *id; /* of the table's curve */
    const bj_analyse_request *request;
    bj_answers *answers;
} table_answer;

/* The pages that fill the caches of which something is known. */
static size_t list_cache_pages(const bj_answers *known, double *pages) {
    double page = BJ_TLB_TABLE_PAGE_BYTES;
    size_t count = 0;
    bj_data_get_number(known, "page.size_bytes", &page);
    for (unsigned level = 1; level <= BJ_KNOWN_CACHES_MAX; level++) {
        double size = bj_kit_find_number(known, "cache.L%u.size_bytes", level);
        if (isnan(size))
            size = bj_kit_find_number(known, "cache.L%u.capacity_bytes", level);
        if (!isnan(size)) /* fmax passes over ways that are not known */
            pages[count++] = fmax(bj_kit_find_number(known, "cache.L%u.associativity", level), size / page);
    }
    return count;
}

/* `level` 0: an answer about all of them. */
static bj_status put(const table_answer *a, size_t level, const char *name, const char *unit, bj_answer **answer,
                     bj_error *error) {
    BJ_TRY(level == 0 ? bj_kit_put_answer(a->answers, unit, answer, error, "tlb.%s", name)
                      : bj_kit_put_answer(a->answers, unit, answer, error, "tlb.L%zu.%s", level, name));
    bj_data_cite_curve(*answer, a->id);
    return BJ_OK;
}

static bj_status answer_miss(const table_answer *a, size_t level, double rise, bj_confidence confidence,
                             bj_error *error) {
    const char *unit = a->request->y_unit_given;
    double ns = unit == NULL              ? NAN
                : strcmp(unit, "ns") == 0 ? 1
                                          : bj_kit_find_number(a->request->earlier, "op.int32.add.latency_ns");
    bj_answer *answer;
    BJ_TRY(put(a, level, "miss_ns", "ns", &answer, error));
    if (isnan(ns))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      unit == NULL ? "the unit of the times is not known" : "the clock is not known");
    else
        answer->value = rise * ns;
    answer->confidence = isnan(ns) ? BJ_CONFIDENCE_NONE : confidence;
    return BJ_OK;
}

static bj_status answer_level(const table_answer *a, const bj_tlb_table *table, const bj_tlb_table_level *found,
                              size_t level, bj_confidence confidence, bj_error *error) {
    bj_answer *entries;
    BJ_TRY(put(a, level, "entries", "count", &entries, error));
    entries->value = table->pages[found->before];
    entries->confidence = confidence;
    /* Between two points of the table nothing is known. */
    entries->has_interval = true;
    entries->interval[0] = table->pages[found->before];
    entries->interval[1] = table->pages[found->before + 1];
    return answer_miss(a, level, table->time[found->after] - table->time[found->before], confidence, error);
}

static bj_status answer_table(const table_answer *a, const bj_tlb_table *table, bj_error *error) {
    bj_tlb_table_level found[BJ_TLB_TABLE_LEVELS_MAX];
    bj_confidence confidence[BJ_TLB_TABLE_LEVELS_MAX], least = BJ_CONFIDENCE_MEDIUM;
    size_t count = bj_tlb_find_table_levels(table, found);
    bj_answer *levels;
    bj_status status = put(a, 0, "levels", "count", &levels, error);
    if (status != BJ_OK)
        return status;
    if (count == 0) {
        bj_kit_refuse(levels, BJ_ANSWER_UNDETERMINED, "%s",
                      table->cache_count > 0 ? "no step that the known caches do not explain"
                                             : "no step; no cache is known that could explain one");
        return BJ_OK;
    }
    /* A level is no surer than those before it. */
    for (size_t i = 0; i < count; i++) {
        double before = table->time[found[i].before];
        bool plain = table->time[found[i].after] - before > BJ_TLB_TABLE_RISE_PLAIN * before;
        confidence[i] = least = plain ? least : BJ_CONFIDENCE_LOW;
    }
    levels->value = (double)count;
    levels->confidence = least;
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        status = answer_level(a, table, &found[i], i + 1, confidence[i], error);
    return status;
}

bj_status bj_tlb_analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    table_answer a = {curve->id, request, answers};
    double cache_pages[BJ_KNOWN_CACHES_MAX];
    double *time = malloc((curve->x_count + curve->round_count + 1) * sizeof *time);
    bj_answer *huge;
    if (time == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", curve->x_count);
    for (size_t i = 0; i < curve->x_count; i++)
        time[i] = bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, BJ_LOW_QUANTILE, time + curve->x_count);
    bj_stats_enforce_monotone(time, curve->x_count);
    bj_tlb_table table = {curve->x, time, curve->x_count, cache_pages, list_cache_pages(request->earlier, cache_pages)};
    bj_status status = answer_table(&a, &table, error);
    free(time);
    if (status == BJ_OK)
        status = put(&a, 0, "huge.levels", "count", &huge, error);
    if (status == BJ_OK)
        bj_kit_refuse(huge, BJ_ANSWER_UNDETERMINED, "a table has one kind of pages");
    return status;
}
