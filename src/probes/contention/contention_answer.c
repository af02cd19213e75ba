/* memory.contention: the levels, how each scales, and how often other rounds would have said the same. */
#include "probes/contention/contention_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/contention/contention_constants.h"
#include "probes/contention/contention_levels.h"
#include "probes/contention/contention_table.h"
#include "probes/kit/estimate.h"
#include "probes/kit/structured.h"

typedef struct {
    const bj_curves *samples;
    const bj_analyse_request *request;
    const bj_contention_samples *read;
    bool is_servet;
} analysis;

static bool are_alike(const bj_contention *a, const bj_contention *b, size_t cpus) {
    bool alike = a->count == b->count;
    for (size_t i = 0; alike && i < a->count; i++)
        alike = memcmp(a->levels[i].group_of, b->levels[i].group_of, cpus * sizeof(size_t)) == 0;
    return alike;
}

/* The share of resamples of the rounds that give the same levels and groups. */
static bj_status count_support(const analysis *a, const bj_contention *found, double *support, bj_error *error) {
    bj_random random;
    size_t alike = 0, rounds = a->read->rounds;
    size_t *drawn = malloc((rounds + 1) * sizeof *drawn);
    if (drawn == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", rounds);
    bj_random_seed(&random, a->request->seed);
    bj_status status = BJ_OK;
    for (unsigned i = 0; i < RESAMPLES && status == BJ_OK; i++) {
        bj_contention other;
        for (size_t r = 0; r < rounds; r++)
            drawn[r] = bj_random_below(&random, rounds);
        status = bj_contention_find_levels(a->read, drawn, rounds, a->is_servet, &other, error);
        if (status == BJ_OK) {
            alike += are_alike(found, &other, a->read->all.count);
            bj_contention_free_levels(&other);
        }
    }
    free(drawn);
    *support = (double)alike / RESAMPLES;
    return status;
}

/* Totals of a scaling curve, number by number; how many of the cpus are of use, and what one gets where it first gets
 * less than alone. */
typedef struct {
    double useful, crowded_gbs;
} scaling;

static scaling add_scaling(const analysis *a, const bj_curve *curve, bj_structured *value) {
    const bj_contention_samples *read = a->read;
    scaling found = {NAN, NAN};
    double most = 0, gap = bj_contention_find_gap(read);
    bj_structured_open(value, "scaling", '[');
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++) {
        double total = bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, 0.5, read->scratch);
        bj_structured_open(value, NULL, '{');
        bj_structured_add_number(value, "cpus", curve->x[i]);
        bj_structured_add_number(value, "gbs", total);
        bj_structured_close(value, '}');
        most = fmax(most, total);
        if (isnan(found.crowded_gbs) && total < (1 - gap) * curve->x[i] * read->reference_gbs)
            found.crowded_gbs = total / curve->x[i];
    }
    bj_structured_close(value, ']');
    for (size_t i = 0; curve != NULL && i < curve->x_count && isnan(found.useful); i++)
        if (bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, 0.5, read->scratch) >= (1 - AS_GOOD) * most)
            found.useful = curve->x[i];
    return found;
}

static bj_status fill_levels(const analysis *a, const bj_contention *found, bj_answer *answer, bj_error *error) {
    const bj_contention_samples *read = a->read;
    bj_structured value = {0};
    bj_structured_open(&value, NULL, '{');
    bj_structured_add_number(&value, "reference_gbs", read->reference_gbs);
    bj_structured_open(&value, "levels", '[');
    for (size_t i = 0; i < found->count; i++) {
        const bj_contention_level *level = &found->levels[i];
        const bj_curve *curve = bj_contention_find_scaling(a->samples, read->all.cpus[level->lowest], level->size);
        bj_structured_open(&value, NULL, '{');
        bj_structured_add_groups(&value, "groups", read->all.cpus, level->group_of, read->all.count);
        scaling of = add_scaling(a, curve, &value);
        bj_structured_add_number(&value, "gbs", isnan(level->gbs) ? of.crowded_gbs : level->gbs);
        bj_structured_add_number(&value, "useful_cpus", of.useful);
        bj_structured_close(&value, '}');
        if (curve != NULL)
            bj_data_cite_curve(answer, curve->id);
    }
    bj_structured_close(&value, ']');
    bj_structured_close(&value, '}');
    return bj_structured_finish(&value, answer, error);
}

/* Whether what was asked tells all groups: by the tree, or of a table all pairs. */
static bool has_all(const analysis *a) {
    size_t cpus = a->read->all.count;
    return a->request->from_table ? a->read->pair_count == cpus * (cpus - 1) / 2 : a->read->all.tree.is_known;
}

/* What is full stays full. A total that stood still and then grows is of several groups, one after the other. */
static bool grows_again(const analysis *a, const bj_contention *found) {
    const bj_contention_samples *read = a->read;
    for (size_t l = 0; l < found->count; l++) {
        const bj_contention_level *level = &found->levels[l];
        const bj_curve *curve = bj_contention_find_scaling(a->samples, read->all.cpus[level->lowest], level->size);
        double before = NAN, full = INFINITY;
        for (size_t i = 0; curve != NULL && i < curve->x_count; i++) {
            double total = bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, 0.5, read->scratch);
            if (total > (1 + TOLERANCE) * full)
                return true;
            if (total <= (1 + AS_GOOD) * before)
                full = fmin(full, total);
            before = total;
        }
    }
    return false;
}

static bj_status was_all_asked(const analysis *a, const bj_contention *found, bool *was, bj_error *error) {
    bool *reached = malloc((a->read->all.count + 1) * sizeof *reached);
    if (reached == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", a->read->all.count);
    *was = bj_contention_find_unasked(a->read, found, reached) == a->read->all.count;
    free(reached);
    return BJ_OK;
}

static bj_status answer_contention(const analysis *a, bj_answer *answer, bj_error *error) {
    const bj_contention_samples *read = a->read;
    bj_contention found;
    double support = 0;
    BJ_TRY(bj_contention_find_levels(read, NULL, 0, a->is_servet, &found, error));
    double gap = bj_contention_find_gap(read);
    if (found.count == 0 && gap > BLIND_GAP) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "rounds differ so much that a fall of %.0f%% would not be seen",
                      100 * gap);
        bj_data_cite_curve(answer, CONTENTION_ALONE);
        return BJ_OK;
    }
    bool was_asked = true;
    bj_status status = was_all_asked(a, &found, &was_asked, error);
    if (status == BJ_OK)
        status = count_support(a, &found, &support, error);
    if (status == BJ_OK)
        status = fill_levels(a, &found, answer, error);
    answer->confidence = bj_kit_judge_support(support);
    if (read->rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        answer->confidence = bj_kit_least(answer->confidence, BJ_CONFIDENCE_MEDIUM);
    if (read->rounds < 2 || a->is_servet || !has_all(a) || found.hides_groups || !was_asked || grows_again(a, &found))
        answer->confidence = bj_kit_least(answer->confidence, BJ_CONFIDENCE_LOW);
    if (found.count == 0 && gap > TOLERANCE)
        answer->confidence = bj_kit_least(answer->confidence, BJ_CONFIDENCE_MEDIUM);
    if (support < BJ_SUPPORT_MEDIUM)
        bj_kit_call_unstable(answer, "%.0f of 100 resamples of the rounds give these levels", 100 * support);
    bj_data_cite_curve(answer, CONTENTION_ALONE);
    bj_contention_free_levels(&found);
    return status;
}

static bj_status analyse_levels(const bj_curves *samples, const bj_analyse_request *request, const char *lacking,
                                bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    bj_contention_samples read;
    BJ_TRY(bj_data_put_answer(answers, "memory.contention", "GB/s", &answer, error));
    BJ_TRY(bj_contention_read(samples, request->earlier, &read, error));
    analysis a = {.samples = samples,
                  .request = request,
                  .read = &read,
                  .is_servet = request->method != NULL && strcmp(request->method, "servet") == 0};
    bj_status status = BJ_OK;
    if (read.all.count > 1 && read.pair_count > 0)
        status = answer_contention(&a, answer, error);
    else
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s", lacking);
    bj_contention_free_samples(&read);
    return status;
}

bj_status bj_contention_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                bj_error *error) {
    if (!request->from_table) {
        BJ_TRY(analyse_levels(samples, request, "one cpu, or no memory for two streams: nothing to compare", answers,
                              error));
        return bj_contention_answer_full(samples, request, answers, error);
    }
    bj_curves filed = {0};
    bj_status status = bj_contention_file_table(samples, request->earlier, &filed, error);
    if (status == BJ_OK)
        status = analyse_levels(&filed, request,
                                "nothing says what a cpu gets alone: expected it on the diagonal, or --known "
                                "memory.read_gbs=GB/s",
                                answers, error);
    bj_data_free_curves(&filed);
    return status;
}
