#include "probes/cache/cache_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probes/cache/cache_samples.h"
#include "probes/cache/hierarchy.h"

const bj_cache_revisit bj_cache_revisits[BJ_REVISIT_CURVES] = {
    {"cache.revisit_8", 8}, {"cache.revisit_4", 4}, {"cache.revisit_2", 2}};

/* Base pages lie on frames that chance chose. */
static bool has_lucky_frames(const bj_curve *walk) {
    return bj_data_has_attribute_text(walk, BJ_CACHE_PAGES, BJ_CACHE_PAGES_BASE);
}

bj_status bj_cache_find_hierarchy(const bj_curves *samples, const bj_cache_method *method, uint64_t seed,
                                  bool levels_only, bj_hierarchy *found, bj_error *error) {
    const bj_curve *walk = bj_data_find_curve(samples, BJ_CACHE_WALK);
    const bj_curve *spread = bj_data_find_curve(samples, BJ_CACHE_SPREAD),
                   *packed = bj_data_find_curve(samples, BJ_CACHE_PACKED);
    bj_hierarchy_request request = {.x = walk->x,
                                    .count = walk->x_count,
                                    .rounds = (const double *const *)walk->rounds,
                                    .round_count = walk->round_count,
                                    .seed = seed,
                                    .lucky_frames = has_lucky_frames(walk),
                                    .huge_pages = bj_data_has_attribute_text(walk, BJ_CACHE_PAGES, BJ_CACHE_PAGES_HUGE),
                                    .levels_only = levels_only,
                                    .finder = method->finder};
    if (spread != NULL && packed != NULL) {
        request.twin_x = spread->x;
        request.twin_count = spread->x_count;
        request.packed_x = packed->x;
        request.packed_count = packed->x_count;
        request.spread_rounds = (const double *const *)spread->rounds;
        request.packed_rounds = (const double *const *)packed->rounds;
        request.twin_round_count =
            spread->round_count < packed->round_count ? spread->round_count : packed->round_count;
        request.packing = BJ_CACHE_PACKING;
    }
    for (size_t i = 0; i < BJ_REVISIT_CURVES; i++) {
        const bj_curve *curve = bj_data_find_curve(samples, bj_cache_revisits[i].curve);
        if (curve != NULL)
            request.revisits[i] = (bj_revisit_rounds){.x = curve->x,
                                                      .count = curve->x_count,
                                                      .rounds = (const double *const *)curve->rounds,
                                                      .round_count = curve->round_count,
                                                      .visits = bj_cache_revisits[i].visits};
    }
    const bj_curve *look = bj_data_find_curve(samples, BJ_CACHE_LOOK);
    if (look != NULL && look->x_count > 0 && look->round_count > 0 && !isnan(look->rounds[0][look->x_count - 1])) {
        request.far_x = look->x[look->x_count - 1];
        request.far_time = look->rounds[0][look->x_count - 1];
    }
    return bj_cache_fit_hierarchy(&request, found, error);
}

/* Sizes of single rounds that differ by more than this are a moving target. On base pages the luck of frames alone
 * makes them differ, by less than the larger of the two. */
#define UNSTABLE_SPREAD 1.25
#define UNSTABLE_SPREAD_LUCKY 1.6
/* Student's t for 95% of ten rounds or so, a quarter more for a deviation that is itself estimated from them (by the
 * median, robustly), and the error of their mean. */
#define PREDICTION_SIGMAS 3.0
/* Confidence is the share of resamples that agree; `high` promises 99 in 100. */
#define SUPPORT_HIGH 0.99
#define SUPPORT_MEDIUM 0.9
#define P_HIGH 0.01
#define ROUNDS_FOR_HIGH 6u
/* A table has one sample a point, so what resampling cannot show must be plain to see: a rise that no TLB makes. */
#define TABLE_RISE_HIGH 3.0
#define TABLE_STEEP_HIGH 2.0
/* Few samples a side cannot show less. */
#define TABLE_P_HIGH 0.05
/* Fewer rounds than this resample to nothing. */
#define ROUNDS_FOR_MEDIUM 3u
/* What a last level may be like that the look upwards did not reach: none is known to give one core more than a quarter
 * of this. Below the smaller one not even ordinary last levels would be seen. */
#define LOOK_HIGH_BYTES (256.0 * 1048576)
#define LOOK_LEAST_BYTES (16.0 * 1048576)
/* Levels closer than this are rare (memory-side caches), and one edge that something has split is more likely. */
#define CLOSE_LEVELS 2.0
/* Samples are never faster than the truth; what is left of disturbance in the quietest ones. */
#define SYSTEMATIC 0.01
/* A latency is right within a tenth. Hits of the level before that may have gained half of that, or a walk far beyond
 * that takes a tenth longer, leave more open: what remains of the caches, or a TLB that only the far walk misses. */
#define GAINED_HIGH 0.05
#define FAR_HIGH 1.1
/* A plateau of half an octave, and a step of the grid, at most: the nearer level may still hit wherever it is read. */
#define BRIEF_PLATEAU 1.5
/* A model that is off by this many times what counts as nothing does not explain the ramp. */
#define POOR_FIT 2.0

/* An answer is right within an eighth to either side; an interval that is wider than that promises less. */
#define WIDTH_HIGH (1.125 / 0.875)
#define WIDTH_MEDIUM 1.6

typedef struct {
    const bj_curve *walk;
    const bj_analyse_request *request;
    const bj_cache_method *method;
    bj_hierarchy found;
    bj_answers *answers;
} cache_answer;

/* The first level is private to a core: what single rounds lack of it was disturbance, which is dealt with already. */
static bool is_unstable(const cache_answer *a, const bj_hierarchy_level *level) {
    if (level == &a->found.level[0])
        return false;
    return level->spread > (has_lucky_frames(a->walk) ? UNSTABLE_SPREAD_LUCKY : UNSTABLE_SPREAD);
}

static bj_confidence judge_level(const cache_answer *a, const bj_hierarchy_level *level) {
    bool paper = a->method->finder != NULL;
    if (level->support < SUPPORT_MEDIUM || (!a->request->from_table && a->walk->round_count < ROUNDS_FOR_MEDIUM))
        return BJ_CONFIDENCE_LOW;
    /* The papers' ways are kept for comparison; they have no way to tell a TLB from a cache. */
    if (paper || level->level.single_sample || level->support < SUPPORT_HIGH || is_unstable(a, level) ||
        level->level.ramp_octaves > BJ_RAMP_OCTAVES_MAX)
        return BJ_CONFIDENCE_MEDIUM;
    if (a->request->from_table) {
        double rise = level->level.next_latency / level->level.latency;
        bool plain =
            rise >= TABLE_RISE_HIGH && level->level.steepest_octave >= TABLE_STEEP_HIGH && level->p <= TABLE_P_HIGH;
        return plain ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
    }
    return level->p <= P_HIGH && a->walk->round_count >= ROUNDS_FOR_HIGH ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM;
}

static bj_confidence least_confidence(bj_confidence a, bj_confidence b) {
    return a < b ? a : b;
}

static bool are_close(const bj_hierarchy_level *near, const bj_hierarchy_level *far) {
    return far->size.value < CLOSE_LEVELS * near->size.value ||
           (near->has_capacity && far->has_capacity && far->capacity.value < CLOSE_LEVELS * near->capacity.value);
}

/* Whether what was seen may be less or more than one level: too close to the next or the one before, behind a TLB, or
 * one of a number that itself is in doubt. */
static bool may_be_another(const bj_hierarchy *found, size_t index) {
    const bj_hierarchy_level *level = &found->level[index];
    bool near = index > 0 && are_close(level - 1, level);
    bool far = index + 1 < found->count && are_close(level, level + 1);
    bool hides = level->level.hides_edge || (level->level.rises && !level->ramp_explained);
    return near || far || hides || (index > 0 && found->count_support < SUPPORT_MEDIUM);
}

static bj_confidence limit_by_width(bj_confidence confidence, const bj_estimate *estimate) {
    double width = estimate->interval[1] / estimate->interval[0];
    bj_confidence most = width <= WIDTH_HIGH     ? BJ_CONFIDENCE_HIGH
                         : width <= WIDTH_MEDIUM ? BJ_CONFIDENCE_MEDIUM
                                                 : BJ_CONFIDENCE_LOW;
    return least_confidence(confidence, most);
}

static bj_status put(cache_answer *a, const char *key, const char *unit, bj_answer **answer, bj_error *error) {
    bj_status status = bj_data_put_answer(a->answers, key, unit, answer, error);
    if (status != BJ_OK)
        return status;
    snprintf((*answer)->method, sizeof(*answer)->method, "%s/%u", a->method->name, BJ_CACHE_REVISION);
    bj_data_cite_curve(*answer, BJ_CACHE_WALK);
    return BJ_OK;
}

static bj_status put_level(cache_answer *a, size_t index, const char *what, const char *unit, bj_answer **answer,
                           bj_error *error) {
    char key[64];
    snprintf(key, sizeof key, "cache.L%zu.%s", index + 1, what);
    return put(a, key, unit, answer, error);
}

static void set_number(bj_answer *answer, const bj_estimate *estimate, double scale, bj_confidence confidence) {
    answer->status = BJ_ANSWER_OK;
    answer->value = estimate->value * scale;
    answer->has_interval = true;
    answer->interval[0] = estimate->interval[0] * scale;
    answer->interval[1] = estimate->interval[1] * scale;
    answer->confidence = confidence;
}

/* Not what is one of a table's x. */
static void round_bytes(const cache_answer *a, bj_answer *answer) {
    if (a->request->from_table)
        return;
    answer->value = floor(answer->value + 0.5);
    answer->interval[0] = floor(answer->interval[0]);
    answer->interval[1] = ceil(answer->interval[1]);
}

/* What another run may find of a level that others share: the range of the single rounds, and 95% of a log-normal
 * through them. Base pages make rounds differ by luck, which the next run has, too, but not the program that asks. */
static void mark_moving(const cache_answer *a, bj_answer *answer, const bj_hierarchy_level *level) {
    bool unstable = is_unstable(a, level), last = level == &a->found.level[a->found.count - 1];
    if (!unstable && (!last || has_lucky_frames(a->walk) || level->single_low <= 0))
        return;
    double factor = exp(PREDICTION_SIGMAS * level->single_sigma);
    answer->interval[0] = floor(fmin(answer->interval[0], fmin(level->single_low, answer->value / factor)));
    answer->interval[1] = ceil(fmax(answer->interval[1], fmax(level->single_high, answer->value * factor)));
    if (!unstable)
        return;
    answer->status = BJ_ANSWER_UNSTABLE;
    snprintf(answer->reason, sizeof answer->reason,
             "single rounds gave %.0f to %.0f KiB: others use this level too, or it is being moved",
             level->single_low / 1024, level->single_high / 1024);
}

static bj_status answer_sizes(cache_answer *a, size_t index, bj_confidence confidence, bj_error *error) {
    const bj_hierarchy_level *level = &a->found.level[index];
    bj_answer *size, *capacity;
    bj_status status = put_level(a, index, "size_bytes", "bytes", &size, error);
    if (status != BJ_OK)
        return status;
    /* A table's points are as far apart as they are: leaving one out moves the answer to its neighbour. */
    if (a->request->from_table)
        set_number(size, &level->size_sample, 1, confidence);
    else
        set_number(size, &level->size, 1, limit_by_width(confidence, &level->size));
    /* There the level before still hits, and the TLB's cost already ends this one: neither was seen alone. */
    if (!a->request->from_table && level->size.value < level->level.plateau_first_x)
        size->confidence = least_confidence(size->confidence, BJ_CONFIDENCE_MEDIUM);
    round_bytes(a, size);
    size->has_p = !isnan(level->p);
    size->p = level->p;
    mark_moving(a, size, level);
    status = put_level(a, index, "capacity_bytes", "bytes", &capacity, error);
    if (status != BJ_OK)
        return status;
    if (a->method->capacity_is_size || (a->method->models_capacity && level->has_capacity)) {
        const bj_estimate *estimate = a->method->capacity_is_size ? &level->size : &level->capacity;
        bool poor = a->method->models_capacity && level->capacity_error > POOR_FIT;
        bj_confidence most = poor ? BJ_CONFIDENCE_LOW : level->disputed ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_HIGH;
        set_number(capacity, estimate, 1, least_confidence(limit_by_width(confidence, estimate), most));
        round_bytes(a, capacity);
        mark_moving(a, capacity, level);
    } else {
        capacity->status = BJ_ANSWER_UNDETERMINED;
        snprintf(capacity->reason, sizeof capacity->reason, "%s",
                 a->method->models_capacity ? "no ramp that the occupancy model could follow"
                                            : "the method gives no capacity");
    }
    return BJ_OK;
}

/* Latencies in the unit of the curve; the other one when the yardstick is known. */
static bj_status answer_latency(cache_answer *a, const char *prefix, const bj_estimate *latency,
                                bj_confidence confidence, bj_error *error) {
    const bj_answer *add = bj_data_find_answer(a->request->earlier, "op.int32.add.latency_ns");
    double add_ns = 0;
    bool in_ns = strcmp(a->walk->y_unit, "ns") == 0, in_cycles = strcmp(a->walk->y_unit, "cycles") == 0;
    bool know_add = bj_data_get_number(a->request->earlier, "op.int32.add.latency_ns", &add_ns) && add_ns > 0;
    bool is_memory = strcmp(prefix, "memory") == 0;
    double low_ns = know_add && add->has_interval ? add->interval[0] : add_ns;
    double high_ns = know_add && add->has_interval ? add->interval[1] : add_ns;
    bj_answer *answer;
    char key[64];
    bj_status status = BJ_OK;
    bj_estimate own = *latency;
    own.interval[0] *= 1 - SYSTEMATIC;
    if (in_ns || (in_cycles && know_add)) {
        snprintf(key, sizeof key, "%s.latency_ns", prefix);
        status = put(a, key, "ns", &answer, error);
        if (status == BJ_OK)
            set_number(answer, &own, in_ns ? 1 : add_ns, confidence);
    }
    if (status != BJ_OK || is_memory || !(in_cycles || in_ns) || (a->request->from_table && in_ns && !know_add))
        return status;
    snprintf(key, sizeof key, "%s.latency_cycles", prefix);
    status = put(a, key, "cycles", &answer, error);
    if (status != BJ_OK)
        return status;
    if (in_ns && !know_add) {
        answer->status = BJ_ANSWER_UNDETERMINED;
        snprintf(answer->reason, sizeof answer->reason, "the clock is not known");
        return BJ_OK;
    }
    set_number(answer, &own, in_cycles ? 1 : 1 / add_ns, confidence);
    if (in_ns) { /* both are uncertain */
        answer->interval[0] = own.interval[0] / high_ns;
        answer->interval[1] = own.interval[1] / low_ns;
    }
    return BJ_OK;
}

/* The latency of level `index`, or of memory behind the last one: what else it may be, and how sure that leaves us. */
static bj_confidence open_latency(const cache_answer *a, size_t index, bj_confidence confidence, bj_estimate *latency) {
    const bj_hierarchy *found = &a->found;
    double gained = index > 0 ? found->level[index - 1].next_gained : 0;
    bool is_memory = index == found->count;
    *latency = is_memory ? found->last_latency : found->level[index].latency;
    bool brief = index > 0 && index < found->count &&
                 found->level[index].level.ramp_first_x < BRIEF_PLATEAU * found->level[index - 1].level.next_first_x;
    bool beyond = is_memory && found->far_latency > FAR_HIGH * latency->value;
    if (gained > GAINED_HIGH)
        latency->interval[1] = fmax(latency->interval[1], latency->value / (1 - gained));
    if (beyond)
        latency->interval[1] = fmax(latency->interval[1], found->far_latency);
    return gained > GAINED_HIGH || beyond || brief ? least_confidence(confidence, BJ_CONFIDENCE_MEDIUM) : confidence;
}

static bj_status answer_count(cache_answer *a, bj_confidence confidence, bj_error *error) {
    bj_answer *count;
    bj_status status = put(a, "cache.levels", "count", &count, error);
    if (status != BJ_OK)
        return status;
    if (a->found.count == 0) {
        count->status = BJ_ANSWER_UNDETERMINED;
        snprintf(count->reason, sizeof count->reason, "no step in the access time up to %.0f KiB",
                 a->walk->x_count > 0 ? a->walk->x[a->walk->x_count - 1] / 1024 : 0.0);
        return BJ_OK;
    }
    bj_estimate estimate = {(double)a->found.count, {(double)a->found.least, (double)a->found.most}};
    set_number(count, &estimate, 1, confidence);
    return BJ_OK;
}

bj_status bj_cache_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) {
    cache_answer a = {.walk = bj_data_find_curve(samples, BJ_CACHE_WALK),
                      .request = request,
                      .method = bj_cache_find_method(request->method),
                      .answers = answers};
    if (a.walk == NULL || a.walk->round_count == 0 || a.walk->x_count == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve %s", BJ_CACHE_WALK);
    if (a.method == NULL)
        a.method = bj_cache_find_method(NULL); /* the method is another probe's */
    bj_status status = bj_cache_check_samples(samples, a.method, error);
    if (status != BJ_OK)
        return status;
    status = bj_cache_find_hierarchy(samples, a.method, request->seed, false, &a.found, error);
    bj_confidence of_count = a.found.count_support >= SUPPORT_HIGH     ? BJ_CONFIDENCE_HIGH
                             : a.found.count_support >= SUPPORT_MEDIUM ? BJ_CONFIDENCE_MEDIUM
                                                                       : BJ_CONFIDENCE_LOW;
    bj_confidence of_level[BJ_LEVELS_MAX] = {BJ_CONFIDENCE_LOW};
    bool in_doubt = false;
    for (size_t i = 0; i < a.found.count && status == BJ_OK; i++) {
        of_level[i] = judge_level(&a, &a.found.level[i]);
        /* Where one before may be none or two, this one may be another than its number says. */
        in_doubt = in_doubt || may_be_another(&a.found, i) || a.found.level[i].support < SUPPORT_HIGH;
        if (in_doubt)
            of_level[i] = least_confidence(of_level[i], BJ_CONFIDENCE_MEDIUM);
        of_count = least_confidence(of_count, of_level[i]);
    }
    double looked_bytes = INFINITY; /* a table is as long as it is */
    if (!request->from_table) {
        const bj_curve *look = bj_data_find_curve(samples, BJ_CACHE_LOOK);
        looked_bytes = look != NULL && look->x_count > 0 ? look->x[look->x_count - 1] : a.walk->x[a.walk->x_count - 1];
        if (looked_bytes < LOOK_HIGH_BYTES)
            of_count = least_confidence(of_count, BJ_CONFIDENCE_MEDIUM);
    }
    if (status == BJ_OK)
        status = answer_count(&a, of_count, error);
    for (size_t i = 0; i < a.found.count && status == BJ_OK; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "cache.L%zu", i + 1);
        status = answer_sizes(&a, i, of_level[i], error);
        bj_estimate latency;
        bj_confidence of_latency = open_latency(&a, i, of_level[i], &latency);
        if (status == BJ_OK)
            status = answer_latency(&a, prefix, &latency, of_latency, error);
    }
    if (status != BJ_OK || a.found.count == 0)
        return status;
    if (looked_bytes >= LOOK_LEAST_BYTES) {
        bj_estimate latency;
        bj_confidence of_latency = open_latency(&a, a.found.count, of_count, &latency);
        return answer_latency(&a, "memory", &latency, of_latency, error);
    }
    bj_answer *memory;
    status = put(&a, "memory.latency_ns", "ns", &memory, error);
    if (status == BJ_OK) {
        memory->status = BJ_ANSWER_UNDETERMINED;
        snprintf(memory->reason, sizeof memory->reason,
                 "looked only up to %.0f KiB: what follows the last level seen may be another one",
                 looked_bytes / 1024);
    }
    return status;
}
