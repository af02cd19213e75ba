#include "report/compare_sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/cpu_tree.h"
#include "report/compare_constants.h"
#include "report/compare_judge.h"
#include "report/compare_levels.h"
#include "stats/student.h"

enum { FAMILIES_MOST = 8 };

typedef struct {
    bj_profile_set set;
    const bj_profile *reference;
    bj_level_match (*matches)[FAMILIES_MOST]; /* of the reference's levels with those of each profile */
    bj_judged *found;                         /* the answers of each profile to one key; NULL: none */
    double *values;
    bj_compared *compared;
    bj_error *error;
} gathering;

static double count_levels(const bj_profile *profile, const bj_level_family *family) {
    double count = NAN;
    return bj_data_get_number(&profile->answers, family->count_key, &count) ? count : -1;
}

/* The profile with whose numbers of levels most others agree, the first of several. */
static const bj_profile *choose_reference(bj_profile_set set) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < set.count; i++) {
        size_t agreeing = 0;
        for (size_t j = 0; j < set.count; j++)
            for (size_t f = 0; f < bj_level_family_count; f++)
                agreeing += count_levels(&set.items[i], &bj_level_families[f]) ==
                            count_levels(&set.items[j], &bj_level_families[f]);
        if (agreeing > most) {
            most = agreeing;
            best = i;
        }
    }
    return set.items + best;
}

static const bj_answer *find_in(const gathering *g, size_t profile, const char *key) {
    const bj_answers *answers = &g->set.items[profile].answers;
    unsigned level;
    const char *rest;
    const bj_level_family *family = bj_report_find_level(key, &level, &rest);
    if (family == NULL || &g->set.items[profile] == g->reference)
        return bj_data_find_answer(answers, key);
    unsigned partner = g->matches[profile][family - bj_level_families].partner_of_a[level];
    char renamed[96];
    snprintf(renamed, sizeof renamed, "%s%u%s", family->prefix, partner, rest);
    return partner == 0 ? NULL : bj_data_find_answer(answers, renamed);
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median; of an even number of whole numbers the lower one of the two, since 3.5 levels are nobody's answer. */
static double find_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    double low = values[(count - 1) / 2], high = values[count / 2];
    return low == floor(low) && high == floor(high) ? low : (low + high) / 2;
}

static bool has_value(const bj_answer *answer) {
    return answer != NULL && bj_data_has_value(answer);
}

/* The confidence that half of the profiles reach, those without an answer counted as none. */
static bj_confidence find_usual_confidence(const gathering *g) {
    size_t reaching = 0;
    bj_confidence confidence = BJ_CONFIDENCE_HIGH;
    for (;; confidence--) {
        for (size_t i = 0; i < g->set.count; i++)
            reaching += has_value(g->found[i].answer) && g->found[i].answer->confidence == confidence;
        if (2 * reaching > g->set.count || confidence == BJ_CONFIDENCE_NONE)
            return confidence;
    }
}

/* Interval and degrees of freedom of a median of `count` values. */
static double set_spread(const gathering *g, bj_answer *answer, size_t count) {
    double within = 0, between = 0, mean = 0, freedom = INFINITY, low = INFINITY, high = -INFINITY;
    bool has_logarithms = true;
    for (size_t i = 0; i < g->set.count; i++) {
        const bj_answer *single = g->found[i].answer;
        if (!has_value(single) || single->structured != NULL)
            continue;
        double own = g->found[i].freedom, error = bj_report_find_log_error(single, bj_report_find_interval_reach(own));
        freedom = fmin(freedom, own);
        within += error * error / (double)count;
        has_logarithms = has_logarithms && single->value > 0;
        mean += log(single->value) / (double)count;
        low = fmin(low, single->has_interval ? single->interval[0] : single->value);
        high = fmax(high, single->has_interval ? single->interval[1] : single->value);
    }
    for (size_t i = 0; i < count; i++)
        between += (log(g->values[i]) - mean) * (log(g->values[i]) - mean) / (double)(count - 1);
    /* What is estimated from the profiles adds to what is known from the rounds of each. */
    freedom += (double)(count - 1);
    answer->has_interval = true;
    answer->interval[0] = low;
    answer->interval[1] = high;
    if (has_logarithms) {
        double variance = fmax(within, between) / (double)count * (count > 2 ? BJ_MEDIAN_VARIANCE : 1);
        double width = bj_stats_student_reach(BJ_INTERVAL_TAIL, freedom) * sqrt(variance);
        answer->interval[0] = answer->value * exp(-width);
        answer->interval[1] = answer->value * exp(width);
    }
    return freedom;
}

static bj_status copy_structure(const gathering *g, const bj_answer *from, bj_answer *answer) {
    if (from->structured == NULL)
        return BJ_OK;
    answer->structured = strdup(from->structured);
    if (answer->structured == NULL)
        return bj_base_set_error(g->error, BJ_ERR_RESOURCE, "no memory for %s", from->key);
    for (size_t i = 0; i < g->set.count; i++) {
        bool same = true;
        const bj_answer *other = g->found[i].answer;
        if (other != NULL && other->structured != NULL &&
            bj_profile_compare_cpu_sets(from->key, from->structured, other->structured, &same, NULL) == BJ_OK && !same)
            answer->status = BJ_ANSWER_UNSTABLE;
    }
    return BJ_OK;
}

/* Fills in what all profiles say together; `answer` is a copy of the first that answers as most do. */
static double merge_numbers(const gathering *g, bj_answer *answer) {
    size_t count = 0, steady = 0;
    for (size_t i = 0; i < g->set.count; i++) {
        const bj_answer *single = g->found[i].answer;
        if (!has_value(single) || single->structured != NULL)
            continue;
        g->values[count++] = single->value;
        steady += single->status == BJ_ANSWER_OK;
    }
    answer->value = find_median(g->values, count);
    answer->confidence = find_usual_confidence(g);
    answer->status = 2 * steady > count || count >= BJ_SET_TELLS_SPREAD ? BJ_ANSWER_OK : BJ_ANSWER_UNSTABLE;
    return count > 1 ? set_spread(g, answer, count) : BJ_FREEDOM_UNKNOWN;
}

/* Whether more than half of the profiles have a value, and one that stands for what most say. */
static const bj_answer *choose_example(const gathering *g, bool *answered) {
    size_t count = 0;
    const bj_answer *with = NULL, *without = NULL;
    for (size_t i = 0; i < g->set.count; i++) {
        const bj_answer *single = g->found[i].answer;
        if (single == NULL)
            continue;
        bool has = bj_data_has_value(single);
        count += has;
        with = has && with == NULL ? single : with;
        without = !has && without == NULL ? single : without;
    }
    *answered = 2 * count > g->set.count;
    return *answered || without == NULL ? with : without;
}

static bj_status gather_key(gathering *g, const char *key) {
    bj_compared *compared = g->compared;
    bool answered;
    for (size_t i = 0; i < g->set.count; i++) {
        const bj_answer *found = find_in(g, i, key);
        g->found[i] = (bj_judged){found, found != NULL ? bj_report_find_freedom(&g->set.items[i], found) : 0};
    }
    const bj_answer *example = choose_example(g, &answered);
    if (example == NULL || bj_data_find_answer(&compared->answers, key) != NULL)
        return BJ_OK;
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(&compared->answers, key, example->unit, &answer, g->error));
    bj_answer copy = *example;
    memcpy(copy.key, answer->key, sizeof copy.key);
    copy.structured = NULL;
    *answer = copy;
    BJ_TRY(copy_structure(g, example, answer));
    double *freedom = &compared->freedom[compared->answers.count - 1];
    *freedom = BJ_FREEDOM_UNKNOWN;
    if (g->set.count == 1)
        *freedom = g->found[0].freedom;
    else if (bj_data_has_value(example) && example->structured == NULL)
        *freedom = merge_numbers(g, answer);
    if (!answered && bj_data_has_value(answer))
        answer->confidence = BJ_CONFIDENCE_LOW; /* most were not asked, or have no such level */
    return BJ_OK;
}

static bj_status gather_all(gathering *g) {
    const bj_answers *first = &g->reference->answers;
    for (size_t i = 0; i < first->count; i++)
        BJ_TRY(gather_key(g, first->items[i].key));
    for (size_t p = 0; p < g->set.count; p++)
        for (size_t i = 0; i < g->set.items[p].answers.count; i++) {
            unsigned level;
            const char *rest, *key = g->set.items[p].answers.items[i].key;
            if (bj_report_find_level(key, &level, &rest) == NULL)
                BJ_TRY(gather_key(g, key));
        }
    return BJ_OK;
}

bj_status bj_report_gather(bj_profile_set set, bj_compared *compared, bj_error *error) {
    *compared = (bj_compared){.profile_count = set.count};
    size_t keys = 1;
    for (size_t i = 0; i < set.count; i++)
        keys += set.items[i].answers.count;
    gathering g = {.set = set, .reference = choose_reference(set), .compared = compared, .error = error};
    g.matches = calloc(set.count, sizeof *g.matches);
    g.found = calloc(set.count, sizeof *g.found);
    g.values = calloc(set.count, sizeof *g.values);
    compared->freedom = calloc(keys, sizeof *compared->freedom);
    bj_status status = BJ_OK;
    if (g.matches == NULL || g.found == NULL || g.values == NULL || compared->freedom == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu profiles", set.count);
    for (size_t i = 0; i < set.count && status == BJ_OK; i++)
        for (size_t f = 0; f < bj_level_family_count; f++)
            bj_report_match_levels(&bj_level_families[f], &g.reference->answers, &set.items[i].answers,
                                   &g.matches[i][f]);
    if (status == BJ_OK)
        status = gather_all(&g);
    free(g.matches);
    free(g.found);
    free(g.values);
    if (status != BJ_OK)
        bj_report_free_compared(compared);
    return status;
}

void bj_report_free_compared(bj_compared *compared) {
    bj_data_free_answers(&compared->answers);
    free(compared->freedom);
    *compared = (bj_compared){0};
}
