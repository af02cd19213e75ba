/* Answers from a table of times against pages that anyone measured (`blackjack analyze tlb`). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/known_caches.h"
#include "probes/tlb/tlb_answer.h"
#include "probes/tlb/tlb_table.h"
#include "probes/tlb/tlb_walks.h"
#include "stats/monotone.h"
#include "stats/quantile.h"

#define DEFAULT_PAGE_BYTES 4096.0
/* A rise of this share is plain to see; still, there is no twin to tell what it is. */
#define PLAIN_RISE 0.25

/* The pages that fill the caches of which something is known. */
static size_t list_cache_pages(const bj_answers *known, double *pages) {
    double page = DEFAULT_PAGE_BYTES;
    size_t count = 0;
    bj_data_get_number(known, "page.size_bytes", &page);
    for (unsigned level = 1; level <= BJ_KNOWN_CACHES_MAX; level++) {
        char key[64];
        double size = 0, ways = 0;
        snprintf(key, sizeof key, "cache.L%u.size_bytes", level);
        if (!bj_data_get_number(known, key, &size)) {
            snprintf(key, sizeof key, "cache.L%u.capacity_bytes", level);
            if (!bj_data_get_number(known, key, &size))
                continue;
        }
        snprintf(key, sizeof key, "cache.L%u.associativity", level);
        bj_data_get_number(known, key, &ways);
        pages[count++] = fmax(ways, size / page);
    }
    return count;
}

static bj_status put(bj_answers *answers, const char *key, const char *unit, bj_answer **answer, bj_error *error) {
    bj_status status = bj_data_put_answer(answers, key, unit, answer, error);
    if (status != BJ_OK)
        return status;
    snprintf((*answer)->method, sizeof(*answer)->method, "%s/%u", "unexplained_steps", BJ_TLB_REVISION);
    bj_data_cite_curve(*answer, BJ_TLB_SPREAD);
    return BJ_OK;
}

static bj_status put_undetermined(bj_answers *answers, const char *key, const char *unit, const char *reason,
                                  bj_error *error) {
    bj_answer *answer;
    bj_status status = put(answers, key, unit, &answer, error);
    if (status != BJ_OK)
        return status;
    answer->status = BJ_ANSWER_UNDETERMINED;
    snprintf(answer->reason, sizeof answer->reason, "%s", reason);
    return BJ_OK;
}

static bj_status answer_miss(const bj_analyse_request *request, size_t level, double rise, bj_confidence confidence,
                             bj_answers *answers, bj_error *error) {
    char key[64];
    double add_ns = 0;
    bj_answer *answer;
    bool in_ns = request->y_unit_given != NULL && strcmp(request->y_unit_given, "ns") == 0;
    bool know_add = bj_data_get_number(request->earlier, "op.int32.add.latency_ns", &add_ns);
    snprintf(key, sizeof key, "tlb.L%zu.miss_ns", level);
    if (!in_ns && (request->y_unit_given == NULL || !know_add))
        return put_undetermined(
            answers, key, "ns",
            request->y_unit_given == NULL ? "the unit of the times is not known" : "the clock is not known", error);
    bj_status status = put(answers, key, "ns", &answer, error);
    if (status != BJ_OK)
        return status;
    answer->value = in_ns ? rise : rise * add_ns;
    answer->confidence = confidence;
    return BJ_OK;
}

static bj_status answer_level(const bj_tlb_table *table, const bj_tlb_table_level *found, size_t level,
                              const bj_analyse_request *request, bj_answers *answers, bj_confidence *confidence,
                              bj_error *error) {
    char key[64];
    bj_answer *entries;
    double rise = table->time[found->after] - table->time[found->before];
    *confidence = rise > PLAIN_RISE * table->time[found->before] ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_LOW;
    snprintf(key, sizeof key, "tlb.L%zu.entries", level);
    bj_status status = put(answers, key, "count", &entries, error);
    if (status != BJ_OK)
        return status;
    entries->value = table->pages[found->before];
    entries->confidence = *confidence;
    /* Between two points of the table nothing is known. */
    entries->has_interval = true;
    entries->interval[0] = table->pages[found->before];
    entries->interval[1] = table->pages[found->before + 1];
    return answer_miss(request, level, rise, *confidence, answers, error);
}

static bj_status answer_table(const bj_tlb_table *table, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) {
    bj_tlb_table_level found[BJ_TLB_TABLE_LEVELS_MAX];
    size_t count = bj_tlb_find_table_levels(table, found);
    bj_answer *levels;
    if (count == 0)
        return put_undetermined(answers, "tlb.levels", "count",
                                table->cache_count > 0 ? "no step that the known caches do not explain"
                                                       : "no step; no cache is known that could explain one",
                                error);
    bj_status status = put(answers, "tlb.levels", "count", &levels, error);
    bj_confidence least = BJ_CONFIDENCE_MEDIUM;
    size_t at = answers->count - 1;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        bj_confidence confidence = BJ_CONFIDENCE_LOW;
        status = answer_level(table, &found[i], i + 1, request, answers, &confidence, error);
        least = confidence < least ? confidence : least;
    }
    if (status == BJ_OK) {
        answers->items[at].value = (double)count;
        answers->items[at].confidence = least;
    }
    return status;
}

bj_status bj_tlb_analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    double cache_pages[BJ_KNOWN_CACHES_MAX];
    double *time = malloc((curve->x_count + 1) * sizeof *time);
    double *column = malloc((curve->round_count + 1) * sizeof *column);
    bj_status status = time != NULL && column != NULL
                           ? BJ_OK
                           : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", curve->x_count);
    if (status == BJ_OK) {
        for (size_t i = 0; i < curve->x_count; i++) {
            for (size_t r = 0; r < curve->round_count; r++)
                column[r] = curve->rounds[r][i];
            time[i] = bj_stats_low_quantile(column, curve->round_count);
        }
        bj_stats_enforce_monotone(time, curve->x_count);
        bj_tlb_table table = {curve->x, time, curve->x_count, cache_pages, 0};
        table.cache_count = list_cache_pages(request->earlier, cache_pages);
        status = answer_table(&table, request, answers, error);
    }
    if (status == BJ_OK)
        status = put_undetermined(answers, "tlb.huge.levels", "count", "a table has one kind of pages", error);
    free(time);
    free(column);
    return status;
}
