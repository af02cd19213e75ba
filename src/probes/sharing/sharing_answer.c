/* From walks at once to groups: which pairs suffer, what they join, and how often other rounds would have said so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/kit/estimate.h"
#include "probes/kit/structured.h"
#include "probes/sharing/sharing_constants.h"
#include "probes/sharing/sharing_samples.h"

typedef struct {
    const bj_curves *samples;
    const bj_analyse_request *request;
    const bj_sharing_level *all; /* the first level, of which all cpus have samples */
    bool is_servet;
    size_t *nearer;  /* groups of the level before, by cpu */
    size_t *replica; /* of a resample */
    size_t *rounds;
    double *scratch;
} analysis;

/* The share of resamples of the rounds that give the same groups. */
static double count_support(const analysis *a, const bj_sharing_level *read, double threshold, const size_t *group_of) {
    bj_random random;
    size_t alike = 0;
    bj_random_seed(&random, bj_random_mix(a->request->seed, read->level));
    for (unsigned i = 0; i < RESAMPLES; i++) {
        for (size_t r = 0; r < read->rounds; r++)
            a->rounds[r] = bj_random_below(&random, read->rounds);
        memcpy(a->replica, a->nearer, read->cpu_count * sizeof *a->replica);
        bj_sharing_find_groups(read, threshold, a->rounds, read->rounds, a->replica, a->scratch);
        alike += memcmp(a->replica, group_of, read->cpu_count * sizeof *group_of) == 0;
    }
    return (double)alike / RESAMPLES;
}

/* Whether a pair was measured of every cpu or of one that shares the nearer level with it: who was not asked may share
 * with anybody. */
static bool were_all_asked(const analysis *a, const bj_sharing_level *read) {
    for (size_t i = 0; i < read->cpu_count; i++) {
        bool asked = false;
        for (size_t p = 0; p < read->pair_count && !asked; p++)
            asked = a->nearer[read->pairs[p].a] == a->nearer[i] || a->nearer[read->pairs[p].b] == a->nearer[i];
        if (!asked && a->nearer[i] == i)
            return false;
    }
    return true;
}

/* Whether all cpus share the nearer level: then they share this one, and no walk needs to tell. */
static bool are_one(const analysis *a) {
    for (size_t i = 1; i < a->all->cpu_count; i++)
        if (a->nearer[i] != a->nearer[0])
            return false;
    return a->all->cpu_count > 1;
}

/* As the nearer level's answer, and as sure. */
static bj_status fill_inherited(const analysis *a, const bj_answer *nearer, bj_answer *answer, bj_error *error) {
    bj_structured value = {0};
    bj_structured_add_groups(&value, NULL, a->all->cpus, a->nearer, a->all->cpu_count);
    BJ_TRY(bj_structured_finish(&value, answer, error));
    answer->confidence = nearer->confidence;
    if (nearer->evidence_count > 0)
        bj_data_cite_curve(answer, nearer->evidence[0]);
    return BJ_OK;
}

/* Of a table only where its times are known to be ns, too. */
static double find_next_ns(const analysis *a, size_t level) {
    const char *unit = a->request->y_unit_given;
    bool is_comparable = !a->request->from_table || (unit != NULL && strcmp(unit, "ns") == 0);
    return is_comparable ? bj_sharing_find_next_ns(a->request->earlier, level) : NAN;
}

static bj_status fill_groups(const analysis *a, const bj_sharing_level *read, const size_t *group_of, double against,
                             double threshold, bj_answer *answer, bj_error *error) {
    bool is_blind = bj_sharing_is_blind(read, threshold, find_next_ns(a, read->level));
    if (is_blind && !a->is_servet && memcmp(group_of, a->nearer, read->cpu_count * sizeof *group_of) == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "walks alone vary so much that a walk %.2f times as long would not be seen", threshold);
        return BJ_OK;
    }
    bj_structured value = {0};
    bj_structured_add_groups(&value, NULL, read->cpus, group_of, read->cpu_count);
    BJ_TRY(bj_structured_finish(&value, answer, error));
    double support = count_support(a, read, threshold, group_of);
    answer->confidence = bj_kit_judge_support(support);
    if (read->rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        answer->confidence = bj_kit_least(answer->confidence, BJ_CONFIDENCE_MEDIUM);
    if (read->rounds < 2 || against > FEW_CONTRADICTIONS || a->is_servet || is_blind)
        answer->confidence = bj_kit_least(answer->confidence, BJ_CONFIDENCE_LOW);
    if (support < BJ_SUPPORT_MEDIUM)
        bj_kit_call_unstable(answer, "%.0f of 100 resamples of the rounds give these groups", 100 * support);
    return BJ_OK;
}

static bj_status answer_level(analysis *a, size_t level, bj_error *error, bj_answers *answers) {
    char key_of_nearer[48];
    bj_answer *answer;
    bj_sharing_level read;
    BJ_TRY(bj_kit_put_answer(answers, "groups", &answer, error, "cache.L%zu.sharing", level));
    snprintf(key_of_nearer, sizeof key_of_nearer, "cache.L%zu.sharing", level - 1);
    const bj_answer *nearer = bj_data_find_answer(answers, key_of_nearer);
    BJ_TRY(bj_sharing_read_level(a->samples, level, &read, error));
    size_t room = read.cpu_count + 1;
    a->replica = malloc(room * sizeof *a->replica);
    a->rounds = malloc((read.rounds + 1) * sizeof *a->rounds);
    a->scratch = malloc((read.rounds + 1) * sizeof *a->scratch);
    size_t *group_of = malloc(room * sizeof *group_of);
    bj_status status = BJ_OK;
    if (!a->replica || !a->rounds || !a->scratch || !group_of) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", room);
    } else if (read.pair_count == 0 && nearer != NULL && nearer->status == BJ_ANSWER_OK && are_one(a)) {
        status = fill_inherited(a, nearer, answer, error);
    } else if (read.pair_count == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      a->samples->count == 0 ? "one cpu, or no way to ask many: nothing to compare"
                                             : "no walk lies inside this level and well outside the nearer one");
    } else {
        memcpy(group_of, a->nearer, read.cpu_count * sizeof *group_of);
        double threshold = a->is_servet ? SERVET_RATIO : bj_sharing_find_threshold(&read, find_next_ns(a, level));
        double against = bj_sharing_find_groups(&read, threshold, NULL, read.rounds, group_of, a->scratch);
        if (!were_all_asked(a, &read))
            bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the time budget ended before all cpus were asked");
        else if (against > MANY_CONTRADICTIONS && !a->is_servet && read.cpu_count == 2)
            bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "only one of the two cpus is slower beside the other");
        else if (against > MANY_CONTRADICTIONS && !a->is_servet)
            bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%.0f in 100 pairs contradict the groups of the others",
                          100 * against);
        else
            status = fill_groups(a, &read, group_of, against, threshold, answer, error);
        memcpy(a->nearer, group_of, read.cpu_count * sizeof *group_of);
    }
    if (status == BJ_OK && read.pair_count > 0)
        bj_data_cite_curve(answer, read.pairs[0].curve->id);
    free(group_of);
    free(a->replica);
    free(a->rounds);
    free(a->scratch);
    bj_sharing_free_level(&read);
    return status;
}

/* Levels from `first` on. */
static bj_status answer_levels(analysis *a, size_t first, size_t last, bj_answers *answers, bj_error *error) {
    bj_sharing_level all;
    BJ_TRY(bj_sharing_read_level(a->samples, first, &all, error));
    a->all = &all;
    a->nearer = malloc((all.cpu_count + 1) * sizeof *a->nearer);
    bj_status status = BJ_OK;
    if (a->nearer == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", all.cpu_count);
    else
        bj_kit_part_all(a->nearer, all.cpu_count);
    for (size_t level = first; status == BJ_OK && level <= last; level++)
        status = answer_level(a, level, error, answers);
    free(a->nearer);
    bj_sharing_free_level(&all);
    return status;
}

bj_status bj_sharing_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                             bj_error *error) {
    analysis a = {.samples = samples,
                  .request = request,
                  .is_servet = request->method != NULL && strcmp(request->method, "servet") == 0};
    double levels = fmin(fmax(bj_kit_find_number(request->earlier, "cache.levels"), 0), 8); /* 0 for NaN */
    if (!request->from_table)
        return answer_levels(&a, 1, (size_t)levels, answers, error);
    bj_curves filed = {0};
    unsigned level = request->level > 0 ? request->level : 1;
    a.samples = &filed;
    bj_status status = bj_sharing_file_table(samples, level, a.is_servet, &filed, error);
    if (status == BJ_OK)
        status = answer_levels(&a, level, level, answers, error);
    bj_data_free_curves(&filed);
    return status;
}
