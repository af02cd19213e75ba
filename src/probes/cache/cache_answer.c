/* The answers of the cache probe, and how sure each is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probes/cache/cache_samples.h"
#include "probes/cache/memory_answer.h"

typedef struct {
    const bj_curves *samples;
    const bj_curve *walk;
    const bj_analyse_request *request;
    const bj_cache_method *method;
    bj_hierarchy found;
    bj_confidence of_count, of_level[BJ_LEVELS_MAX];
    double looked_bytes; /* up to where a level could have been seen */
    bj_answers *answers;
} cache_answer;

/* Base pages lie on frames that chance chose. */
static bool has_lucky_frames(const cache_answer *a) {
    return bj_data_has_attribute_text(a->walk, BJ_CACHE_PAGES, BJ_CACHE_PAGES_BASE);
}

/* The first level is private to a core: what single rounds lack of it was disturbance, which is dealt with already. */
static bool is_unstable(const cache_answer *a, size_t index) {
    const double *single = a->found.level[index].size.single;
    double most = has_lucky_frames(a) ? BJ_STABLE_SCATTER_LUCKY : BJ_STABLE_SCATTER;
    return index > 0 && single[BJ_SINGLE_HIGH] > most * single[BJ_SINGLE_LOW];
}

/* The kit's rule. Of a table every point was left out once, in place of rounds. */
static bj_confidence judge(const cache_answer *a, const bj_estimate *estimate, bj_confidence most) {
    bj_estimate judged = *estimate;
    if (a->request->from_table)
        judged.rounds = a->walk->x_count;
    return bj_kit_judge(&judged, most);
}

/* How sure it is that the level is there and ends about there. */
static bj_confidence judge_level(const cache_answer *a, size_t index) {
    const bj_hierarchy_level *level = &a->found.level[index];
    /* The papers' methods are kept for comparison; they cannot tell a TLB from a cache. */
    bool plain = a->method->finder == NULL && !level->level.single_sample && !is_unstable(a, index) &&
                 level->level.ramp_octaves <= BJ_RAMP_OCTAVES_MOST;
    if (a->request->from_table)
        plain = plain && level->p <= BJ_TABLE_P_MOST && level->level.steepest_octave >= BJ_TABLE_STEEP_LEAST &&
                level->level.next_latency >= BJ_TABLE_RISE_LEAST * level->level.latency;
    else
        plain = plain && level->p <= BJ_P_MOST;
    bj_estimate there = level->size;
    there.interval[0] = there.interval[1] = there.value;
    return judge(a, &there, plain ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM);
}

static bool are_close(const bj_hierarchy *found, size_t near) {
    const bj_hierarchy_level *level = &found->level[near], *far = level + 1;
    return far->size.value < BJ_CLOSE_LEVELS * level->size.value ||
           (found->edge[near].has_capacity && found->edge[near + 1].has_capacity &&
            far->capacity.value < BJ_CLOSE_LEVELS * level->capacity.value);
}

/* Whether what was seen may be less or more than one level: too close to the next or the one before, behind a TLB, or
 * one of a number that itself is in doubt. */
static bool may_be_another(const bj_hierarchy *found, size_t index) {
    const bj_level *level = &found->level[index].level;
    bool near = index > 0 && are_close(found, index - 1);
    bool far = index + 1 < found->count && are_close(found, index);
    bool hides = level->hides_edge || (level->rises && !found->edge[index].ramp_explained);
    return near || far || hides || (index > 0 && found->levels.support < BJ_SUPPORT_MEDIUM);
}

static void judge_levels(cache_answer *a) {
    bj_confidence most = BJ_CONFIDENCE_HIGH;
    a->of_count = judge(a, &a->found.levels, BJ_CONFIDENCE_HIGH);
    for (size_t i = 0; i < a->found.count; i++) {
        /* Where one before may be none or two, this one may be another than its number says. */
        if (may_be_another(&a->found, i) || a->found.level[i].size.support < BJ_SUPPORT_HIGH)
            most = BJ_CONFIDENCE_MEDIUM;
        a->of_level[i] = bj_kit_least(judge_level(a, i), most);
        a->of_count = bj_kit_least(a->of_count, a->of_level[i]);
    }
    if (a->looked_bytes < BJ_LOOK_SURE_BYTES)
        a->of_count = bj_kit_least(a->of_count, BJ_CONFIDENCE_MEDIUM);
}

static bj_status put(cache_answer *a, const char *unit, bj_answer **answer, bj_error *error, const char *prefix,
                     const char *what) {
    BJ_TRY(bj_kit_put_answer(a->answers, unit, answer, error, "%s.%s", prefix, what));
    bj_data_cite_curve(*answer, BJ_CACHE_WALK);
    return BJ_OK;
}

static void fill(const cache_answer *a, bj_answer *answer, const bj_estimate *estimate, bj_confidence most) {
    bj_kit_fill_answer(answer, estimate, most);
    answer->confidence = judge(a, estimate, most);
}

/* A number of bytes: whole ones, unless it is one of a table's x. */
static void fill_bytes(const cache_answer *a, bj_answer *answer, const bj_estimate *estimate, bj_confidence most) {
    fill(a, answer, estimate, most);
    if (a->request->from_table)
        return;
    answer->value = floor(answer->value + 0.5);
    answer->interval[0] = floor(answer->interval[0]);
    answer->interval[1] = ceil(answer->interval[1]);
}

/* What another run may find of a level that others share: the range of the single rounds, and 95% of a log-normal
 * through them. Base pages make rounds differ by luck, which the next run has, too, but not the program that asks. */
static void mark_moving(const cache_answer *a, bj_answer *answer, size_t index) {
    const bj_hierarchy_level *level = &a->found.level[index];
    double least = level->size.single[BJ_SINGLE_LEAST], greatest = level->size.single[BJ_SINGLE_GREATEST];
    bool unstable = is_unstable(a, index), last = index + 1 == a->found.count;
    if (!unstable && (!last || has_lucky_frames(a) || isnan(least)))
        return;
    double factor = exp(BJ_PREDICTION_SIGMAS * level->single_sigma);
    answer->interval[0] = floor(fmin(answer->interval[0], fmin(least, answer->value / factor)));
    answer->interval[1] = ceil(fmax(answer->interval[1], fmax(greatest, answer->value * factor)));
    if (unstable)
        bj_kit_call_unstable(answer,
                             "single rounds gave %.0f to %.0f KiB: shared with other tenants, or the virtual cpu moved",
                             least / 1024, greatest / 1024);
}

/* The confidence that a size or capacity can have by its interval. */
static bj_confidence limit_by_width(const bj_estimate *estimate) {
    return estimate->interval[1] <= BJ_WIDTH_MEDIUM * estimate->interval[0] ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_LOW;
}

static bj_status answer_size(cache_answer *a, const char *prefix, size_t index, bj_error *error) {
    const bj_hierarchy_level *level = &a->found.level[index];
    bj_confidence most = a->of_level[index];
    bj_answer *size;
    BJ_TRY(put(a, "bytes", &size, error, prefix, "size_bytes"));
    /* A table's points are as far apart as they are: leaving one out moves the answer to its neighbour. */
    if (a->request->from_table) {
        fill_bytes(a, size, &level->size_sample, most);
        size->confidence = most;
    } else {
        /* Before its plateau the level before still hits, and the TLB's cost already ends this one: neither was seen
         * alone. */
        bool alone = level->size.value >= level->level.plateau_first_x;
        most = bj_kit_least(most, alone ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM);
        fill_bytes(a, size, &level->size, bj_kit_least(most, limit_by_width(&level->size)));
    }
    size->has_p = !isnan(level->p);
    size->p = level->p;
    mark_moving(a, size, index);
    return BJ_OK;
}

static bj_status answer_capacity(cache_answer *a, const char *prefix, size_t index, bj_error *error) {
    const bj_hierarchy_level *level = &a->found.level[index];
    const bj_edge_fit *edge = &a->found.edge[index];
    bool modelled = a->method->models_capacity;
    bj_answer *capacity;
    BJ_TRY(put(a, "bytes", &capacity, error, prefix, "capacity_bytes"));
    if (!a->method->capacity_is_size && !(modelled && edge->has_capacity)) {
        bj_kit_refuse(capacity, BJ_ANSWER_UNDETERMINED, "%s",
                      modelled ? "no ramp that the occupancy model could follow" : "the method gives no capacity");
        return BJ_OK;
    }
    const bj_estimate *estimate = modelled ? &level->capacity : &level->size;
    bj_confidence most = bj_kit_least(a->of_level[index], limit_by_width(estimate));
    if (modelled && edge->disputed)
        most = bj_kit_least(most, BJ_CONFIDENCE_MEDIUM);
    if (modelled && edge->fit.error > BJ_POOR_FIT)
        most = BJ_CONFIDENCE_LOW;
    fill_bytes(a, capacity, estimate, most);
    mark_moving(a, capacity, index);
    return BJ_OK;
}

/* A latency times a factor that is itself known within two others; NaN: it takes the clock, which is not known. */
static bj_status put_latency(cache_answer *a, const char *prefix, const char *unit, const bj_estimate *latency,
                             double factor, const double factors[2], bj_confidence most, bj_error *error) {
    bj_answer *answer;
    BJ_TRY(bj_kit_put_answer(a->answers, unit, &answer, error, "%s.latency_%s", prefix, unit));
    bj_data_cite_curve(answer, BJ_CACHE_WALK);
    bj_estimate scaled = *latency;
    scaled.value *= factor;
    scaled.interval[0] *= factors[0];
    scaled.interval[1] *= factors[1];
    if (isnan(factor))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the clock is not known");
    else
        fill(a, answer, &scaled, most);
    return BJ_OK;
}

/* Cycles by the yardstick of the same rounds. */
static bj_status put_cycles(cache_answer *a, const char *prefix, const bj_estimate *cycles, bj_confidence most,
                            bj_error *error) {
    static const double exactly[2] = {1, 1};
    char key[64];
    bj_yardstick yardstick;
    BJ_TRY(put_latency(a, prefix, "cycles", cycles, 1, exactly, most, error));
    snprintf(key, sizeof key, "%s.latency_cycles", prefix);
    if (bj_kit_find_yardstick(a->samples, "cache", &yardstick))
        bj_kit_cite_yardstick((bj_answer *)bj_data_find_answer(a->answers, key), &yardstick);
    return BJ_OK;
}

/* Latencies in the unit of the curve; the other one when the yardstick is known: that of the rounds, or of older
 * profiles the clock's answer. Memory's in ns alone. */
static bj_status answer_latency(cache_answer *a, const char *prefix, const bj_estimate *latency,
                                const bj_estimate *cycles, bj_confidence most, bj_error *error) {
    static const double exactly[2] = {1, 1};
    const bj_answer *add = bj_data_find_answer(a->request->earlier, "op.int32.add.latency_ns");
    bool know_add = add != NULL && bj_data_has_value(add) && add->value > 0;
    bool in_ns = strcmp(a->walk->y_unit, "ns") == 0, in_cycles = strcmp(a->walk->y_unit, "cycles") == 0;
    double ns = know_add ? add->value : NAN;
    double per_cycle[2] = {know_add && add->has_interval ? 1 / add->interval[1] : 1 / ns,
                           know_add && add->has_interval ? 1 / add->interval[0] : 1 / ns};
    bj_status status = BJ_OK;
    if (in_ns)
        status = put_latency(a, prefix, "ns", latency, 1, exactly, most, error);
    else if (in_cycles && know_add)
        status = put_latency(a, prefix, "ns", latency, ns, (const double[]){ns, ns}, most, error);
    if (status != BJ_OK || strcmp(prefix, "memory") == 0)
        return status;
    if (in_cycles)
        return put_latency(a, prefix, "cycles", latency, 1, exactly, most, error);
    if (in_ns && cycles != NULL && !isnan(cycles->value))
        return put_cycles(a, prefix, cycles, most, error);
    return in_ns && (know_add || !a->request->from_table)
               ? put_latency(a, prefix, "cycles", latency, 1 / ns, per_cycle, most, error)
               : BJ_OK;
}

/* What the latency of level `index` may be besides, or a table's of memory behind the last one. */
static void widen_latency(const cache_answer *a, size_t index, bj_estimate *latency) {
    const bj_hierarchy *found = &a->found;
    double gained = index > 0 ? found->edge[index - 1].next_gained : 0;
    if (gained > BJ_GAINED_MOST)
        latency->interval[1] = fmax(latency->interval[1], latency->value / (1 - gained));
    bj_kit_widen(latency, BJ_SYSTEMATIC, 0);
}

static bj_confidence judge_latency(const cache_answer *a, size_t index) {
    const bj_hierarchy *found = &a->found;
    double gained = index > 0 ? found->edge[index - 1].next_gained : 0;
    bool is_memory = index == found->count;
    bj_confidence most = is_memory ? a->of_count : a->of_level[index];
    bool brief = index > 0 && !is_memory &&
                 found->level[index].level.ramp_first_x < BJ_BRIEF_PLATEAU * found->level[index - 1].level.next_first_x;
    return gained > BJ_GAINED_MOST || brief ? bj_kit_least(most, BJ_CONFIDENCE_MEDIUM) : most;
}

static bj_status answer_count(cache_answer *a, bj_error *error) {
    bj_answer *count;
    BJ_TRY(put(a, "count", &count, error, "cache", "levels"));
    if (a->found.count == 0)
        bj_kit_refuse(count, BJ_ANSWER_UNDETERMINED, "no step in the access time up to %.0f KiB",
                      a->walk->x[a->walk->x_count - 1] / 1024);
    else
        fill(a, count, &a->found.levels, a->of_count);
    return BJ_OK;
}

/* A table, and what a paper's walk saw, have one latency for all. */
static bj_status answer_memory(cache_answer *a, bj_error *error) {
    static const char *const keys[] = {"latency_ns", "latency_in_tlb_ns"};
    bj_answer *memory;
    bj_estimate latency = a->found.memory_latency;
    for (size_t i = 0; i < 2 && a->looked_bytes < BJ_LOOK_LEAST_BYTES; i++) {
        BJ_TRY(put(a, "ns", &memory, error, "memory", keys[i]));
        bj_kit_refuse(memory, BJ_ANSWER_UNDETERMINED,
                      "looked only up to %.0f KiB: what follows the last level seen may be another one",
                      a->looked_bytes / 1024);
    }
    if (a->looked_bytes < BJ_LOOK_LEAST_BYTES)
        return BJ_OK;
    if (!a->request->from_table && a->method->finder == NULL) {
        bj_memory_request request = {a->samples, &a->found, a->of_count, a->request->seed};
        return bj_cache_answer_memory(&request, a->answers, error);
    }
    if (!a->request->from_table) {
        BJ_TRY(put(a, "ns", &memory, error, "memory", keys[1]));
        bj_kit_refuse(memory, BJ_ANSWER_UNDETERMINED, "the method has one latency for all of memory");
    }
    widen_latency(a, a->found.count, &latency);
    return answer_latency(a, "memory", &latency, NULL, judge_latency(a, a->found.count), error);
}

static bj_status answer_all(cache_answer *a, bj_error *error) {
    bj_status status = answer_count(a, error);
    for (size_t i = 0; i < a->found.count && status == BJ_OK; i++) {
        char prefix[32];
        bj_estimate latency = a->found.level[i].latency, cycles = a->found.level[i].cycles;
        snprintf(prefix, sizeof prefix, "cache.L%zu", i + 1);
        widen_latency(a, i, &latency);
        widen_latency(a, i, &cycles);
        /* The yardstick may be too long, too. */
        bj_kit_widen(&cycles, 0, BJ_SYSTEMATIC);
        status = answer_size(a, prefix, i, error);
        if (status == BJ_OK)
            status = answer_capacity(a, prefix, i, error);
        if (status == BJ_OK)
            status = answer_latency(a, prefix, &latency, &cycles, judge_latency(a, i), error);
    }
    return status == BJ_OK && a->found.count > 0 ? answer_memory(a, error) : status;
}

bj_status bj_cache_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) {
    const bj_curve *look = bj_data_find_curve(samples, BJ_CACHE_LOOK);
    cache_answer a = {.samples = samples,
                      .walk = bj_data_find_curve(samples, BJ_CACHE_WALK),
                      .request = request,
                      .method = bj_cache_find_method(request->method),
                      .answers = answers};
    if (a.walk == NULL || a.walk->round_count == 0 || a.walk->x_count == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve %s", BJ_CACHE_WALK);
    bj_status status = bj_cache_check_samples(samples, a.method, error);
    if (status == BJ_OK)
        status = bj_cache_find_hierarchy(samples, a.method, request->seed, false, &a.found, error);
    if (status != BJ_OK)
        return status;
    if (look == NULL || look->x_count == 0)
        look = a.walk;
    /* A table is as long as it is. */
    a.looked_bytes = request->from_table ? INFINITY : look->x[look->x_count - 1];
    judge_levels(&a);
    return answer_all(&a, error);
}
