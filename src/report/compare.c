#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/comm_layers.h"
#include "profile/cpu_tree.h"
#include "report/compare_constants.h"
#include "report/compare_judge.h"
#include "report/compare_levels.h"
#include "report/compare_notes.h"

enum { FAMILIES_MOST = 8 };

typedef struct {
    bj_find_tolerance find_tolerance;
    bj_comparison *comparison;
    bj_level_match matches[FAMILIES_MOST];
    bool may_have_moved; /* virtual cpus may be elsewhere in one of the two */
    bj_error *error;
} comparing;

static bj_confidence lesser(const bj_answer *a, const bj_answer *b) {
    return a->confidence < b->confidence ? a->confidence : b->confidence;
}

static bj_tolerance find_tolerance(const comparing *comparing, const char *key) {
    bj_tolerance tolerance = {0};
    if (comparing->find_tolerance != NULL)
        tolerance = comparing->find_tolerance(key);
    if (!(tolerance.share > 0) && !(tolerance.least > 0))
        tolerance.share = BJ_TOLERANCE_UNKNOWN;
    return tolerance;
}

static bj_difference make_difference(bj_difference_kind kind, const char *key, const bj_answer *a, const bj_answer *b,
                                     double weight) {
    bj_difference difference = {.kind = kind, .a = a, .b = b, .ratio = NAN, .p = NAN, .weight = weight};
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

/* An answer of low confidence may be wrong, and an unstable one moved while it was measured: a difference of these is
 * mentioned but does not count. */
static bool is_certain(const bj_answer *a, const bj_answer *b) {
    return a->status == BJ_ANSWER_OK && b->status == BJ_ANSWER_OK && a->confidence != BJ_CONFIDENCE_LOW &&
           b->confidence != BJ_CONFIDENCE_LOW;
}

static double find_freedom(const bj_compared *side, const bj_answer *answer) {
    return side->freedom[answer - side->answers.items];
}

/* A virtual cpu may be on another core the next time, or beside others that are busy, and with them the clock that the
 * host boosts to changes: two runs that were each steady have been seen 5% apart. So what is held against the clock to
 * a hundredth is held to what times promise. */
static bool may_have_other_clock(const comparing *comparing, bj_judged a, bj_judged b, bj_tolerance tolerance) {
    const char *unit = a.answer->unit;
    if (!comparing->may_have_moved || (strcmp(unit, "ns") != 0 && strcmp(unit, "GHz") != 0))
        return false;
    tolerance.share = fmax(tolerance.share, BJ_TOLERANCE_UNKNOWN);
    return !bj_report_judge(a, b, tolerance).beyond;
}

/* Whether it counts is decided when all have been compared. */
static bj_status compare_numbers(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    bj_comparison *comparison = comparing->comparison;
    bj_tolerance tolerance = find_tolerance(comparing, key);
    bj_judged first = {a, find_freedom(&comparison->a, a)}, second = {b, find_freedom(&comparison->b, b)};
    bj_judgement judgement = bj_report_judge(first, second, tolerance);
    if ((tolerance.compares_cpus && comparing->may_have_moved) ||
        may_have_other_clock(comparing, first, second, tolerance))
        judgement.sure_enough = false;
    comparison->compared++;
    comparison->countable += judgement.sure_enough;
    if (!judgement.beyond || !(judgement.p <= BJ_WORTH_MENTIONING))
        return BJ_OK;
    bj_difference difference = make_difference(BJ_DIFFERENCE_VALUE, key, a, b, BJ_WEIGHT_STATUS);
    difference.p = judgement.p;
    difference.may_count = judgement.sure_enough;
    if (a->value > 0 && b->value > 0)
        difference.ratio = b->value / a->value;
    if (isfinite(difference.ratio))
        difference.weight = fabs(log2(difference.ratio));
    return add(comparing, &difference);
}

/* Whether what the key says of several cpus may hold for where a hypervisor had them. */
static bool may_have_moved(const comparing *comparing, const char *key) {
    return comparing->may_have_moved && find_tolerance(comparing, key).compares_cpus;
}

/* Which ranks belong together, and how long a message takes in each layer. */
static bj_status compare_layers(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    bj_comm_comparison layers;
    if (a->structured == NULL || b->structured == NULL ||
        bj_profile_compare_comm_layers(a->structured, b->structured, &layers, NULL) != BJ_OK)
        return bj_strings_add_note(&comparing->comparison->notes, comparing->error,
                                   "%s: not compared, it is no list of layers", key);
    comparing->comparison->compared++;
    double octaves = fabs(log2(layers.ratio));
    if (layers.same_groups && !(octaves > log2(BJ_LAUNCHES_ALIKE)))
        return BJ_OK;
    bj_difference difference = make_difference(BJ_DIFFERENCE_VALUE, key, a, b, BJ_WEIGHT_LEVEL);
    difference.certain = is_certain(a, b) && (!layers.same_groups || layers.apart) && !may_have_moved(comparing, key);
    if (layers.same_groups) {
        difference.ratio = layers.ratio;
        difference.weight = octaves;
    }
    return add(comparing, &difference);
}

/* Which cpus belong together; numbers in the nodes of a tree vary and are not looked at. Groups are right or wrong, so
 * that only `high` counts, as of such numbers. */
static bj_status compare_structures(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    bool same;
    if (strcmp(key, "comm.layers") == 0)
        return compare_layers(comparing, key, a, b);
    if (a->structured == NULL || b->structured == NULL ||
        bj_profile_compare_cpu_sets(key, a->structured, b->structured, &same, NULL) != BJ_OK)
        return bj_strings_add_note(&comparing->comparison->notes, comparing->error,
                                   "%s: not compared, it is not one number", key);
    comparing->comparison->compared++;
    if (same)
        return BJ_OK;
    bj_difference difference = make_difference(BJ_DIFFERENCE_VALUE, key, a, b, BJ_WEIGHT_LEVEL);
    difference.certain = is_certain(a, b) && lesser(a, b) == BJ_CONFIDENCE_HIGH && !may_have_moved(comparing, key);
    return add(comparing, &difference);
}

/* One side answers and the other does not; where both do, one of them less steadily, the values say the rest. Only what
 * a machine does not support is sure to be a property of the machine; what was not seen or failed may be seen next
 * time.
 */
static bj_status compare_status(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    const bj_answer *answering = bj_data_has_value(a) ? a : b, *other = answering == a ? b : a;
    bj_difference difference = make_difference(BJ_DIFFERENCE_STATUS, key, a, b, BJ_WEIGHT_STATUS);
    bool worth_telling;
    if (bj_data_has_value(a) != bj_data_has_value(b)) {
        worth_telling = answering->confidence != BJ_CONFIDENCE_LOW; /* low is little more than no answer */
        difference.certain = other->status == BJ_ANSWER_UNSUPPORTED;
    } else {
        worth_telling = !bj_data_has_value(a) && a->status != BJ_ANSWER_FAILED && b->status != BJ_ANSWER_FAILED;
    }
    return worth_telling ? add(comparing, &difference) : BJ_OK;
}

static bj_status compare_answers(comparing *comparing, const char *key, const bj_answer *a, const bj_answer *b) {
    if (strcmp(a->unit, b->unit) != 0)
        return bj_strings_add_note(&comparing->comparison->notes, comparing->error, "%s: not compared, %s is not %s",
                                   key, a->unit, b->unit);
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
    const bj_answers *others = of_a ? &comparing->comparison->b.answers : &comparing->comparison->a.answers;
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
    const bj_answers *answers = of_a ? &comparing->comparison->a.answers : &comparing->comparison->b.answers;
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
    return bj_strings_add_note(&comparing->comparison->notes, comparing->error,
                               "not compared: %zu answers that only the %s has (%s, ...)", count,
                               of_a ? "first" : "second", first);
}

static bj_status compare_all(comparing *comparing) {
    const bj_answers *a = &comparing->comparison->a.answers;
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

/* Whether the level is there for sure: no answer about it is surer than that. */
static bool is_sure_of_level(const bj_level_family *family, const bj_answers *answers, unsigned level) {
    for (size_t i = 0; family->sizes[i] != NULL; i++) {
        char key[96];
        snprintf(key, sizeof key, "%s%u.%s", family->prefix, level, family->sizes[i]);
        const bj_answer *answer = bj_data_find_answer(answers, key);
        if (answer != NULL && bj_data_has_value(answer) && answer->confidence == BJ_CONFIDENCE_HIGH)
            return true;
    }
    return false;
}

static bj_status add_lonely_level(comparing *comparing, const bj_level_family *family, bool of_a, unsigned level,
                                  bj_confidence of_counts) {
    const bj_answers *answers = of_a ? &comparing->comparison->a.answers : &comparing->comparison->b.answers;
    char key[64], size_key[96];
    snprintf(key, sizeof key, "%s%u", family->prefix, level);
    snprintf(size_key, sizeof size_key, "%s.%s", key, family->lead);
    const bj_answer *size = bj_data_find_answer(answers, size_key);
    bj_difference difference = make_difference(of_a ? BJ_DIFFERENCE_LEVEL_GONE : BJ_DIFFERENCE_LEVEL_NEW, key,
                                               of_a ? size : NULL, of_a ? NULL : size, BJ_WEIGHT_LEVEL);
    difference.certain = of_counts == BJ_CONFIDENCE_HIGH ||
                         (of_counts == BJ_CONFIDENCE_MEDIUM && is_sure_of_level(family, answers, level));
    return add(comparing, &difference);
}

/* A level that one side lacks counts where both numbers of levels are sure, or nearly so and the level itself is sure;
 * otherwise it is only mentioned. Where the numbers agree but no sizes go together, both sides have lonely ones. */
static bj_status compare_level_counts(comparing *comparing, const bj_level_match *match) {
    const bj_level_family *family = match->family;
    const bj_answer *a = bj_data_find_answer(&comparing->comparison->a.answers, family->count_key);
    const bj_answer *b = bj_data_find_answer(&comparing->comparison->b.answers, family->count_key);
    if (a == NULL || b == NULL || !bj_data_has_value(a) || !bj_data_has_value(b))
        return BJ_OK;
    for (unsigned level = 1; level <= match->count_a; level++)
        if (match->partner_of_a[level] == 0)
            BJ_TRY(add_lonely_level(comparing, family, true, level, lesser(a, b)));
    for (unsigned level = 1; level <= match->count_b; level++)
        if (match->partner_of_b[level] == 0)
            BJ_TRY(add_lonely_level(comparing, family, false, level, lesser(a, b)));
    return BJ_OK;
}

/* Times and rates that changed as the clock did have one cause with it. */
static void mark_followers(comparing *comparing) {
    bj_comparison *comparison = comparing->comparison;
    double clock = NAN;
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->items[i].certain && strcmp(comparison->items[i].key, "cpu.clock_ghz") == 0)
            clock = comparison->items[i].ratio;
    for (size_t i = 0; i < comparison->count && isfinite(clock); i++) {
        bj_difference *item = &comparison->items[i];
        bool is_time = item->a != NULL && strcmp(item->a->unit, "ns") == 0;
        bool is_rate = item->a != NULL && strcmp(item->a->unit, "GB/s") == 0;
        double share = find_tolerance(comparing, item->key).share;
        item->follows_clock = item->certain && item->kind == BJ_DIFFERENCE_VALUE && (is_time || is_rate) &&
                              fabs(log(item->ratio) - (is_time ? -log(clock) : log(clock))) <= 2 * atanh(share);
    }
}

/* Says when this is no change of one machine. */
static void judge_whole(bj_comparison *comparison) {
    size_t numbers = 0, followers = 0, gone = 0, new = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const bj_difference *item = &comparison->items[i];
        bool is_cache = strncmp(item->key, "cache.", 6) == 0;
        numbers += item->certain && item->may_count && !item->follows_clock;
        followers += item->follows_clock;
        gone += item->certain && is_cache && item->kind == BJ_DIFFERENCE_LEVEL_GONE;
        new += item->certain &&is_cache && item->kind == BJ_DIFFERENCE_LEVEL_NEW;
    }
    size_t all = comparison->countable - followers;
    comparison->other_machine =
        gone + new > 0 || (all >= BJ_OTHER_MACHINE_LEAST && (double)numbers > BJ_OTHER_MACHINE_SHARE * (double)all);
    if (!comparison->other_machine)
        return;
    int length = snprintf(comparison->summary, sizeof comparison->summary, "%zu of %zu numbers differ", numbers, all);
    if (gone + new > 0)
        snprintf(comparison->summary + length, sizeof comparison->summary - (size_t)length,
                 "; cache levels: %zu gone, %zu new", gone, new);
}

static int compare_weights(const void *left, const void *right) {
    const bj_difference *a = left, *b = right;
    if (a->certain != b->certain)
        return a->certain ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return strcmp(a->key, b->key);
}

static bj_status compare_sides(comparing *comparing) {
    bj_comparison *comparison = comparing->comparison;
    for (size_t i = 0; i < bj_level_family_count; i++)
        bj_report_match_levels(&bj_level_families[i], &comparison->a.answers, &comparison->b.answers,
                               &comparing->matches[i]);
    BJ_TRY(compare_all(comparing));
    for (size_t i = 0; i < bj_level_family_count; i++)
        BJ_TRY(compare_level_counts(comparing, &comparing->matches[i]));
    bj_report_mark_certain(comparison);
    mark_followers(comparing);
    judge_whole(comparison);
    if (comparison->count > 0)
        qsort(comparison->items, comparison->count, sizeof *comparison->items, compare_weights);
    return BJ_OK;
}

/* One run of a virtual machine, or few: what is between its cpus is that of where the hypervisor had them. A set of
 * many has seen them move, or they do not. */
static bool are_cpus_loose(bj_profile_set set) {
    return set.items[0].environment.virtualised == 1 && set.count < BJ_SET_TELLS_SPREAD;
}

bj_status bj_report_compare(bj_profile_set a, bj_profile_set b, bj_find_tolerance find_tolerance,
                            bj_comparison *comparison, bj_error *error) {
    *comparison = (bj_comparison){0};
    comparing comparing = {.find_tolerance = find_tolerance,
                           .comparison = comparison,
                           .may_have_moved = are_cpus_loose(a) || are_cpus_loose(b),
                           .error = error};
    bj_status status = bj_report_gather(a, &comparison->a, error);
    if (status == BJ_OK)
        status = bj_report_gather(b, &comparison->b, error);
    if (status == BJ_OK)
        status = bj_report_note_environment(comparison, &a.items[0], &b.items[0], error);
    if (status == BJ_OK)
        status = compare_sides(&comparing);
    if (status != BJ_OK)
        bj_report_free_comparison(comparison);
    return status;
}

void bj_report_free_comparison(bj_comparison *comparison) {
    bj_report_free_compared(&comparison->a);
    bj_report_free_compared(&comparison->b);
    free(comparison->items);
    bj_strings_free(&comparison->notes);
    *comparison = (bj_comparison){0};
}
