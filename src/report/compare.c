#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/cpu_tree.h"
#include "report/compare_levels.h"
#include "report/compare_notes.h"

/* Chance that any of all answers is wrongly called different. */
#define FALSE_ALARM 0.01
/* What two runs on one machine differ by beyond their intervals. Of 17 runs on a rented virtual machine (136 pairs) the
 * largest gaps were 0.5% (clock) among answers of high confidence, and 17% (latency of a shared level) with medium. */
#define SLACK_HIGH 0.05
#define SLACK_MEDIUM 0.25
/* The same for times and rates where others have part of the machine: two whole runs there, two hours apart, had gaps
 * of up to 28% among answers of high confidence. */
#define SLACK_SHARED 0.4
/* Weights, in octaves, of a level that one side lacks and of an answer that one side lacks: more than most changes of a
 * number. */
#define WEIGHT_LEVEL 3.0
#define WEIGHT_STATUS 2.0

enum { FAMILIES_MOST = 8 };

typedef struct {
    const bj_profile *a, *b;
    bj_comparison *comparison;
    bj_level_match matches[FAMILIES_MOST];
    double z_limit;
    bj_error *error;
} comparing;

static bj_confidence lesser(const bj_answer *a, const bj_answer *b) {
    return a->confidence < b->confidence ? a->confidence : b->confidence;
}

/* A normal value is further than this many standard deviations from its mean with that probability. */
static double find_z(double probability) {
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static bj_difference make_difference(bj_difference_kind kind, const char *key, const bj_answer *a, const bj_answer *b,
                                     double weight) {
    bj_difference difference = {.kind = kind, .a = a, .b = b, .ratio = NAN, .weight = weight};
    snprintf(difference.key, sizeof difference.key, "%s", key);
    return difference;
}

static bj_status add(comparing *comparing, const bj_difference *difference) {
    bj_comparison *comparison = comparing->comparison;
    if (comparison->count == comparison->room) {
        size_t room = comparison->room == 0 ? 16 : comparison->room * 2;
        bj_difference *items = realloc(comparison->items, room * sizeof *items);
        if (items == NULL)
            return bj_base_set_error(comparing->error, BJ_ERR_RESOURCE, "no memory for %zu differences", room);
        comparison->items = items;
        comparison->room = room;
    }
    comparison->items[comparison->count++] = *difference;
    comparison->certain_count += difference->certain;
    return BJ_OK;
}

/* How far the value reaches towards the other's, as a ratio above 1; intervals are for 1.96 standard deviations. */
static double reach(const bj_answer *answer, bool upwards) {
    if (!answer->has_interval)
        return 1;
    double ratio = upwards ? answer->interval[1] / answer->value : answer->value / answer->interval[0];
    return ratio >= 1 ? ratio : 1; /* 1 also where the lower end is not positive */
}

/* Whether the intervals are apart by more than the slack and than chance. */
static bool is_apart(const comparing *comparing, const bj_answer *a, const bj_answer *b, double slack) {
    const bj_answer *low = a->value < b->value ? a : b, *high = low == a ? b : a;
    if (low->value == high->value)
        return false;
    /* Around zero there are no ratios: the intervals alone must do. */
    if (!(low->value > 0) || (high->has_interval && !(high->interval[0] > 0)))
        return (high->has_interval ? high->interval[0] : high->value) >
               (low->has_interval ? low->interval[1] : low->value);
    double up = log(reach(low, true)), down = log(reach(high, false));
    double distance = log(high->value / low->value);
    return distance > up + down + log1p(slack) && distance > comparing->z_limit * hypot(up, down) / 1.96;
}

/* Other tenants of a machine change times and rates, not sizes and counts. */
static double find_slack(const comparing *comparing, const bj_answer *a, bj_confidence confidence) {
    static const char *const speeds[] = {"ns", "ms", "GB/s", "GHz"};
    bool speed = false;
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++)
        speed = speed || strcmp(a->unit, speeds[i]) == 0;
    if (speed && (comparing->a->environment.virtualised == 1 || comparing->b->environment.virtualised == 1))
        return SLACK_SHARED;
    return confidence == BJ_CONFIDENCE_HIGH ? SLACK_HIGH : SLACK_MEDIUM;
}

/* An answer of low confidence may be wrong, and an unstable one moved while it was measured: a difference of these is
 * mentioned but does not count. */
static bool is_certain(const bj_answer *a, const bj_answer *b) {
    return a->status == BJ_ANSWER_OK && b->status == BJ_ANSWER_OK && a->confidence != BJ_CONFIDENCE_LOW &&
           b->confidence != BJ_CONFIDENCE_LOW;
}

static bj_status compare_numbers(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    comparing->comparison->compared++;
    if (!is_apart(comparing, a, b, find_slack(comparing, a, lesser(a, b))))
        return BJ_OK;
    bj_difference difference = make_difference(BJ_DIFFERENCE_VALUE, key, a, b, WEIGHT_STATUS);
    difference.certain = is_certain(a, b);
    if (a->value > 0 && b->value > 0)
        difference.ratio = b->value / a->value;
    if (isfinite(difference.ratio))
        difference.weight = fabs(log2(difference.ratio));
    return add(comparing, &difference);
}

/* Which cpus belong together; numbers in the nodes of a tree vary and are not looked at. */
static bj_status compare_structures(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    bool same;
    if (a->structured == NULL || b->structured == NULL ||
        bj_profile_compare_cpu_sets(key, a->structured, b->structured, &same, NULL) != BJ_OK)
        return bj_report_note(comparing->comparison, comparing->error, "%s: not compared, it is not one number", key);
    comparing->comparison->compared++;
    if (same)
        return BJ_OK;
    bj_difference difference = make_difference(BJ_DIFFERENCE_VALUE, key, a, b, WEIGHT_LEVEL);
    difference.certain = is_certain(a, b);
    return add(comparing, &difference);
}

/* One side answers and the other does not, or not steadily. Only what a machine does not support is sure to be a
 * property of the machine; what was not seen or failed may be seen next time. */
static bj_status compare_status(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    const bj_answer *answering = bj_data_has_value(a) ? a : b, *other = answering == a ? b : a;
    bj_difference difference = make_difference(BJ_DIFFERENCE_STATUS, key, a, b, WEIGHT_STATUS);
    bool worth_telling;
    if (bj_data_has_value(a) != bj_data_has_value(b)) {
        worth_telling = answering->confidence != BJ_CONFIDENCE_LOW; /* low is little more than no answer */
        difference.certain = other->status == BJ_ANSWER_UNSUPPORTED;
    } else if (bj_data_has_value(a)) { /* one of them moved */
        const bj_answer *firm = a->status == BJ_ANSWER_OK ? a : b;
        worth_telling = firm->confidence == BJ_CONFIDENCE_HIGH;
    } else {
        worth_telling = a->status != BJ_ANSWER_FAILED && b->status != BJ_ANSWER_FAILED;
    }
    return worth_telling ? add(comparing, &difference) : BJ_OK;
}

static bj_status compare_answers(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    if (strcmp(a->unit, b->unit) != 0)
        return bj_report_note(comparing->comparison, comparing->error, "%s: not compared, %s is not %s", key, a->unit,
                              b->unit);
    bj_status status = BJ_OK;
    if (a->status != b->status)
        status = compare_status(comparing, key, a, b);
    if (status != BJ_OK || !bj_data_has_value(a) || !bj_data_has_value(b))
        return status;
    if (a->structured != NULL || b->structured != NULL)
        return compare_structures(comparing, key, a, b);
    return compare_numbers(comparing, key, a, b);
}

/* Cycles follow from the time and the clock, which are compared by themselves. */
static bool is_derived(const char *key, const bj_answers *answers) {
    size_t length = strlen(key);
    char counterpart[64];
    if (length < 7 || strcmp(key + length - 7, "_cycles") != 0)
        return false;
    snprintf(counterpart, sizeof counterpart, "%.*s_ns", (int)(length - 7), key);
    return bj_data_find_answer(answers, counterpart) != NULL;
}

/* The other side's answer that goes with this key of a (or of b); NULL: none. *lonely_level: since it has no such
 * level. */
static const bj_answer *find_partner(const comparing *comparing, const char *key, bool of_a, bool *lonely_level) {
    const bj_answers *others = of_a ? &comparing->b->answers : &comparing->a->answers;
    unsigned level;
    const char *rest;
    char renamed[96];
    const bj_level_family *family = bj_report_find_level(key, &level, &rest);
    *lonely_level = false;
    if (family == NULL)
        return bj_data_find_answer(others, key);
    const bj_level_match *match = &comparing->matches[family - bj_level_families];
    unsigned partner = of_a ? match->partner_of_a[level] : match->partner_of_b[level];
    *lonely_level = partner == 0;
    snprintf(renamed, sizeof renamed, "%s%u%s", family->prefix, partner, rest);
    return partner == 0 ? NULL : bj_data_find_answer(others, renamed);
}

/* Says how many answers only one side has. */
static bj_status note_lonely(comparing *comparing, bool of_a) {
    const bj_answers *answers = of_a ? &comparing->a->answers : &comparing->b->answers;
    size_t count = 0;
    const char *first = "";
    for (size_t i = 0; i < answers->count; i++) {
        const char *key = answers->items[i].key;
        bool lonely_level;
        if (is_derived(key, answers) || find_partner(comparing, key, of_a, &lonely_level) != NULL || lonely_level)
            continue;
        first = count++ == 0 ? key : first;
    }
    if (count == 0)
        return BJ_OK;
    return bj_report_note(comparing->comparison, comparing->error,
                          "not compared: %zu answers that only the %s has (%s, ...)", count, of_a ? "first" : "second",
                          first);
}

static bj_status compare_all(comparing *comparing) {
    const bj_answers *a = &comparing->a->answers;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < a->count && status == BJ_OK; i++) {
        bool lonely_level;
        const bj_answer *answer = &a->items[i], *partner = find_partner(comparing, answer->key, true, &lonely_level);
        if (partner != NULL && !is_derived(answer->key, a))
            status = compare_answers(comparing, answer->key, answer, partner);
    }
    if (status == BJ_OK)
        status = note_lonely(comparing, true);
    return status == BJ_OK ? note_lonely(comparing, false) : status;
}

/* A level that one side lacks counts where both numbers of levels are sure; otherwise it is only mentioned. */
static bj_status compare_level_counts(comparing *comparing, const bj_level_match *match) {
    const bj_level_family *family = match->family;
    const bj_answer *a = bj_data_find_answer(&comparing->a->answers, family->count_key);
    const bj_answer *b = bj_data_find_answer(&comparing->b->answers, family->count_key);
    if (a == NULL || b == NULL || !bj_data_has_value(a) || !bj_data_has_value(b))
        return BJ_OK;
    bool certain = lesser(a, b) >= BJ_CONFIDENCE_MEDIUM && is_apart(comparing, a, b, SLACK_HIGH);
    for (unsigned side = 0; side < 2; side++) {
        const unsigned *partners = side == 0 ? match->partner_of_a : match->partner_of_b;
        unsigned count = side == 0 ? match->count_a : match->count_b;
        const bj_answers *answers = side == 0 ? &comparing->a->answers : &comparing->b->answers;
        for (unsigned level = 1; level <= count; level++) {
            if (partners[level] != 0)
                continue;
            char key[64], size_key[96];
            snprintf(key, sizeof key, "%s%u", family->prefix, level);
            snprintf(size_key, sizeof size_key, "%s.%s", key, family->lead);
            const bj_answer *size = bj_data_find_answer(answers, size_key);
            bj_difference difference = side == 0
                                           ? make_difference(BJ_DIFFERENCE_LEVEL_GONE, key, size, NULL, WEIGHT_LEVEL)
                                           : make_difference(BJ_DIFFERENCE_LEVEL_NEW, key, NULL, size, WEIGHT_LEVEL);
            difference.certain = certain;
            BJ_TRY(add(comparing, &difference));
        }
    }
    return BJ_OK;
}

static int compare_weights(const void *left, const void *right) {
    const bj_difference *a = left, *b = right;
    if (a->certain != b->certain)
        return a->certain ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return strcmp(a->key, b->key);
}

bj_status bj_report_compare(const bj_profile *a, const bj_profile *b, bj_comparison *comparison, bj_error *error) {
    *comparison = (bj_comparison){0};
    size_t numbers = a->answers.count < b->answers.count ? a->answers.count : b->answers.count;
    comparing comparing = {.a = a, .b = b, .comparison = comparison, .error = error};
    comparing.z_limit = find_z(FALSE_ALARM / (double)(numbers > 0 ? numbers : 1));
    for (size_t i = 0; i < bj_level_family_count; i++)
        bj_report_match_levels(&bj_level_families[i], &a->answers, &b->answers, &comparing.matches[i]);
    bj_status status = bj_report_note_environment(comparison, a, b, error);
    if (status == BJ_OK)
        status = compare_all(&comparing);
    for (size_t i = 0; i < bj_level_family_count && status == BJ_OK; i++)
        status = compare_level_counts(&comparing, &comparing.matches[i]);
    if (status == BJ_OK && comparison->count > 0)
        qsort(comparison->items, comparison->count, sizeof *comparison->items, compare_weights);
    if (status != BJ_OK)
        bj_report_free_comparison(comparison);
    return status;
}

void bj_report_free_comparison(bj_comparison *comparison) {
    free(comparison->items);
    bj_strings_free(&comparison->notes);
    *comparison = (bj_comparison){0};
}
